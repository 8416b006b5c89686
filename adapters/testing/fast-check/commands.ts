import { minuteMs } from "../../../src/kernel/index.ts";
import type { MessagingEngine } from "../../entry.ts";
import { quoted } from "../world/story.ts";
import type { World } from "../world/types.ts";
import { arbitraries } from "./arbitraries.ts";
import { step, type Commands, type WithCarrier, type WorldCommand } from "./command.ts";
import { contactCommands, inboxCommands, maxRecent, messageCommands } from "./operations.ts";
import { checkFastCheck, generatorsOf, type FastCheck } from "./types.ts";

/**
 * Returns commands for `fc.commands`, made with your own fast-check: `commands(fc)`.
 * @throws TidingsError `invalid_option` when `fc` is not fast-check
 */
export function commands(fc: FastCheck): Commands {
  checkFastCheck("commands", fc);
  return {
    ...processCommands(fc),
    ...messageCommands(fc),
    ...contactCommands(fc),
    ...inboxCommands(fc),
    ...phoneCommands(fc),
  };
}

type ProcessCommands = Pick<Commands, "wait" | "crash" | "deploy" | "partition" | "setClock">;

function processCommands(fc: FastCheck): ProcessCommands {
  const { integer, oneOf, pair } = generatorsOf(fc);
  // As often milliseconds, in which calls race, as seconds and minutes, in which attempts do.
  const time = oneOf([100, 5_000, minuteMs]).chain((max) => integer(1, max));
  const nth = integer(0, maxRecent - 1);
  const remote = oneOf(["storage", "carrier", "internet"] as const);
  const engineOf = ({ engines }: World, n: number): string =>
    engines[n % engines.length] ?? "engine 1";
  return {
    wait: time.map((ms) => step(`wait ${ms} ms`, ({ world }) => world.advance(ms))),
    crash: pair(nth, time).map(([n, forMs]) =>
      step(`crash an engine for ${forMs} ms`, async ({ world }) => {
        world.crash(engineOf(world, n), { forMs, why: "at a command" });
      }),
    ),
    deploy: pair(nth, time).map(([n, ms]) =>
      step(`stop an engine for ${ms} ms`, async ({ world }) => {
        const name = engineOf(world, n);
        void world
          .stop(name)
          .then(() => world.clock.sleep(ms))
          .then(() => world.restart(name));
      }),
    ),
    partition: pair(pair(nth, remote), time).map(([[n, from], ms]) =>
      step(`cut an engine off from the ${from} for ${ms} ms`, async ({ world }) => {
        const name = engineOf(world, n);
        world.partition(name, from);
        void world.clock.sleep(ms).then(() => world.heal(name));
      }),
    ),
    setClock: pair(nth, integer(-3_000, 3_000)).map(([n, ms]) =>
      step(`set the clock of an engine by ${ms} ms`, async ({ world }) => {
        world.skewClock(engineOf(world, n), ms);
      }),
    ),
  };
}

/** Sandboxes have the same number, so a text to one needs its account. */
async function textDefaultSender(
  engine: MessagingEngine,
  carrier: string,
  text: (to: string, account_id?: string) => void,
): Promise<void> {
  const { data } = await engine.senders.list();
  const sender = data.find(
    ({ transport, default_channels: channels }) =>
      transport === carrier && channels.includes("sms"),
  );
  if (sender === undefined) return;
  const { account_id, mode } = engine.account().scope;
  text(sender.address, mode === "sandbox" ? account_id : undefined);
}

type PhoneCommands = Pick<Commands, "text" | "keyword">;

function phoneCommands(fc: FastCheck): PhoneCommands {
  const { oneOf, pair } = generatorsOf(fc);
  const { phone, text } = arbitraries(fc);
  const say = ([from, body]: readonly [string, string]): WorldCommand<WithCarrier> =>
    step(`text ${quoted(body)} from ${from}`, async ({ carrier, world }) => {
      const text = (to: string, account_id?: string): void => {
        world.story.note([], `${from} texts ${quoted(body)}`);
        carrier.text({ from, to, body, account_id });
      };
      const last = carrier.handedOver.findLast(({ message }) => message.to === from);
      if (last !== undefined) text(last.message.from);
      else void world.begin((engine) => textDefaultSender(engine, carrier.name, text));
    });
  return {
    text: pair(phone, text).map(say),
    keyword: pair(phone, oneOf(["STOP", "START", "HELP"])).map(say),
  };
}
