/**
 * Kills engines at random times while clients send over HTTP, a carrier answers and webhooks are
 * delivered. Then judges by what clients, carrier and receivers saw and by what the storage holds.
 * All of these run in this process, which is never killed.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Carrier, type Ledger } from "./carrier.ts";
import { Acknowledgements, runClient } from "./client.ts";
import { epoch, fastClock } from "./clock.ts";
import { Dice } from "./dice.ts";
import type { ProcessSettings } from "./engine-main.ts";
import { EngineProcess } from "./engine-process.ts";
import { judge, type Verdict } from "./judge.ts";
import type { Disturbance } from "./judge-deliveries.ts";
import { Receiver, type WebhookRequest } from "./receiver.ts";
import type { CrashedStorage, Mishap, MishapName } from "./storages.ts";
import type { DatabaseView } from "./database-view.ts";
import { deadlineMs, withDeadline } from "./with-deadline.ts";

export interface CrashOptions {
  readonly storage: CrashedStorage;
  readonly kills: number;
  /** Whether connections to the storage are cut meanwhile. */
  readonly cut?: boolean;
  readonly seed: number;
  /** Called after each kill. */
  readonly log?: (line: string) => void;
}

export interface Report extends Verdict {
  readonly kills: number;
  /** How often each mishap came with a kill. */
  readonly mishaps: ReadonlyMap<MishapName, number>;
  readonly acknowledged: number;
  /** How often an engine answered that its storage is unavailable. */
  readonly unavailable: number;
  readonly ledger: Ledger;
  readonly requests: readonly WebhookRequest[];
}

/** How much faster than real time the engines' clock runs: a lease of a minute lasts 3 s. */
const rate = 20;
const clients = 12;
/**
 * The longest time from a start to the kill, if the process is ready, or if it is still starting.
 */
const maxLifeMs = 1_400;
const maxStartMs = 400;
/** How long a mishap lasts before the kill, and again after it, at most. */
const maxMishapMs = 600;
/** The most messages that have to be acknowledged between two cuts of connections. */
const maxAcknowledgedUncut = 6;
/** How many messages have to be acknowledged before the run ends. */
const minAcknowledged = 60;
/** How often a process that ends by itself is started again. */
const maxStarts = 20;
/** How long engines may take to reconnect after connections were cut, by the engines' clock. */
const maxReconnectMs = 60_000;
/** How long after a kill a request may arrive that the engine had sent, by the engines' clock. */
const maxArrivalMs = 5_000;

