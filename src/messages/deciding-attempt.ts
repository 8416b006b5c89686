/**
 * Which of a message's attempts decides its status.
 *
 * An attempt may still deliver the message unless its carrier refused it (`rejected`) or gave it up
 * (`undelivered`). While a later attempt may deliver it or is planned, the carrier's `undelivered`
 * of an earlier one does not end the message.
 */
import { isMessageRefused, maxTried } from "./choose-route.ts";
import { type AttemptRow, attemptsOfMessage, type MessageRow } from "./rows.ts";
import type { MessageStatus } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

/** An attempt on which a carrier reports, and its message. */
export interface Reported {
  readonly message: Seen<MessageRow>;
  readonly attempt: Seen<AttemptRow>;
}

/**
 * Returns the columns that name the carrier of a message after evidence of an attempt led to
 * `status`. They belong to the attempt that the status is based on, so they change with the status.
 * If the evidence is the first to tell that attempt's provider id, the id is added.
 */
export function carrierColumns(
  message: MessageRow,
  attempt: Pick<AttemptRow, "number" | "transport" | "provider_message_id">,
  status: MessageStatus,
): Partial<MessageRow> {
  const { number: basis, transport, provider_message_id } = attempt;
  if (status !== message.status) return { transport, provider_message_id, basis };
  const isOwn =
    message.carrier_state === null
      ? transport === message.transport
      : isDecidingAttempt(message, attempt);
  return isOwn && message.provider_message_id === null ? { provider_message_id } : {};
}

/** Whether a carrier has the message, and its status is based on the attempt. */
export function isDecidingAttempt(
  { carrier_state, basis, transport, provider_message_id }: MessageRow,
  attempt: Pick<AttemptRow, "number" | "transport" | "provider_message_id">,
): boolean {
  if (carrier_state === null) return false;
  if (basis !== null) return basis === attempt.number;
  // Rows of earlier versions name only the carrier and its id.
  return (
    transport === attempt.transport &&
    (provider_message_id ?? attempt.provider_message_id) === attempt.provider_message_id
  );
}

/**
 * Whether the message is sent only because of the attempt, or waits for a retry over the attempt's
 * transport.
 */
export function dependsOn(message: MessageRow, attempt: AttemptRow): boolean {
  const { status, transport } = message;
  if (isWaiting(message)) return transport === attempt.transport;
  return (status === "sent" || status === "unconfirmed") && isDecidingAttempt(message, attempt);
}

function isWaiting({ status }: MessageRow): boolean {
  return status === "queued" || status === "scheduled";
}

/** Whether it is certain that the carrier had the message. */
export function isProved({ outcome }: Pick<AttemptRow, "outcome">): boolean {
  return outcome === "accepted" || outcome === "undelivered";
}

/** Whether the message has gone on without the attempt, which its carrier gave up. */
export function isLeftBehind(message: MessageRow, attempt: AttemptRow): boolean {
  const isSent = message.status === "sent" || message.status === "unconfirmed";
  return attempt.outcome === "undelivered" && (isSent || !isDecidingAttempt(message, attempt));
}

/**
 * Whether no later attempt may deliver the message and none is planned over another transport. No
 * other transport gets a message that the attempt's carrier has refused itself.
 */
export async function isLastOpen(
  tx: Tx,
  message: MessageRow,
  attempt: AttemptRow,
): Promise<boolean> {
  const isPlannedOver = isWaiting(message) && message.transport !== attempt.transport;
  if (isPlannedOver && !isMessageRefused(attempt)) return false;
  const others = await otherAttempts(tx, message, attempt);
  return !others.some((each) => each.number > attempt.number && mayDeliver(each));
}

/** An attempt that may still deliver its message. */
export interface OpenAttempt extends Seen<AttemptRow> {
  readonly outcome: "accepted" | "pending" | "ambiguous";
}

export function mayDeliver(attempt: Seen<AttemptRow>): attempt is OpenAttempt {
  return attempt.outcome !== "rejected" && attempt.outcome !== "undelivered";
}

export function isAccepted(attempt: Seen<AttemptRow>): attempt is OpenAttempt {
  return attempt.outcome === "accepted";
}

/** Whether the call to the carrier may still go on. */
export function isPending(attempt: Seen<AttemptRow>): attempt is OpenAttempt {
  return attempt.outcome === "pending";
}

/** Returns the message's attempts except the given one, oldest first. */
export async function otherAttempts(
  tx: Tx,
  { id, attempts: count }: MessageRow,
  { number }: AttemptRow,
): Promise<readonly Seen<AttemptRow>[]> {
  if (count === 1) return [];
  const all = await tx.list(attemptsOfMessage, [id], maxTried);
  return all.filter((each) => each.number !== number);
}
