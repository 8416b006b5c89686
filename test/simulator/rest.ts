import { jobs } from "../../src/queue/rows.ts";
import { runs } from "../../src/agents/runs/rows.ts";
import { attemptById, messages } from "../../src/messages/rows.ts";
import { allOf, peek } from "./rows.ts";
import type { World } from "./world.ts";

/** Said of a run that may wait for a day. */
export const awaits = "waits for an approval";

/** Says what still has to happen; nothing when everything is at rest. */
export function atRest({
  clients,
  carrier,
  receivers,
  ground,
  canLookUp,
  hosts,
  clock,
}: World): string {
  if (hosts.some(({ engine }) => engine === undefined)) return "an engine is down";
  if (clients.open > 0) return `${clients.open} clients wait for an answer that doesn't come`;
  if (carrier.underway > 0) {
    return `the carrier has ${carrier.underway} things to say that nobody takes`;
  }
  if (receivers.busy) return "a request to a receiver is under way";
  for (const { id, status } of allOf(ground, messages)) {
    if (["scheduled", "queued", "sending", "sent"].includes(status)) {
      return `message ${id} stays ${status}`;
    }
    if (status === "ambiguous" && canLookUp) {
      return `message ${id} stays ambiguous, and the carrier could be asked`;
    }
  }
  for (const { id, status } of allOf(ground, runs)) {
    if (status === "awaiting_approval") return `${id} ${awaits}`;
  }
  for (const { kind, key, leased, due_at } of allOf(ground, jobs)) {
    // One that is to look after an attempt that was erased will find nothing, in days.
    // So has one that gives turns: what waited for the next has expired.
    const isIdle =
      kind === "reap" ||
      kind === "throttle" ||
      (kind === "follow-up" && peek(ground, attemptById, [key]).length === 0);
    const isLater = kind === "deliver" && !leased && due_at > clock.now();
    if (!isIdle && !isLater) return `a job to ${kind} ${key} is left`;
  }
  return "";
}
