import {
  type Claim,
  encodeLane,
  finish,
  type JobRow,
  jobs,
  jobsByLane,
  renew,
} from "../queue/index.ts";
import {
  boundsOf,
  looksBack,
  paceByAddress,
  type PaceRow,
  senderHandOvers,
  senderPaces,
  turnAt,
  waitingLane,
} from "../senders/index.ts";
import type { Seen } from "../ports/index.ts";
import { type Tx, unscoped } from "../store/index.ts";

/** Turns that one transaction gives, and old hand-overs that it forgets. */
const most = 100;
/** A turn that was given may not be taken: its message is canceled, or denied. Then it is another's, after so many milliseconds. */
const unusedMs = 1_000;

/** Lets as many conversations as may hand over now have their turn, and comes again when the next one may. */
export async function giveTurns(tx: Tx, claim: Claim<"throttle">, leaseMs: number): Promise<void> {
  if (!(await renew(tx, claim, leaseMs))) return;
  const pace = await tx.get(paceByAddress, [claim.key.address]);
  if (pace === undefined) return finish(tx, claim);

  const hasForgotten = await forget(tx, pace);
  const lane = encodeLane(waitingLane(pace));
  const inLane = await unscoped(tx).list(jobsByLane, ["work", lane], 2 * most);
  if (inLane.length === 0) {
    if (looksBack(pace) === 0 && hasForgotten) tx.remove(senderPaces, pace);
    else if (pace.waiting) tx.update(senderPaces, pace, { waiting: false });
    return finish(tx, claim, hasForgotten ? {} : { againAt: tx.now });
  }
  const isOut = ({ leased, due_at }: JobRow): boolean => leased || due_at <= tx.now;
  const out = inLane.filter(isOut).length;
  const free = await turnsNow(tx, pace);
  const next = inLane.filter((job) => !isOut(job)).slice(0, Math.max(0, free - out));
  for (const job of next) unscoped(tx).update(jobs, job, { due_at: tx.now });
  const later = await turnAt(tx, pace, free);
  const unused = out + next.length > 0 ? tx.now + unusedMs : Infinity;
  await finish(tx, claim, { againAt: Math.min(unused, Math.max(later, tx.now + 1)) });
}

/** How many more hand-overs may be now. */
async function turnsNow(tx: Tx, pace: PaceRow): Promise<number> {
  const bound = Math.min(most, ...boundsOf(pace).map((each) => each.most));
  const times = await Promise.all(
    Array.from({ length: bound }, (_, ahead) => turnAt(tx, pace, ahead)),
  );
  const first = times.findIndex((at) => at > tx.now);
  return first === -1 ? bound : first;
}

/** Hand-overs that the pace doesn't look back on any more since it was changed. Answers whether that is all. */
async function forget(tx: Tx, pace: Seen<PaceRow>): Promise<boolean> {
  const { address, handed } = pace;
  const oldest = await tx.list(senderHandOvers.primary, [address], most);
  const past = oldest.filter(({ number }) => number < handed - looksBack(pace));
  for (const row of past) tx.remove(senderHandOvers, row);
  return past.length < most;
}
