import {
  type Claim,
  encodeLane,
  finish,
  leaseMs,
  type JobRow,
  jobs,
  jobsByLane,
  renew,
} from "../queue/index.ts";
import { senderHandOvers, senderThrottles, throttleByAddress, type ThrottleRow } from "./rows.ts";
import { boundsOf, countedHandOvers, nextHandOverAt, waitingLane } from "./throttle.ts";
import type { Seen } from "../ports/index.ts";
import { type Tx, unscoped } from "../store/index.ts";

/** The maximum number of conversations released, and of old hand-overs removed, per transaction. */
const maxPerRun = 100;
/**
 * How long a released conversation may leave its hand-over unused, in milliseconds. Its message
 * may have been canceled or denied; then another conversation is released.
 */
const unusedMs = 1_000;

/**
 * Releases as many waiting conversations as the sender's throttle allows now, and reschedules
 * itself.
 */
export async function releaseThrottled(tx: Tx, claim: Claim<"throttle">): Promise<void> {
  if (!(await renew(tx, claim, leaseMs))) return;
  const throttle = await tx.get(throttleByAddress, [claim.key.address]);
  if (throttle === undefined) return finish(tx, claim);

  const hasForgotten = await forget(tx, throttle);
  const lane = encodeLane(waitingLane(throttle));
  const inLane = await unscoped(tx).list(jobsByLane, ["work", lane], 2 * maxPerRun);
  if (inLane.length === 0) {
    if (countedHandOvers(throttle) === 0 && hasForgotten) tx.remove(senderThrottles, throttle);
    else if (throttle.waiting) tx.update(senderThrottles, throttle, { waiting: false });
    return finish(tx, claim, hasForgotten ? {} : { againAt: tx.now });
  }
  const isOut = ({ leased, due_at }: JobRow): boolean => leased || due_at <= tx.now;
  const out = inLane.filter(isOut).length;
  const free = await freeNow(tx, throttle);
  const next = inLane.filter((job) => !isOut(job)).slice(0, Math.max(0, free - out));
  for (const job of next) unscoped(tx).update(jobs, job, { due_at: tx.now });
  const later = await nextHandOverAt(tx, throttle, free);
  const unused = out + next.length > 0 ? tx.now + unusedMs : Infinity;
  await finish(tx, claim, { againAt: Math.min(unused, Math.max(later, tx.now + 1)) });
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
async function forget(tx: Tx, throttle: Seen<ThrottleRow>): Promise<boolean> {
  const { address, handed } = throttle;
  const oldest = await tx.list(senderHandOvers.primary, [address], maxPerRun);
  const past = oldest.filter(({ number }) => number < handed - countedHandOvers(throttle));
  for (const row of past) tx.remove(senderHandOvers, row);
  return past.length < maxPerRun;
}
