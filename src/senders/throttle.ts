/**
 * Throttles senders. Each hand-over of a throttled sender updates the sender's row, so that all
 * engines share the limits. A conversation that must wait moves its `send` job to the sender's
 * waiting lane of its class. The job is due there when its message expires. The `throttle` job
 * releases waiting jobs (`release-throttled.ts`): they are picked by class (`pickByClass`), and in
 * a class the earliest expiry goes first. While jobs wait, no other hand-over goes before them.
 */
import { dayMs } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import {
  arm,
  classOf,
  currentLane,
  encodeLane,
  finish,
  jobClasses,
  jobsByLane,
  moveToUsualLane,
  poolOf,
  waitingForOf,
  type Claim,
  type JobClass,
  type JobRow,
} from "../queue/index.ts";
import { unscoped, type Tx } from "../store/index.ts";
import { throttleJob, waitingLane } from "./job-orders.ts";
import {
  handOverByNumber,
  senderHandOvers,
  senderThrottles,
  throttleByAddress,
  type ThrottleRow,
} from "./rows.ts";

/**
 * Checks whether a message may be handed over now. Returns the sender's throttle row if it may, and
 * undefined if the sender is not throttled. Otherwise moves the job to the waiting lane and returns
 * `wait`. `nextExpiry` returns when the first of the conversation's messages expires: the job runs
 * then, even if it still waits.
 */
export async function checkThrottle(
  tx: Tx,
  claim: Claim<"send">,
  from: string,
  nextExpiry: () => Promise<number>,
): Promise<Seen<ThrottleRow> | "wait" | undefined> {
  const throttle = await tx.get(throttleByAddress, [from], { hold: true });
  if (throttle === undefined) return undefined;
  const at = await nextHandOverAt(tx, throttle);
  const present = await currentLane(tx, claim);
  // If a route leads to another transport than the sender's, the job may be in a lane of that one.
  const waits = waitingForOf(present) === from;
  if (at <= tx.now && (!throttle.waiting || waits)) return throttle;
  if (!throttle.waiting) tx.update(senderThrottles, throttle, { waiting: true });
  await arm(tx, throttleJob(throttle, Math.max(at, tx.now)));
  const lane = waitingLane(throttle, classOf(present));
  await finish(tx, claim, { againAt: await nextExpiry(), lane });
  return "wait";
}

/** Returns up to `max` jobs of each of a sender's waiting lanes, by class. */
export function listWaitingLanes(
  tx: Tx,
  throttle: ThrottleRow,
  max: number,
): Promise<(readonly [JobClass, readonly Seen<JobRow>[]])[]> {
  return Promise.all(
    jobClasses.map(async (name) => {
      const lane = waitingLane(throttle, name);
      const key = [poolOf(lane), encodeLane(lane)] as const;
      return [name, await unscoped(tx).list(jobsByLane, key, max)] as const;
    }),
  );
}

/**
 * Counts a hand-over and moves its job out of the waiting lane. A job in that lane stands for a
 * message that still waits.
 */
export async function recordHandOver(
  tx: Tx,
  claim: Claim<"send">,
  throttle: Seen<ThrottleRow>,
): Promise<void> {
  const { address, handed } = throttle;
  tx.insert(senderHandOvers, { address, number: handed, at: tx.now });
  tx.update(senderThrottles, throttle, { handed: handed + 1, last_at: tx.now });
  const uncounted = await tx.get(handOverByNumber, [address, handed - countedHandOvers(throttle)]);
  if (uncounted !== undefined && !isRecent(throttle, uncounted, tx.now)) {
    tx.remove(senderHandOvers, uncounted);
  }
  await moveToUsualLane(tx, claim);
}

/**
 * Returns when hand-over number `handed + ahead` may happen, in milliseconds. If the answer depends
 * on a future hand-over, this assumes that it happens now.
 *
 * A clock that was set back must first reach the time of the last hand-over again. A hand-over at
 * an earlier time would seem older than it is when the clock is set forward again, and the next
 * ones would exceed the limits. A clock that is only set forward cannot be told from time that has
 * passed.
 */
export async function nextHandOverAt(tx: Tx, throttle: ThrottleRow, ahead = 0): Promise<number> {
  const { address, handed, last_at } = throttle;
  const times = boundsOf(throttle).map(async ({ max, within }) => {
    const number = handed + ahead - max;
    if (number >= handed) return tx.now + within;
    const earlier = number < 0 ? undefined : await tx.get(handOverByNumber, [address, number]);
    return earlier === undefined ? 0 : earlier.at + within;
  });
  return Math.max(last_at, ...(await Promise.all(times)));
}

/** The limits of a sender. Null for no limit. */
type ThrottleLimits = Pick<ThrottleRow, "messages_per_second" | "daily_cap">;

/**
 * At most `max` hand-overs in any `within` milliseconds. Hand-over number `n` is within the bound
 * if it happens at least `within` ms after number `n - max`.
 */
interface Bound {
  readonly max: number;
  readonly within: number;
}

const secondMs = 1_000;

/**
 * A whole rate allows that many hand-overs per second. A fractional rate spaces single hand-overs.
 */
export function boundsOf({ messages_per_second: rate, daily_cap }: ThrottleLimits): Bound[] {
  const bounds: Bound[] = [];
  if (rate !== null) {
    const max = Number.isInteger(rate) ? rate : 1;
    bounds.push({ max, within: Math.ceil((max * secondMs) / rate) });
  }
  if (daily_cap !== null) bounds.push({ max: daily_cap, within: dayMs });
  return bounds;
}

/** How many of the last hand-overs the limits count. */
export function countedHandOvers(limits: ThrottleLimits): number {
  return Math.max(0, ...boundsOf(limits).map(({ max }) => max));
}

/**
 * Whether a daily cap would count a hand-over if it were higher. It may be raised again within the
 * day.
 */
export function isRecent(
  { daily_cap }: ThrottleRow,
  { at }: { readonly at: number },
  now: number,
): boolean {
  return daily_cap !== null && at + dayMs > now;
}
