import { skipIdleTime as skip } from "../../adapters/testing/world/pending-jobs.ts";
import { runs } from "../../src/agents/runs/rows.ts";
import { attemptById, messages } from "../../src/messages/rows.ts";
import { jobs } from "../../src/queue/jobs/rows.ts";
import { allRows, readRows } from "./rows.ts";
import type { World } from "./world.ts";

/** Names one piece of work that is still to be done; empty when there is none. */
export function pendingWork({
  clients,
  carrier,
  receivers,
  database,
  traits: { hasLookup },
  engines,
  clock,
}: World): string {
  if (engines.up.length < engines.engines.length) return "an engine is down";
  // It may still run a request whose client has given up.
  if (isStalled(engines, clock.monotonic())) return "an engine is stalled";
  if (clients.waiting > 0) return `${clients.waiting} clients still wait for an answer`;
  if (carrier.undelivered > 0) {
    return `no engine accepts ${carrier.undelivered} receipts and messages of the carrier`;
  }
  if (receivers.isBusy) return "a request to a webhook receiver is under way";
  for (const { id, status } of allRows(database, messages)) {
    if (["scheduled", "queued", "sending", "sent"].includes(status)) {
      return `message ${id} stays ${status}`;
    }
    if (status === "ambiguous" && hasLookup) {
      return `message ${id} stays ambiguous, though the carrier offers look-ups`;
    }
  }
  for (const { id, status } of allRows(database, runs)) {
    if (status === "awaiting_approval") return `${id} waits for an approval`;
  }
  for (const { kind, key, leased, due_at } of allRows(database, jobs)) {
    // These jobs find nothing to do: the attempt was erased, or the waiting messages have expired.
    const isIdle =
      kind === "reap" ||
      kind === "throttle" ||
      (kind === "follow-up" && readRows(database, attemptById, [key]).length === 0);
    const isLater = kind === "deliver" && !leased && due_at > clock.now();
    if (!isIdle && !isLater) return `the job ${kind} ${key} is not done`;
  }
  return "";
}

export function waitsForApproval({ database }: World): boolean {
  return allRows(database, runs).some(({ status }) => status === "awaiting_approval");
}

/** Partitions are left out: their end is not known. None is left when the faults have stopped. */
function isStalled(engines: World["engines"], now: number): boolean {
  return engines.engines.some((name) =>
    engines.runOf(name).outages.some(({ until }) => until > now && until !== Infinity),
  );
}

/** Jumps over a time in which nothing happens, if nothing is under way. */
export async function skipIdleTime(world: World): Promise<void> {
  const { clients, carrier, receivers, database, engines, clock, trace } = world;
  if (engines.up.length < engines.engines.length || receivers.isBusy) return;
  if (clients.waiting > 0 || carrier.undelivered > 0) return;
  // A stalled engine would act on what it read days ago.
  if (isStalled(engines, clock.monotonic())) return;
  await skip(database.reader, clock, trace);
}
