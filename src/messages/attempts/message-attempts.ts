/**
 * What the attempts of a message mean for it: which of them decides its status, and which may still
 * deliver it.
 *
 * An attempt may still deliver the message unless its carrier refused it (`rejected`) or gave it up
 * (`undelivered`). While a later attempt may deliver it or is planned, the carrier's `undelivered`
 * of an earlier one does not end the message.
 */
import type { MessageStatus } from "../../kernel/index.ts";
import type { Seen } from "../../ports/index.ts";
import type { Tx } from "../../store/index.ts";
import type { Evidence } from "../carrier-state.ts";
import { isTransportError } from "../routes/route-rules.ts";
import { attemptsOfMessage, type AttemptRow, type MessageRow } from "../rows.ts";
import { isArrived, isWaiting } from "../rules.ts";

/** A message, and one of its attempts. */
export interface MessageAndAttempt {
  readonly message: Seen<MessageRow>;
  readonly attempt: Seen<AttemptRow>;
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

/** Whether it is certain that the carrier had the message. */
export function reachedCarrier({ outcome }: Pick<AttemptRow, "outcome">): boolean {
  return outcome === "accepted" || outcome === "undelivered";
}

/**
 * Whether a carrier refused an attempt, or gave it up, because of the recipient or the message, for
 * good or for now.
 */
export function isMessageRefused({
  outcome,
  error,
  reported_error,
}: Pick<AttemptRow, "outcome" | "error" | "reported_error">): boolean {
  const reason = outcome === "undelivered" ? (reported_error ?? error) : error;
  const isRefused = outcome === "rejected" || outcome === "undelivered";
  return isRefused && reason !== null && !isTransportError(reason.code);
}

/** Higher than the number of attempts of any message. */
const maxRead = 100;

/** Returns the message's attempts, oldest first, without `except`. */
export async function listAttempts(
  tx: Tx,
  { id, attempts: count }: MessageRow,
  except?: AttemptRow,
): Promise<readonly Seen<AttemptRow>[]> {
  if (count === 0 || (count === 1 && except !== undefined)) return [];
  const all = await tx.list(attemptsOfMessage, [id], maxRead);
  return except === undefined ? all : all.filter(({ number }) => number !== except.number);
}

/** Whether a carrier may have the message: not every attempt was refused. */
export async function mayBeWithCarrier(tx: Tx, message: MessageRow): Promise<boolean> {
  const all = await listAttempts(tx, message);
  return all.some(({ outcome }) => outcome !== "rejected");
}

/**
 * Whether a later attempt may deliver the message, or one over another transport is planned. No
 * other transport gets a message that the attempt's carrier has refused itself.
 */
export async function mayDeliverLater(
  tx: Tx,
  message: MessageRow,
  attempt: AttemptRow,
): Promise<boolean> {
  const isPlannedOver = isWaiting(message) && message.transport !== attempt.transport;
  if (isPlannedOver && !isMessageRefused(attempt)) return true;
  const others = await listAttempts(tx, message, attempt);
  return others.some((each) => each.number > attempt.number && mayDeliver(each));
}

/** Whether a carrier has the message, and its status is based on the attempt. */
export function isDecidingAttempt(
  { carrier_state, basis }: MessageRow,
  { number }: Pick<AttemptRow, "number">,
): boolean {
  return carrier_state !== null && basis === number;
}

/**
 * Whether the message is sent only because of the attempt, or waits for a retry over the attempt's
 * transport.
 */
export function dependsOn(message: MessageRow, attempt: AttemptRow): boolean {
  if (isWaiting(message)) return message.transport === attempt.transport;
  return isSent(message) && isDecidingAttempt(message, attempt);
}

/** Whether the message has gone on without the attempt, which its carrier gave up. */
export function hasGoneOnWithout(message: MessageRow, attempt: AttemptRow): boolean {
  const isGivenUp = attempt.outcome === "undelivered";
  return isGivenUp && (isSent(message) || !isDecidingAttempt(message, attempt));
}

/**
 * Whether evidence of the attempt no longer counts, because the message has gone on without it.
 * Proof that the message arrived always counts.
 */
export function isOutdated({ message, attempt }: MessageAndAttempt, { status }: Evidence): boolean {
  return !isArrived(status) && hasGoneOnWithout(message, attempt);
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

function isSent({ status }: MessageRow): boolean {
  return status === "sent" || status === "unconfirmed";
}
