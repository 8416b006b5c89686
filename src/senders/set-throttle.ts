import { arm, jobs } from "../queue/index.ts";
import { unscoped, type Tx } from "../store/index.ts";
import { throttleJob } from "./job-orders.ts";
import { senderThrottles, throttleByAddress, type SenderRow, type ThrottleRow } from "./rows.ts";
import { countedHandOvers, listWaitingLanes } from "./throttle.ts";

/**
 * Applies a sender's current limits from now on. Waiting jobs are checked against them at once. A
 * new throttle does not count earlier hand-overs.
 */
export async function setThrottle(tx: Tx, sender: SenderRow): Promise<void> {
  const { address, transport, messages_per_second, daily_cap } = sender;
  const limits = { messages_per_second, daily_cap };
  const known = await tx.get(throttleByAddress, [address]);
  if (known !== undefined) {
    // The sender was removed and added again with another transport.
    if (known.transport !== transport) await emptyWaitingLanes(tx, known);
    // The job removes the row when it has no limits and nothing waits.
    await arm(tx, throttleJob(tx.update(senderThrottles, known, { transport, ...limits }), tx.now));
  } else if (countedHandOvers(limits) > 0) {
    const unused = { handed: 0, last_at: tx.now, waiting: false };
    tx.insert(senderThrottles, { address, transport, ...limits, ...unused });
  }
}

/**
 * The maximum number of jobs of each class that are moved. Others run only when a message expires,
 * so this is more than wait for a sender. One transaction writes so many in about a second.
 */
const maxMoved = 50_000;

/**
 * Makes the jobs in a sender's waiting lanes due now. Jobs that must still wait then move to the
 * waiting lanes of the sender's new transport.
 */
async function emptyWaitingLanes(tx: Tx, throttle: ThrottleRow): Promise<void> {
  const lanes = await listWaitingLanes(tx, throttle, maxMoved);
  for (const job of lanes.flatMap(([, inLane]) => inLane)) {
    if (!job.leased) unscoped(tx).update(jobs, job, { due_at: tx.now });
  }
}
