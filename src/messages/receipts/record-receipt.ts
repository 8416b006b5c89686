import { hourMs } from "../../kernel/index.ts";
import type { Services } from "../../operations/index.ts";
import type { Receipt, ReceiptSubject, Seen } from "../../ports/index.ts";
import { arm, finish, prefetchJob, type Claim } from "../../queue/index.ts";
import type { Tx, UnscopedTx } from "../../store/index.ts";
import type { MessageAndAttempt } from "../attempts/attempts.ts";
import { earlyReceiptJob } from "../job-orders.ts";
import {
  attemptById,
  attemptByProviderId,
  attempts,
  earlyReceipts,
  earlyReceiptsOf,
  messageById,
  messages,
  type AttemptRow,
} from "../rows.ts";
import { applyEarlyReceipts, applyReceipts, providerIdFor } from "./apply-receipt.ts";

/** How long an early receipt is kept, in milliseconds: 72 hours. */
const keepMs = 72 * hourMs;
/**
 * The delays after which a job looks for the attempt of an early receipt again, in milliseconds. By
 * then, a transaction that recorded the attempt's answer and could not see the receipt has ended:
 * after the first delay nearly always, and after the last one always.
 */
const nextLookMs = 1_000;
const lastLookMs = 60_000;
/** The maximum number of early receipts per provider id. Further ones are dropped. */
const maxEarly = 50;

/**
 * Records a carrier's receipt. A receipt for an unknown provider id is stored as an early receipt.
 * Returns `unknown` if the subject is not an attempt of this transport.
 */
export async function recordReceipt(
  anyScope: UnscopedTx,
  services: Services,
  transport: string,
  subject: ReceiptSubject,
  receipt: Receipt,
): Promise<"recorded" | "early" | "unknown"> {
  const attempt = await findAttempt(anyScope, transport, subject);
  if (attempt === undefined) {
    const { attempt_id, provider_message_id } = subject;
    if (attempt_id || !provider_message_id) return "unknown";
    await storeEarly(anyScope, transport, provider_message_id, receipt);
    return "early";
  }
  const tx = anyScope.in(attempt);
  prefetchJob(tx, { kind: "follow-up", key: { attempt_id: attempt.id } });
  // A receipt may change only the attempt, so the message is held. Otherwise, this engine could
  // decide by a state of the message that is older than that of the attempt.
  const message = await tx.get(messageById, [attempt.message_id], { hold: true });
  // A transport can report only on its own attempts.
  if (message === undefined || attempt.transport !== transport) return "unknown";
  const pair = { message, attempt };
  const withId = await learnProviderId(tx, pair, subject);
  const updated = await applyReceipts(tx, services, withId, [receipt]);
  if (withId !== pair) await applyEarlyReceipts(tx, services, updated);
  return "recorded";
}

/**
 * Reads the attempt of a receipt. Undefined if the subject has no id: a transport may pass null or
 * "" for an id that it lacks.
 */
function findAttempt(
  tx: UnscopedTx,
  transport: string,
  { attempt_id, provider_message_id }: ReceiptSubject,
): Promise<Seen<AttemptRow> | undefined> | undefined {
  if (attempt_id) return tx.get(attemptById, [attempt_id]);
  if (!provider_message_id) return undefined;
  return tx.get(attemptByProviderId, [transport, provider_message_id]);
}

/**
 * Stores the receipt's provider id in the attempt. Applying the receipt then also stores it in the
 * message, if the message's status is based on the attempt. Returns the same pair if the attempt
 * has a provider id already, or if another attempt has this one.
 */
async function learnProviderId(
  tx: Tx,
  pair: MessageAndAttempt,
  subject: ReceiptSubject,
): Promise<MessageAndAttempt> {
  const { message, attempt } = pair;
  if (attempt.provider_message_id !== null || !subject.provider_message_id) return pair;
  const provider_message_id = await providerIdFor(tx, attempt, subject.provider_message_id);
  if (provider_message_id === null) return pair;
  return {
    message: tx.touch(messages, message),
    attempt: tx.update(attempts, attempt, { provider_message_id }),
  };
}

/**
 * Stores an early receipt. The first one for a provider id also arms the job that looks for the
 * attempt again.
 */
async function storeEarly(
  tx: UnscopedTx,
  transport: string,
  provider_message_id: string,
  receipt: Receipt,
): Promise<void> {
  const early = await tx.get(earlyReceiptsOf, [transport, provider_message_id]);
  if (early === undefined) {
    const expires_at = tx.now + keepMs;
    tx.insert(earlyReceipts, { transport, provider_message_id, receipts: [receipt], expires_at });
    await arm(tx, earlyReceiptJob(transport, provider_message_id, tx.now + nextLookMs));
  } else if (early.receipts.length < maxEarly) {
    tx.update(earlyReceipts, early, { receipts: [...early.receipts, receipt] });
  }
}

/**
 * Looks again, after a delay, for the attempt of early receipts, and applies them. This covers a
 * race: one engine stores a receipt while another records the answer with its provider id, and
 * neither sees the other's rows.
 */
export async function retryEarlyReceipts(
  anyScope: UnscopedTx,
  services: Services,
  claim: Claim<"early-receipt">,
): Promise<void> {
  const { transport, provider_message_id } = claim.key;
  const attempt = await findAttempt(anyScope, transport, claim.key);
  if (attempt !== undefined) {
    const tx = anyScope.in(attempt);
    const message = await tx.get(messageById, [attempt.message_id], { hold: true });
    if (message !== undefined) await applyEarlyReceipts(tx, services, { message, attempt });
    await finish(tx, claim);
    return;
  }
  const early = await anyScope.get(earlyReceiptsOf, [transport, provider_message_id]);
  const storedAt = early && early.expires_at - keepMs;
  const lastLookAt = storedAt === undefined ? 0 : storedAt + lastLookMs;
  await finish(anyScope, claim, lastLookAt > anyScope.now ? { againAt: lastLookAt } : {});
}
