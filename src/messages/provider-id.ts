import { attemptByProviderId, type AttemptRow } from "./rows.ts";
import { type Tx, unscoped } from "../store/index.ts";

/**
 * The carrier's id for an attempt, unless another one has it: a carrier that gives one id twice would make its receipts
 * ambiguous, so they stay with the first.
 */
export async function providerIdFor(
  tx: Tx,
  { id, transport }: AttemptRow,
  provider_message_id: string,
): Promise<string | null> {
  const owner = await unscoped(tx).get(attemptByProviderId, [transport, provider_message_id]);
  return owner === undefined || owner.id === id ? provider_message_id : null;
}
