/**
 * Throttles senders. Each hand-over of a throttled sender updates the sender's row, so that all
 * engines share the limits. A conversation that must wait moves its `send` job to the sender's
 * waiting lane of its class. The job is due there when its message expires. The `throttle` job
 * releases waiting jobs: they are picked by class (`pickByClass`), and in a class the earliest
 * expiry goes first. While jobs wait, no other hand-over goes before them.
 */
import {
  arm,
  type Claim,
  classOf,
  encodeLane,
  finish,
  type JobOrder,
  type JobRow,
  jobs,
  jobsByLane,
  type Lane,
  leaseMs,
  moveToUsualLane,
  currentLane,
  renew,
  type SendClass,
  sendClasses,
  pickByClass,
} from "../queue/index.ts";
import {
  handOverByNumber,
  senderHandOvers,
  type SenderRow,
  senderThrottles,
  throttleByAddress,
  type ThrottleRow,
} from "./rows.ts";
import type { Seen } from "../ports/index.ts";
import { type Tx, unscoped } from "../store/index.ts";
import { dayMs, type Scope } from "../kernel/index.ts";

/** The job that releases the jobs that wait for a sender. */
function throttleJob(
  { account_id, mode, address }: ThrottleRow,
  due_at: number,
): JobOrder<"throttle"> {
  return {
    kind: "throttle",
    key: { account_id, mode, address },
    account_id,
    mode,
    lane: { kind: "throttle", slow: false },
    due_at,
  };
}

/** The lane in which `send` jobs of a class wait for a sender. */
export function waitingLane(throttle: ThrottleRow, sendClass: SendClass): Lane<"send"> {
  return { ...sendLane(throttle, sendClass), waiting_for: throttle.address };
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

/** Prefetches what `checkThrottle` reads first. */
export function prefetchThrottle(tx: Tx, from: string): void {
  tx.prefetch(() => [{ index: throttleByAddress, key: [from] }]);
}

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
  const lane = waitingLane(throttle, classOf(present));
  const waits = encodeLane(present) === encodeLane(lane);
  if (at <= tx.now && (!throttle.waiting || waits)) return throttle;
  if (!throttle.waiting) tx.update(senderThrottles, throttle, { waiting: true });
  await arm(tx, throttleJob(throttle, Math.max(at, tx.now)));
  await finish(tx, claim, { againAt: await nextExpiry(), lane });
  return "wait";
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
 * Applies a sender's current limits from now on. Waiting jobs are checked against them at once. A
 * new throttle does not count earlier hand-overs.
 */
export async function setThrottle(tx: Tx, sender: SenderRow): Promise<void> {
  const { address, transport, messages_per_second, daily_cap } = sender;
  const limits = { messages_per_second, daily_cap };
  const known = await tx.get(throttleByAddress, [address]);
  if (known !== undefined) {
    // The job removes the row when it has no limits and nothing waits.
    await arm(tx, throttleJob(tx.update(senderThrottles, known, limits), tx.now));
  } else if (countedHandOvers(limits) > 0) {
    const unused = { handed: 0, last_at: tx.now, waiting: false };
    tx.insert(senderThrottles, { address, transport, ...limits, ...unused });
  }
}

/** The limits of a sender. Null for no limit. */
interface ThrottleLimits {
  readonly messages_per_second: number | null;
  readonly daily_cap: number | null;
}

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

/** The lane of the jobs of a class that hand messages to a transport. */
export function sendLane(
  { transport, account_id, mode }: Scope & { readonly transport: string | null },
  sendClass: SendClass,
): Lane<"send"> {
  // A message without a transport is never handed over.
  const remote = transport ?? "";
  const lane = { kind: "send", slow: false, remote, account_id, mode, waiting_for: null } as const;
  return { ...lane, class: sendClass };
}

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
  const lanes = await Promise.all(
    sendClasses.map(async (name) => {
      const lane = encodeLane(waitingLane(throttle, name));
      return [name, await unscoped(tx).list(jobsByLane, ["work", lane], 2 * maxPerRun)] as const;
    }),
  );
  const inLanes = lanes.flatMap(([, inLane]) => inLane);
  if (inLanes.length === 0) {
    if (countedHandOvers(throttle) === 0 && hasForgotten) tx.remove(senderThrottles, throttle);
    else if (throttle.waiting) tx.update(senderThrottles, throttle, { waiting: false });
    return finish(tx, claim, hasForgotten ? {} : { againAt: tx.now });
  }
  const isOut = ({ leased, due_at }: JobRow): boolean => leased || due_at <= tx.now;
  const out = inLanes.filter(isOut).length;
  const free = await freeNow(tx, throttle);
  const waiting = lanes.map(([name, jobs]) => [name, jobs.filter((job) => !isOut(job))] as const);
  // The picks are numbered like the hand-overs, so they continue across runs and engines.
  const next = pickByClass(new Map(waiting), throttle.handed + out, free - out);
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

/**
 * Whether a daily cap would count a hand-over if it were higher. It may be raised again within the
 * day.
 */
function isRecent(
  { daily_cap }: ThrottleRow,
  { at }: { readonly at: number },
  now: number,
): boolean {
  return daily_cap !== null && at + dayMs > now;
}

/** Removes hand-overs that the throttle no longer counts. Returns whether none is left. */
async function forget(tx: Tx, throttle: Seen<ThrottleRow>): Promise<boolean> {
  const { address, handed } = throttle;
  const oldest = await tx.list(senderHandOvers.primary, [address], maxPerRun);
  const past = oldest.filter(
    (row) => row.number < handed - countedHandOvers(throttle) && !isRecent(throttle, row, tx.now),
  );
  for (const row of past) tx.remove(senderHandOvers, row);
  return past.length < maxPerRun;
}
