import type { DrawId } from "../kernel/index.ts";
import { arm, disarm } from "../queue/index.ts";
import { attemptById, type AttemptRow, attempts, type MessageRow } from "./rows.ts";
import { goneOn } from "./rules.ts";
import type { MessageError } from "./types.ts";
import type { Services } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { findNext, handedOn } from "./choose-route.ts";
import { moveMessage } from "./move.ts";
import { followUpJob, sendJob } from "./send-jobs.ts";

/** What was known of its carriage is of an attempt that nobody counts on any more. */
const notCarried = { carriage: null, sent_at: null, delivered_at: null, read_at: null } as const;

/** The message went on from this attempt though the carrier had taken it: a receipt said that it gave up. */
export function isGivenUp({ outcome, next_attempt_at }: AttemptRow): boolean {
  return outcome === "accepted" && next_attempt_at !== null;
}

/** The message has been handed on to another transport, whose attempt is yet to come. */
export function isHandedOn({ status, transport }: MessageRow, attempt: AttemptRow): boolean {
  return status === "queued" && transport !== attempt.transport;
}

/**
 * Sends a message on that its carrier gave up, by the last attempt, where the host wants that and there is another transport. Undefined:
 * it stays with the carrier.
 */
export async function fallBack(
  tx: Tx,
  services: Services,
  drawId: DrawId,
  message: Seen<MessageRow>,
  attempt: AttemptRow,
  error: MessageError,
): Promise<Seen<MessageRow> | undefined> {
  const { status, expires_at, attempts: made } = message;
  const isUnderway =
    status === "sending" || status === "ambiguous" || status === "sent" || status === "unconfirmed";
  if (!isUnderway || expires_at === null || expires_at <= tx.now || attempt.number !== made) {
    return undefined;
  }
  const next = await findNext(tx, services, message, attempt, {
    outcome: "accepted",
    error,
    not_before: null,
  });
  const row = next?.next === "on" ? await tx.get(attemptById, [attempt.id]) : undefined;
  if (next?.next !== "on" || row === undefined) return undefined;
  tx.update(attempts, row, { outcome: "accepted", error, next_attempt_at: next.at });
  await disarm(tx, followUpJob(row, tx.now));
  const { state } = goneOn({ attempts: made, expires_at }, next.at);
  const moved = await moveMessage(tx, drawId, message, state, {
    ...notCarried,
    ...handedOn(message, next),
  });
  await arm(tx, sendJob(moved, next.at));
  return moved;
}
