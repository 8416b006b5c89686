import { setConsent } from "../../contacts/index.ts";
import { iso, mediumOf } from "../../kernel/index.ts";
import type { Services } from "../../operations/index.ts";
import type { Receipt, Seen } from "../../ports/index.ts";
import { arm, disarm } from "../../queue/index.ts";
import { unscoped, type Tx } from "../../store/index.ts";
import { evidenceOf, withValidTime } from "../attempts/attempt-rules.ts";
import { continueMessage } from "../attempts/continue-message.ts";
import { nextFollowUpAt } from "../attempts/follow-up-times.ts";
import {
  carrierColumns,
  dependsOn,
  isDecidingAttempt,
  isMessageRefused,
  isOutdated,
  mayDeliverLater,
  reachedCarrier,
  type MessageAndAttempt,
} from "../attempts/message-attempts.ts";
import type { Evidence } from "../carrier-state.ts";
import { followUpJob } from "../job-orders.ts";
import { isTransportError } from "../routes/route-rules.ts";
import {
  attemptByProviderId,
  attempts,
  earlyReceipts,
  earlyReceiptsOf,
  messages,
  type AttemptRow,
  type MessageRow,
} from "../rows.ts";
import { applyEvidence } from "../rules.ts";
import { stateOf } from "../stored-state.ts";
import type { IgnoredReason } from "../timeline/timeline-types.ts";
import type { MessageError } from "../types.ts";
import { writeState, writeTimeline } from "../write-state.ts";

/**
 * Applies receipts in the order in which they arrived, and writes each to the timeline even if it
 * changed nothing.
 */
export async function applyReceipts(
  tx: Tx,
  services: Services,
  pair: MessageAndAttempt,
  receipts: readonly Receipt[],
): Promise<MessageAndAttempt> {
  let updated = pair;
  for (const receipt of receipts) updated = await applyReceipt(tx, services, updated, receipt);
  return updated;
}

async function applyReceipt(
  tx: Tx,
  services: Services,
  pair: MessageAndAttempt,
  receipt: Receipt,
): Promise<MessageAndAttempt> {
  const evidence = evidenceOf(withValidTime(receipt, tx.now));
  // Asked first, because storing the evidence can give the attempt up.
  const isIgnored = isOutdated(pair, evidence);
  const known = await storeEvidence(tx, services, pair, evidence);
  const { ignored_reason, ...joined }: Joined = isIgnored
    ? { ...known, ignored_reason: "superseded" }
    : await joinEvidence(tx, services, known, evidence);
  const updated = { ...joined, message: withMessageWritten(tx, pair, joined) };
  const { message, attempt } = updated;
  writeTimeline(tx, pair.message, message, {
    type: "receipt",
    at: iso(tx.now),
    carrier_at: iso(evidence.at),
    status: receipt.status,
    provider_message_id: attempt.provider_message_id,
    error: evidence.error,
    applied: ignored_reason === null,
    ignored_reason,
  });
  // Later receipts still count as evidence, but no look-up needs to wait for them.
  if (isFinal(message)) await disarm(tx, { kind: "follow-up", key: { attempt_id: attempt.id } });
  return updated;
}

/**
 * Writes the message if a receipt changed only its attempt. A command that chooses the next attempt
 * reads the earlier ones and writes the message. So the two conflict: one of them runs again, and
 * sees what the other has written.
 */
function withMessageWritten(
  tx: Tx,
  before: MessageAndAttempt,
  after: MessageAndAttempt,
): Seen<MessageRow> {
  const isOnlyAttempt = after.message === before.message && after.attempt !== before.attempt;
  return isOnlyAttempt ? tx.touch(messages, after.message) : after.message;
}

/**
 * Stores with an attempt what a receipt proves of it, whether or not the receipt counts for the
 * message. It outranks the answer to the attempt: the carrier had the message.
 */
async function storeEvidence(
  tx: Tx,
  services: Services,
  pair: MessageAndAttempt,
  { error }: Evidence,
): Promise<MessageAndAttempt> {
  const { message, attempt } = pair;
  await recordCarrierOptOut(tx, services, pair, error);
  if (error === null) {
    const isNews = !reachedCarrier(attempt);
    return isNews ? { message, attempt: tx.update(attempts, attempt, accepted) } : pair;
  }
  // The timeline shows the error of the answer. An opt-out must show that it is recorded.
  const reason = attempt.error === null || isOptOut(error) ? error : attempt.error;
  // Once a carrier has refused the message itself, no later report takes that back.
  const known = isMessageRefused(attempt) ? (attempt.reported_error ?? attempt.error) : null;
  const reported_error = known !== null && isTransportError(error.code) ? known : error;
  const undelivered = { outcome: "undelivered", error: reason, reported_error } as const;
  return { message, attempt: tx.update(attempts, attempt, undelivered) };
}

const accepted = { outcome: "accepted" } as const;

/** A message and its attempt after evidence. */
interface Joined extends MessageAndAttempt {
  /** Why the evidence changed nothing. Null if it counted. */
  readonly ignored_reason: IgnoredReason | null;
}