export async function crash({
  storage,
  kills,
  cut = false,
  seed,
  log = () => {},
}: CrashOptions): Promise<Report> {
  const time = epoch(rate);
  const dice = new Dice(seed);
  const engines: EngineProcess[] = [];
  const anyEngine = (): string => engines[dice.whole(0, engines.length)]?.url ?? "";
  let view: DatabaseView | undefined;
  const carrier = new Carrier({
    dice: new Dice(seed + 1),
    clock: fastClock(time),
    hasAttempt: async (id) => view?.hasAttempt(id) ?? true,
    engine: anyEngine,
  });
  const { server, url } = await carrier.listen();
  const receiver = await Receiver.open(fastClock(time), new Dice(seed + 2_000));
  const cache = await mkdtemp(join(tmpdir(), "tidings-compiled-"));
  const certificate = join(cache, "authority.pem");
  await writeFile(certificate, receiver.certificate);
  const settings: ProcessSettings = {
    storage: storage.settings,
    carrier: url,
    receiver: receiver.url,
    epoch: time,
    setup: false,
  };
  const environment = {
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? cache,
    NODE_EXTRA_CA_CERTS: certificate,
  };
  const disturbances: Disturbance[] = [];
  const { now } = fastClock(time);
  const acknowledgements = new Acknowledgements();
  const damage: string[] = [];
  const mishaps = new Map<MishapName, number>();
  let stopped = false;
  const ended = new AbortController();
  try {
    const apiKey = await new EngineProcess({ ...settings, setup: true }, environment).line();
    for (let i = 0; i < storage.processes; i++) {
      engines.push(new EngineProcess(settings, environment));
    }
    await Promise.all(engines.map((each) => each.ready()));
    view = storage.view();
    const sending = Array.from({ length: clients }, (_, i) =>
      runClient({
        name: `client${i}`,
        dice: new Dice(seed + 2 + i),
        apiKey,
        engine: anyEngine,
        acknowledgements,
        stopped: () => stopped,
        ended: ended.signal,
      }),
    );

    const cutting = cut
      ? breakConnections(storage, new Dice(seed + 1_000), {
          now,
          disturbances,
          acknowledged: () => acknowledgements.messages.size,
          stopped: () => stopped,
        })
      : undefined;
    for (let kill = 1; kill <= kills; kill++) {
      const engine = engines[dice.whole(0, engines.length)];
      if (engine === undefined) throw new Error("no engine runs");
      await sleep(engine.isReady ? dice.between(0, maxLifeMs) : dice.between(0, maxStartMs));
      const name = drawMishap(storage, dice);
      const mishap: Mishap = storage.mishaps[name] ?? {};
      const from = now();
      if (mishap.before !== undefined && engine.pid !== undefined) {
        await mishap.before(engine.pid, dice);
        await sleep(dice.between(0, maxMishapMs));
      }
      await engine.kill();
      const killedAt = now();
      if (engines.length === 1) {
        // Close the only other connection, so that the next process must recover the database.
        await view[Symbol.asyncDispose]();
        view = undefined;
      }
      await mishap.after?.(dice);
      const found = await inspect(storage, acknowledgements);
      damage.push(...found.map((what) => `after kill ${kill}: ${what}`));
      mishaps.set(name, (mishaps.get(name) ?? 0) + 1);
      log(
        `kill ${kill}${name === "kill" ? "" : `, ${name}`}: ${acknowledgements.messages.size} acknowledged, ${carrier.ledger.calls.length} calls`,
      );
      let next = engine.restart();
      engines[engines.indexOf(engine)] = next;
      if (mishap.end !== undefined) {
        await sleep(dice.between(0, maxMishapMs));
        await mishap.end();
      }
      const to = name === "kill" ? killedAt + maxArrivalMs : now() + maxReconnectMs;
      disturbances.push({ from, to });
      if (kill === kills || name !== "kill" || dice.percent(85)) {
        // A process that could not start because of the mishap has ended. A supervisor starts it.
        for (let left = maxStarts; !(await next.becomesReady()); left--) {
          if (left === 0) throw new Error("an engine's process cannot start");
          const ended = next;
          next = ended.restart();
          engines[engines.indexOf(ended)] = next;
        }
      }
      view ??= storage.view();
    }

    // On a slow machine the engines hardly get to work between the kills.
    const deadline = Date.now() + deadlineMs;
    while (acknowledgements.messages.size < minAcknowledged && Date.now() < deadline) {
      await sleep(100);
    }
    stopped = true;
    await withDeadline("sending the last messages", Promise.all([...sending, cutting]));
    await completed(view, carrier);
    await Promise.all(engines.map((each) => each.stop()));
    const verdict = judge({
      acknowledged: acknowledgements.messages,
      keys: acknowledgements.keys,
      ledger: carrier.ledger,
      messages: await view.messages(),
      attempts: await view.attempts(),
      requests: receiver.requests,
      events: await view.events(),
      deliveries: await view.deliveries(),
      deliveryAttempts: await view.deliveryAttempts(),
      disturbances,
    });
    return {
      ...verdict,
      violations: [...damage, ...acknowledgements.unexpectedAnswers, ...verdict.violations],
      kills,
      mishaps,
      acknowledged: acknowledgements.messages.size,
      unavailable: acknowledgements.unavailable,
      ledger: carrier.ledger,
      requests: receiver.requests,
    };
  } finally {
    stopped = true;
    ended.abort();
    carrier.close();
    await Promise.all(engines.map((each) => each.kill()));
    server.close();
    server.closeAllConnections();
    receiver.close();
    await view?.[Symbol.asyncDispose]();
    await rm(cache, { recursive: true, force: true });
  }
}

function drawMishap({ mishaps }: CrashedStorage, dice: Dice): MishapName {
  const names = Object.entries(mishaps).map(([name, { weight }]) => [name, weight]);
  return dice.pick(Object.fromEntries(names) as Record<MishapName, number>);
}

/** Describes damage to the storage, and acknowledged messages that are missing from it. */
async function inspect(storage: CrashedStorage, { messages }: Acknowledgements): Promise<string[]> {
  const known = [...messages.values()];
  const { view, damage } = await storage.inspectAfterKill();
  await using _ = view;
  const stored = new Set((await view.messages()).map(({ id }) => id));
  return [
    ...damage,
    ...known
      .filter((id) => !stored.has(id))
      .map((id) => `${id} was acknowledged, but is not stored`),
  ];
}

interface BreakOptions {
  readonly now: () => number;
  readonly disturbances: Disturbance[];
  /** How many messages are acknowledged. */
  readonly acknowledged: () => number;
  readonly stopped: () => boolean;
}

async function breakConnections(
  storage: CrashedStorage,
  dice: Dice,
  { now, disturbances, acknowledged, stopped }: BreakOptions,
): Promise<void> {
  while (!stopped()) {
    // On a slow machine, engines would do nothing but reconnect if they were cut by time alone.
    const least = acknowledged() + dice.whole(0, maxAcknowledgedUncut);
    await sleep(dice.between(0, 500));
    while (acknowledged() < least && !stopped()) await sleep(20);
    const from = now();
    await storage.breakConnections?.(dice);
    disturbances.push({ from, to: now() + maxReconnectMs });
  }
}

/**
 * Waits until all messages and deliveries have reached their final status and all receipts are
 * accepted. If none of them does so for a while, the judge reports what has not.
 */
async function completed(view: DatabaseView, carrier: Carrier): Promise<void> {
  let least = Infinity;
  let deadline = Infinity;
  while (Date.now() < deadline) {
    const left = (await view.unsettled()) + carrier.undelivered;
    if (left === 0) return;
    // After many crashes, a webhook that gets its events in order has a long backlog.
    if (left < least) deadline = Date.now() + deadlineMs;
    least = Math.min(left, least);
    await sleep(100);
  }
}
