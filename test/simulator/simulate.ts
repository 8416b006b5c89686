import { approvalMs } from "../../src/agents/runs/call-rules.ts";
import type { Actor } from "./actors/actor.ts";
import {
  bookingPlaybook,
  complaintPlaybook,
  decideApprovals,
  draftAgent,
  refundPlaybook,
} from "./actors/agent-operators.ts";
import { closeMostConversations } from "./actors/inbox-operators.ts";
import { actors } from "./actors/index.ts";
import { laws, type Finding, type Invariant } from "./invariant.ts";
import { invariants } from "./invariants/index.ts";
import type { Counts } from "./met-faults/coverage.ts";
import { pendingWork, skipIdleTime, waitsForApproval } from "./pending-work.ts";
import { primaryTransport, reopenHours, senderAddresses } from "./settings.ts";
import { World } from "./world.ts";

export const defaultSteps = 150;

export interface Result {
  readonly seed: number;
  readonly steps: number;
  /** A hash of the whole trace. */
  readonly digest: string;
  /** The number of entries in the trace. */
  readonly entries: number;
  /** The number of calls that reached the carrier. */
  readonly calls: number;
  /** The number of messages that clients asked to send. */
  readonly messages: number;
  /** Explains the violation; undefined when all invariants held. */
  readonly failure: string | undefined;
  readonly invariant: string | undefined;
  /** How often each fault met each operation. */
  readonly coverage: Counts;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/**
 * How long, in virtual time, all work may take to complete once the faults have stopped and no run
 * waits for an approval: longer than a webchat message waits for the visitor's mark, which is 72
 * hours.
 */
const completesWithinMs = 96 * hourMs;
/** The same, with the waits for approvals. Each of them ends after 24 hours. */
const completesAfterApprovalsMs = 7 * 24 * hourMs;
/** Enough time for every live stream to poll the storage once. */
const streamPollMs = 30_000;

/** Runs one seed: `steps` steps with faults, and then without faults until all work is done. */
export async function simulate(
  seed: number,
  steps: number = defaultSteps,
  checked: readonly Invariant[] = invariants,
): Promise<Result> {
  const world = new World(seed, checked);
  const { dice, clock, trace } = world;
  await createSenders(world);
  if (world.workload.weights.agents !== 0) await createAgent(world);

  const weighted = weightedActors(world);
  const night = dice.chance(0.25) ? dice.between(0, steps) : -1;
  for (let step = 0; step < steps && world.finding === undefined; step++) {
    const actor = dice.weighted(weighted);
    void actor.act(world);
    if (step === night) closeMostConversations(world);
    await clock.advance(step === night ? dice.pick(nightsMs) : pauseMs(world));
    await world.checkStep();
  }
  world.stopFaults();
  await completeWork(world);
  if (world.finding === undefined) {
    await clock.advance(streamPollMs);
    await world.checkStep();
  }
  if (world.finding === undefined) await world.checkEnd();
  await world.engines[Symbol.asyncDispose]();

  const { finding } = world;
  return {
    seed,
    steps,
    digest: trace.digest(),
    entries: trace.entries.length,
    calls: world.carrier.calls.length,
    messages: world.clients.requests.length,
    failure: finding && failureReport(seed, steps, finding, world),
    invariant: finding?.invariant,
    coverage: world.coverage.counts,
  };
}

/** The actors, with the weights that the seed's workload gives to their groups. */
function weightedActors({ workload }: World): readonly Actor[] {
  return actors.map((actor) => ({
    ...actor,
    weight: actor.weight * (workload.weights[actor.group] ?? 1),
  }));
}

/** Lets time pass until nothing is left to do. */
async function completeWork(world: World): Promise<void> {
  const { clock, dice } = world;
  const lastDeadline = clock.now() + completesAfterApprovalsMs;
  let deadline = clock.now() + completesWithinMs;
  // In 1 % of the histories nobody decides on approvals until the first of them have expired.
  const decidesFrom = clock.now() + (dice.chance(0.99) ? 0 : approvalMs);
  for (let pending = "not checked yet"; world.finding === undefined && pending !== "";) {
    const isUndecided = clock.now() < decidesFrom;
    void decideApprovals(world, isUndecided ? 0 : 0.5);
    await skipIdleTime(world);
    if (waitsForApproval(world)) {
      deadline = Math.min(clock.now() + completesWithinMs, lastDeadline);
    }
    await clock.advance(20_000);
    await world.checkStep();
    pending = pendingWork(world);
    if (pending !== "" && clock.now() > deadline) {
      world.report(laws.allWorkCompletes, idsIn(pending), pending);
    }
  }
}

/** Creates the account's senders. Faults apply to these requests too. */
async function createSenders({ clients, clock, settings }: World): Promise<void> {
  let created = 0;
  const phones = senderAddresses.map((address, i) => ({
    address,
    channels: ["sms" as const, "mms" as const],
    transport: primaryTransport,
    pool: settings.hasPool,
    ...(i === 0 ? settings.senderLimits : {}),
  }));
  const webchat = { address: "shop", channels: ["webchat" as const], transport: "webchat" };
  const all = [...phones, webchat];
  for (const input of all) {
    const idempotencyKey = `sender-${input.address}`;
    void clients
      .askUntilAnswered((engine) => engine.senders.create(input, { idempotencyKey }))
      .then(() => created++);
  }
  await clock.advanceUntil(() => created === all.length);
}

/** Creates the playbooks and the first agent. */
async function createAgent(world: World): Promise<void> {
  const { clients, clock } = world;
  let isCreated = false;
  void (async () => {
    for (const playbook of [bookingPlaybook, refundPlaybook, complaintPlaybook]) {
      const idempotencyKey = `playbook-${playbook.name}`;
      const answer = await clients.askUntilAnswered((engine) =>
        engine.playbooks.create(playbook, { idempotencyKey }),
      );
      if (answer.kind === "done") continue;
      const { name } = playbook;
      world.report(laws.noUnexpectedErrors, [], `the playbook ${name} was refused: ${answer.code}`);
    }
    const agent = draftAgent(world);
    await clients.askUntilAnswered((engine) =>
      engine.agents.create(agent, { idempotencyKey: "agent" }),
    );
    isCreated = true;
  })();
  await clock.advanceUntil(() => isCreated);
}

/** Some conversations that were closed before the night can still be reopened after it. */
const nightsMs = [reopenHours * hourMs - 2 * minuteMs, reopenHours * hourMs + minuteMs] as const;

const pauses = [
  { weight: 30, from: 0, to: 0 },
  { weight: 30, from: 1, to: 200 },
  { weight: 25, from: 200, to: 3_000 },
  { weight: 12, from: 3_000, to: 15_000 },
  { weight: 3, from: 15_000, to: 70_000 },
] as const;

function pauseMs({ dice }: World): number {
  const { from, to } = dice.weighted(pauses);
  return dice.between(from, to);
}

function idsIn(text: string): string[] {
  return text.match(/\b[a-z]+_[0-9A-Z]{26}\b/g) ?? [];
}

/** The violation, the story of the resources involved, and the command to replay it. */
function failureReport(seed: number, steps: number, finding: Finding, { trace }: World): string {
  const { invariant, description, about, at } = finding;
  return [
    `seed ${seed} violates "${invariant}"`,
    `  ${description}`,
    "The trace before it:",
    trace.tell({ about, until: at }),
    `Replay: npm run simulate -- --seed ${seed} --steps ${steps}`,
  ].join("\n");
}
