import { setConsent } from "../../contacts/index.ts";
import { iso, mediumOf } from "../../kernel/index.ts";
import type { Services } from "../../operations/index.ts";
import type { Receipt } from "../../ports/index.ts";
import { disarm } from "../../queue/index.ts";
import { unscoped, type Tx } from "../../store/index.ts";
import type { MessageAndAttempt } from "../attempts/attempts.ts";
import {
  evidenceOf,
  givenUpColumns,
  isOptOut,
  provenColumns,
  withValidTime,
} from "../attempts/carrier-reports.ts";
import { join } from "../attempts/evidence.ts";
import { settle } from "../attempts/settle.ts";
import {
  attemptByProviderId,
  earlyReceipts,
  earlyReceiptsOf,
  type AttemptRow,
  type MessageRow,
} from "../rows.ts";
import type { IgnoredReason } from "../timeline/timeline-types.ts";
import type { MessageError } from "../types.ts";
import { writeTimeline } from "../write-state.ts";

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
  const { error } = evidence;
  await recordCarrierOptOut(tx, services, pair, error);
  const joined = join(pair.attempt.evidence, evidence);
  const updated = await settle(tx, services, pair, {
    ...provenColumns(pair.attempt, evidence),
    ...(error && givenUpColumns(pair.attempt, error)),
  });
  const { message, attempt } = updated;
  const ignored_reason = ignoredReason(pair.message, updated, joined.ignored_reason);
  writeTimeline(tx, pair.message, message, {
    type: "receipt",
    at: iso(tx.now),
    carrier_at: iso(evidence.at),
    status: receipt.status,
    provider_message_id: attempt.provider_message_id,
    error,
    applied: ignored_reason === null,
    ignored_reason,
  });
  // The follow-up job has nothing more to wait for. Later receipts still count as evidence.
  if (isFinal(message) || attempt.outcome === "undelivered") {
    await disarm(tx, { kind: "follow-up", key: { attempt_id: attempt.id } });
  }
  return updated;
}

/**
 * Returns why a receipt left the message as it was. Null if it changed its status or its times.
 * `reason` is why the receipt left the evidence of its attempt as it was.
 */
function ignoredReason(
  before: MessageRow,
  { message, attempt }: MessageAndAttempt,
  reason: IgnoredReason | null,
): IgnoredReason | null {
  const isSame =
    message.status === before.status &&
    message.sent_at === before.sent_at &&
    message.delivered_at === before.delivered_at &&
    message.read_at === before.read_at;
  if (!isSame) return null;
  return message.basis === attempt.number ? reason : "superseded";
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
  // Most transports have no early receipts. All commands that commit together share this read.
  const some = await anyScope.list(earlyReceiptsOf, [transport], 1);
  if (some.length === 0) return pair;
  const early = await anyScope.get(earlyReceiptsOf, [transport, provider_message_id]);
  if (early === undefined) return pair;
  anyScope.remove(earlyReceipts, early);
  return applyReceipts(tx, services, pair, early.receipts);
}

/** Whether a message has a final receipt, so that its attempts need no more look-ups. */
function isFinal({ status }: MessageRow): boolean {
  return status === "delivered" || status === "undelivered" || status === "read";
}

/**
 * Records an opt-out that only the carrier knew, if `error` says that the carrier refused an
 * attempt for good because of it. The status of the message does not matter: another carrier may
 * have sent it. An opt-out that the attempt has as its error is recorded already. A repeated
 * receipt must not record it again, because the recipient may have opted in meanwhile.
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
