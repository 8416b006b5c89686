import { functionOption, option, optionsObject, parseOptions } from "../../../src/kernel/index.ts";
import type { MessagingEngine } from "../../entry.ts";
import type { ScriptedCarrier } from "../carrier/scripted-carrier.ts";
import type { World } from "../world/types.ts";
import { arbitraries } from "./arbitraries.ts";
import { type Arbitrary, checkFastCheck, type FastCheck, generatorsOf } from "./types.ts";

/** What commands work on: a world, and whatever a host application has besides. */
export interface WithWorld {
  /** The world with the engines. */
  readonly world: World;
}

/** What the ready commands work on: also a carrier, which the phones text to. */
export interface WithCarrier extends WithWorld {
  /** The carrier of the world. */
  readonly carrier: ScriptedCarrier;
}

/** A command for `fc.commands`. Its model is empty: laws judge what happened. */
export interface WorldCommand<Real> {
  /** Whether the command can run: always. */
  check(model: object): boolean;
  /** Begins the command. */
  run(model: object, real: Real): Promise<void>;
  /** The command as the counterexample prints it. */
  toString(): string;
}

/** An engine of the world, with the transactions of its storage. */
type EngineOf<Real extends WithWorld> = ReturnType<Real["world"]["engine"]>;

const argumentsSchema = optionsObject({
  name: option<string>("a string", (name) => typeof name === "string"),
  code: functionOption(),
});

/**
 * Returns a command that begins code of the host application in the process of an engine that is
 * up. It does not wait for the code, so that commands race. The story has the command's name and
 * outcome.
 * @throws TidingsError `invalid_option` when the name is not a text or the code is not a function
 */
export function command<Real extends WithWorld>(
  name: string,
  code: (real: Real, engine: EngineOf<Real>) => Promise<unknown>,
): WorldCommand<Real> {
  parseOptions("command: ", argumentsSchema, { name, code });
  return step(name, async (real) => {
    // The cast is safe: it is an engine of this world.
    void real.world.begin((engine) => code(real, engine as EngineOf<Real>), { as: name });
  });
}

function step<Real>(name: string, run: (real: Real) => Promise<void>): WorldCommand<Real> {
  return { check: () => true, run: async (_model, real) => run(real), toString: () => name };
}

/** Ready commands, one arbitrary each. Pass the ones that you need to `fc.commands`. */
export interface Commands {
  /** Time passes: up to a minute. */
  readonly wait: Arbitrary<WorldCommand<WithWorld>>;
  /** An engine's process crashes, and starts again up to a minute later. */
  readonly crash: Arbitrary<WorldCommand<WithWorld>>;
  /** An engine is stopped as by a deployment, and starts again. */
  readonly deploy: Arbitrary<WorldCommand<WithWorld>>;
  /** An engine is cut off from the storage, the carriers or the internet for up to a minute. */
  readonly partition: Arbitrary<WorldCommand<WithWorld>>;
  /** The clock of an engine is set. */
  readonly setClock: Arbitrary<WorldCommand<WithWorld>>;
  /** A text is sent to a phone. */
  readonly send: Arbitrary<WorldCommand<WithWorld>>;
  /** A text to a phone is scheduled. */
  readonly schedule: Arbitrary<WorldCommand<WithWorld>>;
  /** One of the latest messages is canceled. */
  readonly cancel: Arbitrary<WorldCommand<WithWorld>>;
  /** One of the latest messages is redacted. */
  readonly redact: Arbitrary<WorldCommand<WithWorld>>;
  /** A contact is created. */
  readonly createContact: Arbitrary<WorldCommand<WithWorld>>;
  /** A contact's consent is set through the API. */
  readonly setConsent: Arbitrary<WorldCommand<WithWorld>>;
  /** Two contacts are merged. */
  readonly merge: Arbitrary<WorldCommand<WithWorld>>;
  /** A contact is erased. */
  readonly erase: Arbitrary<WorldCommand<WithWorld>>;
  /** A person replies in a conversation. */
  readonly reply: Arbitrary<WorldCommand<WithWorld>>;
  /** A conversation is closed. */
  readonly close: Arbitrary<WorldCommand<WithWorld>>;
  /** A webhook for all events is created, unless there are two. */
  readonly createWebhook: Arbitrary<WorldCommand<WithWorld>>;
  /** A phone texts something to the sender that texted it last. */
  readonly text: Arbitrary<WorldCommand<WithCarrier>>;
  /** A phone texts STOP, START or HELP to the sender that texted it last. */
  readonly keyword: Arbitrary<WorldCommand<WithCarrier>>;
}

const minuteMs = 60_000;
/** Out of how many of the latest messages or contacts a command picks one. */
const maxRecent = 8;

const maxWebhooks = 2;

/**
 * Returns commands for `fc.commands`, made with your own fast-check: `commands(fc)`.
 * @throws TidingsError `invalid_option` when `fc` is not fast-check
 */
