/**
 * Which of a message's attempts decides its status.
 *
 * An attempt may still deliver the message unless its carrier refused it (`rejected`) or gave it up
 * (`undelivered`). While a later attempt may deliver it or is planned, the carrier's `undelivered`
 * of an earlier one does not end the message.
 */
import { answerLost, retryAt, sendAgain } from "./attempt-rules.ts";
import { type AttemptFailure, findNext, isMessageRefused, maxTried } from "./choose-route.ts";
import { join } from "./carrier-state.ts";
import { firstFollowUpAt } from "./follow-up-times.ts";
import { moveMessage } from "./move.ts";
import type { Services } from "../operations/index.ts";
import { arm, disarm } from "../queue/index.ts";
import { type AttemptRow, attempts, attemptsOfMessage, type MessageRow } from "./rows.ts";
import { followUpJob, sendJob } from "./send-jobs.ts";
import type { Next } from "./route-rules.ts";
import { endOf, type MessageState } from "./rules.ts";
import type { MessageError, MessageStatus } from "./types.ts";
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
    message.carrier_state === null ? transport === message.transport : isBasis(message, attempt);
  return isOwn && message.provider_message_id === null ? { provider_message_id } : {};
}

/** Whether the status of a message that a carrier has is based on the attempt. */
export function isBasis(
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
  return (status === "sent" || status === "unconfirmed") && isBasis(message, attempt);
}

function isWaiting({ status }: MessageRow): boolean {
  return status === "queued" || status === "scheduled";
}

/** Whether it is certain that the carrier had the message. */
export function isProved({ outcome }: Pick<AttemptRow, "outcome">): boolean {
  return outcome === "accepted" || outcome === "undelivered";
}

/**
 * Whether the carrier has given the attempt up and the message does not depend on it any more.
 */
