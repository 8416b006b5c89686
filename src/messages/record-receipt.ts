import { arm } from "../queue/index.ts";
import {
  attemptById,
  attemptByProviderId,
  type AttemptRow,
  attempts,
  messageById,
  messages,
  parkedReceipts,
  parkedReceiptsOf,
} from "./rows.ts";
import type { Services } from "../operations/index.ts";
import type { Receipt, ReceiptSubject, Seen } from "../ports/index.ts";
import type { Tx, UnscopedTx } from "../store/index.ts";
import { applyParked, takeReceipts } from "./apply-receipt.ts";
import { heedRefusal } from "./apply-refusal.ts";
import { providerIdFor } from "./provider-id.ts";
import { earlyReceiptJob } from "./send-jobs.ts";

/** 72 hours: how long a receipt waits for the answer that tells what it belongs to. */
const parkMs = 72 * 3_600_000;
/** By then every transaction is over that began before the receipt was parked; those after it see it. */
const settledMs = 60_000;
/** Of one provider's id; more say nothing new. */
const mostParked = 50;

/** Records what a carrier said of a message. One that is not known yet may be: its answer can come after its receipt. */
export async function recordReceipt(
  all: UnscopedTx,
  transport: string,
  subject: ReceiptSubject,
  receipt: Receipt,
  services: Services,
): Promise<"recorded" | "parked" | "unknown"> {
  const attempt =
    "attempt_id" in subject
      ? await all.get(attemptById, [subject.attempt_id])
      : await all.get(attemptByProviderId, [transport, subject.provider_message_id]);
  if (attempt === undefined) {
    if ("attempt_id" in subject) return "unknown";
    await park(all, transport, subject.provider_message_id, receipt);
    return "parked";
  }
  const tx = all.in(attempt);
  const message = await tx.get(messageById, [attempt.message_id]);
  // A transport speaks of its own attempts only.
  if (message === undefined || attempt.transport !== transport) return "unknown";
  const named = await learnName(tx, attempt, subject);
  const { provider_message_id } = named;
  const isShown = named !== attempt && message.transport === transport;
  const shown = isShown ? tx.update(messages, message, { provider_message_id }) : message;
  const moved = await takeReceipts(tx, services, shown, named, [receipt]);
  await heedRefusal(
    tx,
    services,
    message,
    named === attempt ? moved : await applyParked(tx, services, moved, named),
  );
  return "recorded";
}

/** An attempt whose answer was lost, or is not there yet, hears from its receipt what the carrier calls it. */
async function learnName(
  tx: Tx,
  attempt: Seen<AttemptRow>,
  subject: ReceiptSubject,
): Promise<Seen<AttemptRow>> {
  if (attempt.provider_message_id !== null || subject.provider_message_id === undefined) {
    return attempt;
  }
  const provider_message_id = await providerIdFor(tx, attempt, subject.provider_message_id);
  return provider_message_id === null
    ? attempt
    : tx.update(attempts, attempt, { provider_message_id });
}

async function park(
  tx: UnscopedTx,
  transport: string,
  provider_message_id: string,
  receipt: Receipt,
): Promise<void> {
  const parked = await tx.get(parkedReceiptsOf, [transport, provider_message_id]);
  if (parked === undefined) {
    const expires_at = tx.now + parkMs;
    tx.insert(parkedReceipts, { transport, provider_message_id, receipts: [receipt], expires_at });
    await arm(tx, earlyReceiptJob(transport, provider_message_id, tx.now + settledMs));
  } else if (parked.receipts.length < mostParked) {
    tx.update(parkedReceipts, parked, { receipts: [...parked.receipts, receipt] });
  }
}
