import { arm, type Claim, finish, leaseMs, moveToUsualLane, renew } from "../queue/index.ts";
import { type AttemptRow, attempts, attemptsOfMessage, type MessageRow, outbox } from "./rows.ts";
import { type GenerateId, mediumOf } from "../kernel/index.ts";
import { sendAgain, applyLostAnswer } from "./attempt-rules.ts";
import { applyEvidence, expire, expired, handOver, type MessageState } from "./rules.ts";
import { stateOf, moveAndRecord, moveMessage, writeTimeline } from "./move.ts";
import { decisionOf } from "../consents/index.ts";
import type { Services } from "../operations/index.ts";
import {
  type HostVerdicts,
  type ScopedColumns,
  type Seen,
  StorageConflict,
} from "../ports/index.ts";
import type { Evidence } from "./carrier-state.ts";
import type { Tx } from "../store/index.ts";
import { holdAddressee } from "../contacts/index.ts";
import { findNext } from "./choose-route.ts";
import { followUpJob } from "./send-jobs.ts";
import { isProved, type Reported } from "./deciding-attempt.ts";
import { denyOrDefer, isErased, checkQueued } from "./check-queued.ts";
import { recordHandOver, checkThrottle } from "../senders/index.ts";
import { endQueued, type HandedOver, settleAttempt } from "./record-answer.ts";

/** The maximum number of messages of a conversation that one transaction reads or settles. */
const maxScanned = 50;

interface HandOverOptions {
  readonly services: Services;
  readonly hostVerdicts: HostVerdicts;
  /** Whether this run hands over nothing more. The conversation then waits for its next run. */
  readonly isOver: boolean;
}

/**
 * Records an attempt for the next message of a conversation. The caller calls the carrier after the
 * commit. Without a message to send, the job ends, or waits until the next message is due.
 *
 * The same transaction renews the claim, so an engine that lost the claim hands nothing over.
 */
export async function handOverMessage(
  tx: Tx,
  claim: Claim<"send">,
  options: HandOverOptions,
): Promise<HandedOver | undefined> {
  const { services, isOver } = options;
  const { conversation_id } = claim.key;
  tx.prefetch(() => [{ index: outbox, key: [conversation_id], limit: 2 }]);
  if (!(await renew(tx, claim, leaseMs))) return undefined;
  let last: Seen<MessageRow> | undefined;
  for (let scanned = 0; !isOver && scanned < maxScanned; scanned++) {
    const [message, behind] = await tx.list(outbox, [conversation_id], 2);
    if (message === undefined) {
      await finish(tx, claim);
      return undefined;
    }
    // Each round changes the first message or its status. Without this check, a mistake there would
    // let the job run again at once, without end.
    if (message.id === last?.id && message.status === last.status) {
      throw new TypeError(`message ${message.id} keeps status ${message.status} in the outbox`);
    }
    last = message;
    if (needsMissingTransport(message, services, tx.now)) {
      await waitForTransport(tx, claim, options);
      return undefined;
    }
    if (message.status === "sending") {
      await recordLostAnswer(tx, services, message);
      continue;
    }
    const decision = handOver(stateOf(message), tx.now);
    switch (decision.decision) {
      case "expired":
        await settleWaiting(tx, claim, options);
        continue;
      case "wait": {
        const firstExpiry = await settleWaiting(tx, claim, options);
        await finish(tx, claim, { againAt: Math.min(decision.until, firstExpiry) });
        return undefined;
      }
      case "send": {
        const begun = await beginAttempt(tx, claim, message, decision.state, options);
        if (begun === "not sent") continue;
        // If the sender is throttled, `checkThrottle` has finished the job.
        if (begun === "throttled") return undefined;
        return { ...begun, isLast: behind === undefined };
      }
      case "none":
        throw new TypeError(
          `message ${message.id} is in the outbox but has status ${message.status}`,
        );
    }
  }
  await finish(tx, claim, { againAt: tx.now });
  return undefined;
}

/**
 * Begins an attempt unless the sender is throttled. A message that must not be sent now is
 * canceled, failed or deferred instead, and no longer blocks its conversation.
 */
async function beginAttempt(
  tx: Tx,
  claim: Claim<"send">,
  message: Seen<MessageRow>,
  state: MessageState,
  options: HandOverOptions,
): Promise<Reported | "throttled" | "not sent"> {
  const { services, hostVerdicts } = options;
  const { drawId, secret } = services;
  const [throttle, addressee] = await Promise.all([
    checkThrottle(tx, claim, message.from, () => settleWaiting(tx, claim, options)),
    holdAddressee(tx, secret, mediumOf(message.channel), message.to),
  ]);
  if (throttle === "wait") return "throttled";
  // A message without a body was redacted while it was ambiguous. It must not be sent, and neither
  // must a message to an erased contact.
  if (message.body === null || (await isErased(tx, message, addressee))) {
    await moveAndRecord(tx, drawId, message, { status: "canceled" });
    return "not sent";
  }
  const verdicts = await checkQueued(tx, { services, hostVerdicts }, message, addressee);
  const decision = decisionOf(verdicts);
  if (decision.verdict !== "allow") {
    await denyOrDefer(tx, services, message, decision);
    return "not sent";
  }
  if (throttle !== undefined) await recordHandOver(tx, claim, throttle);
  // An earlier message waited for another sender. In that sender's lane, the job would count as one
  // that uses its throttle.
  else if (claim.lane.waiting_for !== null) await moveToUsualLane(tx, claim);
  const sending = await moveMessage(tx, drawId, message, state);
  const attempt = tx.insert(attempts, attemptOf(sending, drawId, tx.now));
  return { message: sending, attempt };
}

