import type { Seen } from "../ports/index.ts";
import { finish, jobs, pickByClass, renew, type Claim, type JobRow } from "../queue/index.ts";
import { unscoped, type Tx } from "../store/index.ts";
import { senderHandOvers, senderThrottles, throttleByAddress, type ThrottleRow } from "./rows.ts";
import {
  boundsOf,
  countedHandOvers,
  isRecent,
  listWaitingLanes,
  nextHandOverAt,
} from "./throttle.ts";

/** The maximum number of conversations released, and of old hand-overs removed, per transaction. */
const maxPerRun = 100;
/**
 * How many milliseconds a released conversation may go without a hand-over before another is
 * released. Its message may have been canceled or denied.
 */
const unusedMs = 1_000;

/**
 * Releases as many waiting conversations as the sender's throttle allows now, and reschedules
 * itself.
 */
export async function releaseThrottled(tx: Tx, claim: Claim<"throttle">): Promise<void> {
  if ((await renew(tx, claim)) === undefined) return;
  const throttle = await tx.get(throttleByAddress, [claim.key.address]);
  if (throttle === undefined) return finish(tx, claim);

  const hasRemovedAll = await removeUncounted(tx, throttle);
  const lanes = await listWaitingLanes(tx, throttle, 2 * maxPerRun);
  const inLanes = lanes.flatMap(([, inLane]) => inLane);
  if (inLanes.length === 0) return endWait(tx, claim, throttle, hasRemovedAll);
  // A released job stays in its lane until it has handed over a message.
  const isReleased = ({ leased, due_at }: JobRow): boolean => leased || due_at <= tx.now;
  const released = inLanes.filter(isReleased).length;
  const waiting = lanes.map(
    ([name, inLane]) => [name, inLane.filter((job) => !isReleased(job))] as const,
  );
  const free = await freeNow(tx, throttle);
  // The picks are numbered like the hand-overs, so they continue across runs and engines.
  const next = pickByClass(new Map(waiting), throttle.handed + released, free - released);
  for (const job of next) unscoped(tx).update(jobs, job, { due_at: tx.now });
  const nextAt = await nextHandOverAt(tx, throttle, free);
  const unusedAt = released + next.length > 0 ? tx.now + unusedMs : Infinity;
  await finish(tx, claim, { againAt: Math.min(unusedAt, Math.max(nextAt, tx.now + 1)) });
}

/** Ends the job, since nothing waits. A throttle that has no limits any more is removed. */
async function endWait(
  tx: Tx,
  claim: Claim<"throttle">,
  throttle: Seen<ThrottleRow>,
  hasRemovedAll: boolean,
): Promise<void> {
  if (countedHandOvers(throttle) === 0 && hasRemovedAll) tx.remove(senderThrottles, throttle);
  else if (throttle.waiting) tx.update(senderThrottles, throttle, { waiting: false });
  // There are more old hand-overs to remove.
  await finish(tx, claim, hasRemovedAll ? {} : { againAt: tx.now });
}

/** Returns how many more hand-overs are allowed now. */
async function freeNow(tx: Tx, throttle: ThrottleRow): Promise<number> {
  const bound = Math.min(maxPerRun, ...boundsOf(throttle).map((each) => each.max));
  const times = await Promise.all(
    Array.from({ length: bound }, (_, ahead) => nextHandOverAt(tx, throttle, ahead)),
  );
  const first = times.findIndex((at) => at > tx.now);
  return first === -1 ? bound : first;
}

/** Removes hand-overs that the throttle no longer counts. Returns whether none is left. */
async function removeUncounted(tx: Tx, throttle: Seen<ThrottleRow>): Promise<boolean> {
  const { address, handed } = throttle;
  const oldest = await tx.list(senderHandOvers.primary, [address], maxPerRun);
  const past = oldest.filter(
    (row) => row.number < handed - countedHandOvers(throttle) && !isRecent(throttle, row, tx.now),
  );
  for (const row of past) tx.remove(senderHandOvers, row);
  return past.length < maxPerRun;
}
