import { idempotency, idempotencyAlsoShowing } from "./idempotency-rows.ts";
import type { Tx } from "../store/index.ts";

const chunk = 200;

/** Takes what was answered about something out of the replays of its requests, up to 200 of them. Answers whether that was all. */
export async function eraseAnswers(tx: Tx, id: string): Promise<boolean> {
  const stored = await tx.list(idempotencyAlsoShowing, [id], chunk);
  for (const row of stored) tx.update(idempotency, row, { response: null, also_shows: null });
  return stored.length < chunk;
}