/**
 * Adds evidence of an attempt to the state of its message. The attempt has the evidence already,
 * and the evidence is not outdated.
 */
export async function joinEvidence(
  tx: Tx,
  services: Services,
  pair: MessageAndAttempt,
  evidence: Evidence,
): Promise<Joined> {
  const { message, attempt } = pair;
  if (evidence.status === "undelivered" && (await mayDeliverLater(tx, message, attempt))) {
    // The message does not end. If its status depended on this attempt, it changes.
    const continued = dependsOn(message, attempt)
      ? await continueMessage(tx, services, pair)
      : undefined;
    return supersededIfSame(message, continued ?? pair);
  }
  const { state, ignored_reason } = applyEvidence(stateOf(message), evidence);
  if (ignored_reason !== null) return { ...pair, ignored_reason };
  if (state.status === "undelivered" && message.status !== "undelivered") {
    const continued = await continueMessage(tx, services, pair);
    if (continued !== undefined) return supersededIfSame(message, continued);
  }
  const columns = carrierColumns(message, attempt, state.status);
  const updated = await writeState(tx, message, state, columns);
  return { message: updated, attempt, ignored_reason: null };
}

/** The evidence did not count if it left the message with the status that it had `before`. */
function supersededIfSame(before: MessageRow, after: MessageAndAttempt): Joined {
  const isSame = after.message.status === before.status;
  return { ...after, ignored_reason: isSame ? "superseded" : null };
}

/** Applies receipts that the carrier pushed. */
export async function applyPushedReceipts(
  tx: Tx,
  services: Services,
  pair: MessageAndAttempt,
  receipts: readonly Receipt[],
): Promise<MessageAndAttempt> {
  const updated = await applyReceipts(tx, services, pair, receipts);
  const { message, attempt } = updated;
  // The answer to the attempt may never come, so its follow-up is scheduled here. An engine that
  // lacks the transport leaves the time to one that has it. The call may still run until the lease
  // ends.
  const isNews = message.status === "sent" && pair.message.status !== "sent";
  if (isNews && isDecidingAttempt(message, attempt)) {
    const next = nextFollowUpAt(attempt, message.status, services.factsByTransport, tx.now) ?? 0;
    await arm(tx, followUpJob(attempt, Math.max(next, attempt.leased_until)));
  }
  return updated;
}

/** Prefetches what `providerIdFor` and `applyEarlyReceipts` read. */
export function prefetchReceipts(tx: Tx, transport: string, provider_message_id: string): void {
  const key = [transport, provider_message_id];
  unscoped(tx).prefetch(() => [
    { index: attemptByProviderId, key },
    { index: earlyReceiptsOf, key: [transport] },
    { index: earlyReceiptsOf, key },
  ]);
}

/** Applies and removes the receipts that came before the attempt's provider id was known. */
export async function applyEarlyReceipts(
  tx: Tx,
  services: Services,
  pair: MessageAndAttempt,
): Promise<MessageAndAttempt> {
  const { transport, provider_message_id } = pair.attempt;
  if (provider_message_id === null) return pair;
  const anyScope = unscoped(tx);
  // Most transports have none. All commands that commit together share this read.
  const some = await anyScope.list(earlyReceiptsOf, [transport], 1);
  if (some.length === 0) return pair;
  const early = await anyScope.get(earlyReceiptsOf, [transport, provider_message_id]);
  if (early === undefined) return pair;
  anyScope.remove(earlyReceipts, early);
  return applyReceipts(tx, services, pair, early.receipts);
}

/** Whether the attempt needs no more look-ups. */
function isFinal({ status }: MessageRow): boolean {
  return status === "delivered" || status === "undelivered" || status === "read";
}

/**
 * Records an opt-out that only the carrier knew, if `error` says that the carrier refused an
 * attempt for good because of it. The status of the message does not matter: another carrier may
 * have sent it. The error of the attempt shows that its opt-out is recorded. A repeated receipt
 * must not record it again, because the recipient may have opted in meanwhile.
 */
export async function recordCarrierOptOut(
  tx: Tx,
  { secret, consent }: Services,
  { message: { id, channel, from, to }, attempt }: MessageAndAttempt,
  error: MessageError | null,
): Promise<void> {
  if (!isOptOut(error) || isOptOut(attempt.error)) return;
  await setConsent(tx, secret, {
    medium: mediumOf(channel),
    address: to,
    status: "opted_out",
    sender: consent.scope === "sender" ? from : null,
    source: "carrier",
    message_id: id,
    detail: error?.provider_code ?? null,
  });
}

/** Whether a carrier refused a message because the recipient has opted out there. */
function isOptOut(error: MessageError | null): boolean {
  return error?.code === "opted_out" && error.permanent;
}

/**
 * Returns the provider id to store for an attempt, or null if another attempt already has that id.
 * If a carrier reuses an id, its receipts stay with the first attempt.
 */
export async function providerIdFor(
  tx: Tx,
  { id, transport }: AttemptRow,
  provider_message_id: string,
): Promise<string | null> {
  const owner = await unscoped(tx).get(attemptByProviderId, [transport, provider_message_id]);
  return owner === undefined || owner.id === id ? provider_message_id : null;
}
