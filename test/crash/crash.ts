/**
 * Kills engines at random times while clients send over HTTP, a carrier answers and webhooks are
 * delivered. Then judges by what clients, carrier and receivers saw and by what the storage holds.
 * All of these run in this process, which is never killed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { epoch, fastClock } from "./clock.ts";
import { cutConnections } from "./cut-connections.ts";
import { Dice } from "./dice.ts";
import { EngineProcesses } from "./engines/engine-processes.ts";
import type { Disturbance } from "./judge/judge-deliveries.ts";
import { JudgeView } from "./judge/judge-view.ts";
import { judge, type Verdict } from "./judge/judge.ts";
import { Killer } from "./killer.ts";
import { Carrier, type Ledger } from "./outside/carrier.ts";
import { Clients } from "./outside/client.ts";
import { Receiver, type WebhookRequest } from "./outside/receiver.ts";
import type { DatabaseView } from "./storages/database-view.ts";
import type { CrashedStorage, MishapName } from "./storages/storages.ts";
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
/** How many messages have to be acknowledged before the run ends. */
const minAcknowledged = 60;

export async function crash({
  storage,
  kills,
  cut = false,
  seed,
  log = () => {},
}: CrashOptions): Promise<Report> {
  const time = epoch(rate);
  const clock = fastClock(time);
  const dice = new Dice(seed);
  await using view = new JudgeView(storage);
  await using engines = new EngineProcesses(dice);
  const { hasAttempt } = view;
  const { anyUrl: engine } = engines;
  using carrier = await Carrier.open({ dice: new Dice(seed + 1), clock, hasAttempt, engine });
  using receiver = await Receiver.open(clock, new Dice(seed + 2_000));
  const { settings, processes } = storage;
  const apiKey = await engines.start({
    count: processes,
    settings: { storage: settings, carrier: carrier.url, receiver: receiver.url, epoch: time },
    certificate: receiver.certificate,
  });
  view.open();
  using clients = new Clients({ seed: seed + 2, apiKey, engine });
  const disturbances: Disturbance[] = [];
  const cutting = cut
    ? cutConnections({ storage, clients, disturbances, dice: new Dice(seed + 1_000), clock })
    : undefined;

  const { acknowledgements } = clients;
  const { messages } = acknowledgements;
  const killer = new Killer({
    storage,
    engines,
    view,
    acknowledgements,
    disturbances,
    dice,
    clock,
  });
  for (let kill = 1; kill <= kills; kill++) {
    const killed = await killer.kill();
    const mishap = killed.name === "kill" ? "" : `, ${killed.name}`;
    const calls = carrier.ledger.calls.length;
    log(`kill ${kill}${mishap}: ${messages.size} acknowledged, ${calls} calls`);
    await killer.restart(killed, { isLast: kill === kills });
  }

  // On a slow machine the engines hardly get to work between the kills.
  const deadline = Date.now() + deadlineMs;
  while (messages.size < minAcknowledged && Date.now() < deadline) await sleep(100);
  await withDeadline("sending the last messages", Promise.all([clients.stop(), cutting]));
  const database = view.open();
  await completed(database, carrier);
  await engines.stop();

  const { ledger } = carrier;
  const { requests } = receiver;
  const verdict = judge({
    acknowledged: messages,
    keys: acknowledgements.keys,
    ledger,
    requests,
    disturbances,
    ...(await contentOf(database)),
  });
  return {
    ...verdict,
    violations: [...killer.damage, ...acknowledgements.unexpectedAnswers, ...verdict.violations],
    kills,
    mishaps: killer.mishaps,
    acknowledged: messages.size,
    unavailable: acknowledgements.unavailable,
    ledger,
    requests,
  };
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

/** Reads what the judge compares with what clients, carrier and receivers saw. */
async function contentOf(view: DatabaseView) {
  return {
    messages: await view.messages(),
    attempts: await view.attempts(),
    events: await view.events(),
    deliveries: await view.deliveries(),
    deliveryAttempts: await view.deliveryAttempts(),
  };
}