export function isGivenUp(message: MessageRow, attempt: AttemptRow): boolean {
  const isSent = message.status === "sent" || message.status === "unconfirmed";
  return attempt.outcome === "undelivered" && (isSent || !isBasis(message, attempt));
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

function mayDeliver({ outcome }: AttemptRow): boolean {
  return outcome !== "rejected" && outcome !== "undelivered";
}

async function otherAttempts(
  tx: Tx,
  { id, attempts: count }: MessageRow,
  { number }: AttemptRow,
): Promise<readonly Seen<AttemptRow>[]> {
  if (count === 1) return [];
  const all = await tx.list(attemptsOfMessage, [id], maxTried);
  return all.filter((each) => each.number !== number);
}

/** The columns that clear the evidence of an attempt that the message no longer depends on. */
const noCarrierState = {
  carrier_state: null,
  sent_at: null,
  delivered_at: null,
  read_at: null,
} as const;

/** A next attempt. */
type Planned = Extract<Next, { next: "on" }>;

/**
 * Continues a message whose carrier has given up the attempt that the status depends on. The later
 * attempts decide the status now, as if that attempt had been given up before they began. If none
 * of them was accepted or is under way, the next attempt is planned. Returns undefined if there is
 * no next attempt, or if the message had ended before.
 */
export async function continueMessage(
  tx: Tx,
  services: Services,
  { message, attempt }: Reported,
  error: MessageError,
): Promise<Reported | undefined> {
  // The host application may have sent the message anew, or it was canceled.
  if (endOf(message.status, message.ended_as) !== null) return undefined;
  const others = await otherAttempts(tx, message, attempt);
  const later = others.filter(({ number }) => number > attempt.number);
  const open = later.filter(mayDeliver);
  const sent = open.findLast(({ outcome }) => outcome === "accepted");
  const last = later.at(-1);
  let next: Planned | undefined;
  if (last === undefined) {
    const failure = { outcome: "undelivered", error, not_before: null } as const;
    next = await nextAfterFailure(tx, services, message, attempt, failure, tx.now);
  } else if (sent === undefined && last.outcome !== "pending") {
    next = await nextAfterFailure(tx, services, message, last, last, last.answered_at ?? tx.now);
  }
  // A message that an earlier attempt has sent is not sent again.
  const earlier =
    next === undefined ? undefined : others.findLast(({ outcome }) => outcome === "accepted");
  if (earlier !== undefined) next = undefined;
  const deciding = earlier ?? sent ?? open.at(-1);
  const state = next === undefined ? stateOver(message, deciding) : queuedFor(message, next);
  if (state === undefined) return undefined;

  await disarm(tx, { kind: "follow-up", key: { attempt_id: attempt.id } });
  const { transport, provider_message_id } =
    next === undefined ? (deciding ?? attempt) : { ...next, provider_message_id: null };
  const basis = next === undefined ? (deciding?.number ?? null) : null;
  const columns = { ...noCarrierState, transport, provider_message_id, basis };
  const updated = await moveMessage(tx, services.drawId, message, state, columns);
  if (next !== undefined) {
    await arm(tx, sendJob(updated, next.at));
    const changes = { next_attempt_at: next.at };
    if (last !== undefined) tx.update(attempts, last, changes);
    else return { message: updated, attempt: tx.update(attempts, attempt, changes) };
  } else if (updated.status === "sending") {
    // The engine that made the call may have stopped. The job then records the lost answer.
    await arm(tx, sendJob(updated, tx.now));
  }
  await followUpAll(tx, services, updated, others);
  return { message: updated, attempt };
}

/** Returns what follows an attempt that failed, if it can follow within the time to live. */
async function nextAfterFailure(
  tx: Tx,
  services: Services,
  message: MessageRow,
  last: AttemptRow,
  failure: AttemptFailure,
  at: number,
): Promise<Planned | undefined> {
  const { body, expires_at } = message;
  if (body === null || expires_at === null) return undefined;
  const next = await findNext(tx, services, message, last, failure, at);
  const again = next ?? retryOver(last, failure, at, tx.now);
  return again?.next === "on" && again.at < expires_at ? again : undefined;
}

/** Returns the next attempt over the same transport after a refusal. */
function retryOver(
  { number, transport }: AttemptRow,
  { outcome, error, not_before }: AttemptFailure,
  at: number,
  now: number,
): Planned | undefined {
  if (outcome !== "rejected" || error?.permanent === true) return undefined;
  const due = not_before ?? retryAt(number, undefined, at);
  return due === null ? undefined : { next: "on", transport, at: Math.max(due, now) };
}

function queuedFor({ attempts: made, expires_at }: MessageRow, { at }: Planned): MessageState {
  return sendAgain({ attempts: made, expires_at: expires_at ?? Infinity }, at).state;
}

/** Returns the state of a message that depends on the attempt `deciding`, if there is one. */
function stateOver(
  { attempts: made, expires_at: ends_at }: MessageRow,
  deciding: AttemptRow | undefined,
): MessageState | undefined {
  const expires_at = ends_at ?? Infinity;
  switch (deciding?.outcome) {
    case "accepted": {
      const at = deciding.answered_at ?? deciding.started_at;
      return join(null, { status: "sent", at, error: null }).state;
    }
    case "pending":
      return { status: "sending", expires_at, attempts: made };
    case "ambiguous":
      return {
        status: "ambiguous",
        expires_at,
        attempts: made,
        error: deciding.error ?? answerLost,
      };
    default:
      return undefined;
  }
}

/** Schedules the follow-ups that the attempts need with the present status of their message. */
async function followUpAll(
  tx: Tx,
  { factsByTransport }: Services,
  message: MessageRow,
  made: readonly AttemptRow[],
): Promise<void> {
  for (const each of made) {
    const at = firstFollowUpAt(each, message, factsByTransport, tx.now);
    if (at !== undefined) await arm(tx, followUpJob(each, at));
  }
}
