import { actors } from "./actors/index.ts";
import type { Actor } from "./actors/actor.ts";
import { bookings, decide, draftAgent, refunds } from "./actors/employers.ts";
import { closeForTheNight } from "./actors/operators.ts";
import { senderAddresses } from "./actors/senders.ts";
import { defaultSteps } from "./defaults.ts";
import { approvalMs } from "../../src/agents/runs/rules.ts";
import { carrierName } from "./line.ts";
import { invariants } from "./invariants/index.ts";
import type { Invariant } from "./invariant.ts";
import { atRest, awaits } from "./rest.ts";
import { story } from "./story.ts";
import { reopenHours } from "./terms.ts";
import { World } from "./world.ts";

export interface Result {
  readonly seed: number;
  readonly steps: number;
  /** Of the whole trace. */
  readonly digest: string;
  readonly entries: number;
  readonly calls: number;
  readonly messages: number;
  /** Told when an invariant was broken. */
  readonly story: string | undefined;
  readonly invariant: string | undefined;
}

/** How long, in virtual time, everything may take to come to rest once the faults have stopped. */
const restWithinMs = 48 * 3_600_000;
/** How long nobody looks while only a person's approval is waited for, which runs out in a day. */
const patienceMs = 3_600_000;

/** In milliseconds, with some to spare. */
const longestLook = 30_000;

/** Runs one seed: some steps among faults, then none, until all is at rest. */
export async function simulate(
  seed: number,
  steps: number = defaultSteps,
  judges: readonly Invariant[] = invariants,
): Promise<Result> {
  const world = new World(seed, judges);
  const { dice, clock, trace } = world;
  for (const host of world.hosts) host.boot();
  await setUp(world);

  const cast = castOf(world);
  const night = dice.chance(0.25) ? dice.between(0, steps) : -1;
  for (let step = 0; step < steps && world.finding === undefined; step++) {
    const actor = dice.weighted(cast);
    void actor.act(world);
    if (step === night) closeForTheNight(world);
    await clock.advance(step === night ? dice.pick(nights) : pause(world));
    await world.stepped();
  }
  const until = clock.now() + restWithinMs;
  world.heal();
  // Where nobody decides about what waits for an approval, that runs out; of what is asked for then, somebody decides all the same.
  const decidesFrom = clock.now() + (dice.chance(0.99) ? 0 : approvalMs);
  for (let unrest = "just healed"; world.finding === undefined && unrest !== "";) {
    const isIdle = clock.now() < decidesFrom;
    void decide(world, isIdle ? 0 : 0.5);
    await clock.advance(isIdle && unrest.endsWith(awaits) ? patienceMs : 20_000);
    await world.stepped();
    unrest = atRest(world);
    if (unrest !== "" && clock.now() > until) {
      world.accuse("everything comes to rest", idsIn(unrest), unrest);
    }
  }
  // Who listens at another engine is told when that looks by itself.
  if (world.finding === undefined) {
    await clock.advance(longestLook);
    await world.stepped();
  }
  if (world.finding === undefined) await world.ended();
  for (const host of world.hosts) host.life.end();

  const { finding } = world;
  return {
    seed,
    steps,
    digest: trace.digest(),
    entries: trace.entries.length,
    calls: world.carrier.calls.length,
    messages: world.clients.orders.length,
    story: finding && story(seed, steps, finding, trace),
    invariant: finding?.invariant,
  };
}

/** Who acts how often in a history of this shape. */
function castOf({ shape }: World): readonly Actor[] {
  return actors.map((actor) => ({
    ...actor,
    weight: actor.weight * (shape.share[actor.part] ?? 1),
  }));
}

/** The account's senders, made under the same faults as everything else. */
async function setUp(world: World): Promise<void> {
  const { clients, clock, terms } = world;
  let made = 0;
  const phones = senderAddresses.map((address, i) => ({
    address,
    channels: ["sms" as const, "mms" as const],
    transport: carrierName,
    pool: terms.hasPool,
    ...(i === 0 ? terms.pace : {}),
  }));
  const inbox = { address: "shop", channels: ["webchat" as const], transport: "webchat" };
  const all = [...phones, inbox];
  for (const input of all) {
    const { address } = input;
    void clients
      .persist((engine) => engine.senders.create(input, { idempotencyKey: `sender-${address}` }))
      .then(() => made++);
  }
  await clock.advanceUntil(() => made === all.length);
  if (world.shape.share.agents !== 0) await employ(world);
}

/** An agent, and what it goes by. */
async function employ(world: World): Promise<void> {
  const { clients, clock } = world;
  let isMade = false;
  void (async () => {
    for (const playbook of [bookings, refunds]) {
      const idempotencyKey = `playbook-${playbook.name}`;
      await clients.persist((engine) => engine.playbooks.create(playbook, { idempotencyKey }));
    }
    const agent = draftAgent(world);
    await clients.persist((engine) => engine.agents.create(agent, { idempotencyKey: "agent" }));
    isMade = true;
  })();
  await clock.advanceUntil(() => isMade);
}

const hourMs = 3_600_000;
/** Some of what was closed before is opened again by what comes in after it, and some is not. */
const nights = [reopenHours * hourMs - 120_000, reopenHours * hourMs + 60_000] as const;

const pauses = [
  { weight: 30, from: 0, to: 0 },
  { weight: 30, from: 1, to: 200 },
  { weight: 25, from: 200, to: 3_000 },
  { weight: 12, from: 3_000, to: 15_000 },
  { weight: 3, from: 15_000, to: 70_000 },
] as const;

function pause({ dice }: World): number {
  const { from, to } = dice.weighted(pauses);
  return dice.between(from, to);
}

function idsIn(text: string): string[] {
  return text.match(/\b[a-z]+_[0-9A-Z]{26}\b/g) ?? [];
}
