import type { Tx } from "../store/index.ts";
import type { IdempotencyRow } from "./idempotency-rows.ts";
import type { Services } from "./operation.ts";

/**
 * Whether a key still replays its answer: during its lifetime, and afterwards for as long as what the
 * request made is in progress, since a retry must find it.
 */
export async function isRemembered(
  tx: Tx,
  { subject_id, expires_at }: IdempotencyRow,
  { isInProgress }: Pick<Services, "isInProgress">,
): Promise<boolean> {
  if (expires_at > tx.now) return true;
  return subject_id !== null && isInProgress(tx, subject_id);
}
