import { idempotency, idempotencyAlsoShowing } from "./idempotency-rows.ts";
import type { Scope } from "../kernel/scope.ts";
import type { Tx } from "../store/transaction.ts";

const chunk = 200;

/** Takes what was answered about something out of the replays of its requests, up to 200 of them. Answers whether that was all. */
export async function eraseAnswers(
  tx: Tx,
  { account_id, mode }: Scope,
  id: string,
): Promise<boolean> {
  const stored = await tx.list(idempotencyAlsoShowing, [account_id, mode, id], chunk);
  for (const row of stored) tx.update(idempotency, row, { response: null, also_shows: null });
  return stored.length < chunk;
}