export function commands(fc: FastCheck): Commands {
  checkFastCheck("commands", fc);
  return { ...processCommands(fc), ...operations(fc), ...phoneCommands(fc) };
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

type PhoneCommands = Pick<Commands, "text" | "keyword">;

function phoneCommands(fc: FastCheck): PhoneCommands {
  const { oneOf, pair } = generatorsOf(fc);
  const { phone, text } = arbitraries(fc);
  const say = ([from, body]: readonly [string, string]): WorldCommand<WithCarrier> =>
    step(`text ${JSON.stringify(body)} from ${from}`, async ({ carrier, world }) => {
      const last = carrier.handedOver.findLast(({ message }) => message.to === from);
      if (last === undefined) return;
      world.story.note([], `${from} texts ${JSON.stringify(body)}`);
      carrier.text({ from, to: last.message.from, body });
    });
  return {
    text: pair(phone, text).map(say),
    keyword: pair(phone, oneOf(["STOP", "START", "HELP"])).map(say),
  };
}

type Operations = Omit<Commands, keyof ProcessCommands | keyof PhoneCommands>;

function operations(fc: FastCheck): Operations {
  const { integer, oneOf, pair } = generatorsOf(fc);
  const { phone, message, contact, text } = arbitraries(fc);
  const nth = integer(0, maxRecent - 1);
  const status = oneOf(["opted_out", "opted_in"] as const);
  const inMs = integer(1, 5 * minuteMs);
  const own = (
    name: string,
    code: (engine: MessagingEngine, world: World) => Promise<unknown>,
  ): WorldCommand<WithWorld> => command(name, ({ world }, engine) => code(engine, world));
  return {
    send: message.map((input) =>
      own(`send ${JSON.stringify(input.body)} to ${input.to}`, (engine) =>
        engine.messages.send(input),
      ),
    ),
    schedule: pair(message, inMs).map(([input, ms]) =>
      own(`send ${JSON.stringify(input.body)} to ${input.to} in ${ms} ms`, (engine, world) => {
        const send_at = new Date(world.clock.now() + ms).toISOString();
        return engine.messages.send({ ...input, send_at });
      }),
    ),
    cancel: nth.map((n) =>
      own(`cancel message ${n}`, (engine) =>
        onRecent(engine, n, (id) => engine.messages.cancel(id)),
      ),
    ),
    redact: nth.map((n) =>
      own(`redact message ${n}`, (engine) =>
        onRecent(engine, n, (id) => engine.messages.redact(id)),
      ),
    ),
    createContact: contact.map((input) =>
      own(`create ${JSON.stringify(input)}`, (engine) => engine.contacts.create(input)),
    ),
    setConsent: pair(phone, status).map(([number, to]) =>
      own(`set the consent of ${number} to ${to}`, (engine) =>
        onContact(engine, number, (id) => engine.contacts.setConsent(id, "text", { status: to })),
      ),
    ),
    merge: pair(phone, phone).map(([survivor, other]) =>
      own(`merge ${other} into ${survivor}`, (engine) =>
        onContact(engine, survivor, (kept) =>
          onContact(engine, other, async (id) =>
            kept === id ? undefined : engine.contacts.merge(kept, id),
          ),
        ),
      ),
    ),
    erase: phone.map((number) =>
      own(`erase the contact of ${number}`, (engine) =>
        onContact(engine, number, (id) => engine.contacts.erase(id)),
      ),
    ),
    reply: pair(nth, text).map(([n, body]) =>
      own(`reply ${JSON.stringify(body)} in conversation ${n}`, (engine) =>
        onConversation(engine, n, (id) => engine.conversations.reply(id, { body })),
      ),
    ),
    createWebhook: integer(1, maxWebhooks).map((n) =>
      own(`create webhook ${n}`, async (engine, { receiver }) => {
        const { data } = await engine.webhooks.list({ limit: maxWebhooks });
        if (data.length === maxWebhooks) return;
        const url = `https://webhook-${n}.example/`;
        receiver.trust(await engine.webhooks.create({ url, events: ["*"] }));
      }),
    ),
    close: nth.map((n) =>
      own(`close conversation ${n}`, (engine) =>
        onConversation(engine, n, (id) => engine.conversations.update(id, { status: "closed" })),
      ),
    ),
  };
}

/** Acts on the `n`-th of the resources that were listed, if there is any. */
async function onNth(
  listed: Promise<{ readonly data: readonly { readonly id: string }[] }>,
  n: number,
  act: (id: string) => Promise<unknown>,
): Promise<unknown> {
  const { data } = await listed;
  const found = data[n % Math.max(1, data.length)];
  return found === undefined ? undefined : act(found.id);
}

const onRecent = (
  { messages }: MessagingEngine,
  n: number,
  act: (id: string) => Promise<unknown>,
): Promise<unknown> => onNth(messages.list({ limit: maxRecent }), n, act);

const onConversation = (
  { conversations }: MessagingEngine,
  n: number,
  act: (id: string) => Promise<unknown>,
): Promise<unknown> => onNth(conversations.list({ limit: maxRecent }), n, act);

async function onContact(
  engine: MessagingEngine,
  phone: string,
  act: (id: string) => Promise<unknown>,
): Promise<unknown> {
  return onNth(engine.contacts.list({ phone }), 0, act);
}
