/**
 * A paced sender's hand-overs are counted in its row, which each of them writes, so that engines keep the pace together. A conversation that
 * has to wait leaves its slot: its job goes to a lane of the sender's, due when its message expires, and the pace's job gives the turns,
 * first to what expires first. While some wait nobody goes past them.
 */
import {
  arm,
  type Claim,
  finish,
  isInLane,
  type JobOrder,
  type Lane,
  moveToUsualLane,
} from "../queue/index.ts";
import { boundsOf, looksBack } from "./throttle-rules.ts";
import {
  handOverByNumber,
  paceByAddress,
  type PaceRow,
  senderHandOvers,
  senderPaces,
  type SenderRow,
} from "./rows.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { sendLane } from "./send-lane.ts";

/** Gives those that wait for a sender their turns. */
export function throttleJob(
  { account_id, mode, address }: PaceRow,
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

/** Where jobs wait for a sender. */
export function waitingLane({ account_id, mode, address, transport }: PaceRow): Lane<"send"> {
  return { ...sendLane({ account_id, mode, transport }), waiting_for: address };
}

/**
 * When hand-over number `handed + ahead` may be, in milliseconds; 0: at any time. Where that depends on one that is yet to come, no sooner than
 * if that came now.
 */
export async function turnAt(tx: Tx, pace: PaceRow, ahead = 0): Promise<number> {
  const { address, handed } = pace;
  const times = boundsOf(pace).map(async ({ most, within }) => {
    const number = handed + ahead - most;
    if (number >= handed) return tx.now + within;
    const before = number < 0 ? undefined : await tx.get(handOverByNumber, [address, number]);
    return before === undefined ? 0 : before.at + within;
  });
  return Math.max(0, ...(await Promise.all(times)));
}

/** The pace that a message has to keep whose turn it is; undefined where its sender keeps none. `wait`: it is not, and its job waits. */
export async function turnOf(
  tx: Tx,
  claim: Claim<"send">,
  message: { readonly from: string; readonly expires_at: number | null },
): Promise<Seen<PaceRow> | "wait" | undefined> {
  const { from, expires_at } = message;
  const pace = await tx.get(paceByAddress, [from], { hold: true });
  if (pace === undefined) return undefined;
  const lane = waitingLane(pace);
  const at = await turnAt(tx, pace);
  if (at <= tx.now && (!pace.waiting || (await isInLane(tx, claim, lane)))) return pace;
  if (!pace.waiting) tx.update(senderPaces, pace, { waiting: true });
  await arm(tx, throttleJob(pace, Math.max(at, tx.now)));
  await finish(tx, claim, { againAt: expires_at ?? tx.now, lane });
  return "wait";
}

/** Counts a hand-over, and takes its job out of the sender's lane: there it would stand for one that has yet to go. */
export async function takeTurn(tx: Tx, claim: Claim<"send">, pace: Seen<PaceRow>): Promise<void> {
  const { address, handed } = pace;
  // A clock that steps back must not make room.
  const at = Math.max(tx.now, pace.last_at);
  tx.insert(senderHandOvers, { address, number: handed, at });
  tx.update(senderPaces, pace, { handed: handed + 1, last_at: at });
  const past = await tx.get(handOverByNumber, [address, handed - looksBack(pace)]);
  if (past !== undefined) tx.remove(senderHandOvers, past);
  await moveToUsualLane(tx, claim);
}

/** Lets a sender keep the pace that it has from now on, or none. What waits hears of it at once; hand-overs are counted from here on. */
export async function setPace(tx: Tx, sender: SenderRow): Promise<void> {
  const { address, transport, messages_per_second, daily_cap } = sender;
  const pace = { messages_per_second, daily_cap };
  const known = await tx.get(paceByAddress, [address]);
  if (known !== undefined) {
    // Its job removes it when nothing is left to be paced.
    await arm(tx, throttleJob(tx.update(senderPaces, known, pace), tx.now));
  } else if (looksBack(pace) > 0) {
    const never = { handed: 0, last_at: 0, waiting: false };
    tx.insert(senderPaces, { address, transport, ...pace, ...never });
  }
}