/**
 * Settles those among the first messages of a conversation that need no carrier: ends the expired
 * ones and records lost answers, also behind a message that waits longer. A message that was
 * scheduled can be released before one that is being sent, and a crash then leaves that one behind
 * it. Returns when the next of the others expires, or Infinity.
 */
async function settleWaiting(
  tx: Tx,
  { key: { conversation_id } }: Claim<"send">,
  { services }: HandOverOptions,
): Promise<number> {
  let firstExpiry = Infinity;
  for (const listed of await tx.list(outbox, [conversation_id], maxScanned)) {
    const isLost = listed.status === "sending" && !needsMissingTransport(listed, services, tx.now);
    const message = isLost ? await recordLostAnswer(tx, services, listed) : listed;
    if (expire(stateOf(message), tx.now).decision === "expired") {
      await expireQueued(tx, services, message);
    } else if (message.status === "queued" || message.status === "sending") {
      firstExpiry = Math.min(firstExpiry, message.expires_at ?? Infinity);
    }
  }
  return firstExpiry;
}

async function expireQueued(tx: Tx, services: Services, message: Seen<MessageRow>): Promise<void> {
  const updated = await endQueued(tx, services, message, expired);
  writeTimeline(tx, services.drawId, message, updated, null);
}

/**
 * Records that the answer to a message's last attempt is lost. This engine holds the claim, so the
 * engine that made the attempt has stopped or stalled.
 */
async function recordLostAnswer(
  tx: Tx,
  services: Services,
  message: Seen<MessageRow>,
): Promise<Seen<MessageRow>> {
  const attempt = await tx.get(attemptsOfMessage, [message.id, message.attempts]);
  // The reads of a command may be from different moments, and an erasure removes both rows.
  if (attempt === undefined) {
    throw new StorageConflict(`message ${message.id} has status sending but no attempt`);
  }
  const decision = applyLostAnswer(stateOf(message), attempt.number);
  if (decision.decision === "none") {
    throw new TypeError(
      `message ${message.id} has status ${message.status} and waits for no answer`,
    );
  }
  if (isProved(attempt)) {
    // An engine of an earlier version could store the proof without changing the message. Proof
    // outranks a lost answer, so the message gets the status that the proof gives it.
    const { started_at: at, reported_error: error } = attempt;
    const evidence: Evidence =
      error === null ? { status: "sent", at, error } : { status: "undelivered", at, error };
    const { state } = applyEvidence(stateOf(message), evidence);
    await arm(tx, followUpJob(attempt, tx.now));
    return moveAndRecord(tx, services.drawId, message, state);
  }
  const answer = { outcome: "ambiguous", error: decision.state.error, not_before: null } as const;
  const next = await findNext(tx, services, message, attempt, answer);
  const retry = next?.next === "on" ? next : undefined;
  const state = retry === undefined ? decision.state : sendAgain(decision.state, retry.at).state;
  const settlement = { state, answer, next: retry };
  const settled = await settleAttempt(tx, services, { message, attempt }, settlement);
  return settled.message;
}

function attemptOf(
  message: Seen<MessageRow>,
  drawId: GenerateId,
  now: number,
): ScopedColumns<AttemptRow> {
  const { id: message_id, transport } = message;
  return {
    id: drawId("att"),
    message_id,
    number: message.attempts,
    transport: transport ?? "",
    started_at: now,
    leased_until: now + leaseMs,
    outcome: "pending",
    answered_at: null,
    answer_id: null,
    message_version: message.version,
    answer_version: null,
    provider_message_id: null,
    error: null,
    reported_error: null,
    not_before: null,
    next_attempt_at: null,
    led_to: null,
    lookups: 0,
  };
}

/**
 * Whether a message needs a transport that this engine does not have. After its expiry it needs
 * none: it is not sent again, so any engine can expire it or record that its answer is lost.
 */
function needsMissingTransport(
  { transport, expires_at }: MessageRow,
  { factsByTransport }: Services,
  now: number,
): boolean {
  if (transport === null || factsByTransport.has(transport)) return false;
  return (expires_at ?? Infinity) > now;
}

/** How long a job is left to engines that have its transport, in milliseconds. */
export const waitForTransportMs = 30_000;

/**
 * Leaves a conversation to other engines, because this one lacks the transport of its next message.
 * No attempt begins. An attempt counts as lost, and a message expires, only past `expires_at`.
 */
async function waitForTransport(
  tx: Tx,
  claim: Claim<"send">,
  options: HandOverOptions,
): Promise<void> {
  const firstExpiry = await settleWaiting(tx, claim, options);
  await finish(tx, claim, { againAt: Math.min(tx.now + waitForTransportMs, firstExpiry) });
}
