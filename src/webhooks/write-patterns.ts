import { withoutCovered } from "./filter.ts";
import { webhookPatternByName, webhookPatterns, type WebhookRow } from "./rows.ts";
import type { Tx } from "../store/index.ts";

/** What a webhook is found by, where its filter was the one and becomes the other. */
export async function writePatterns(
  tx: Tx,
  { id: webhook_id }: WebhookRow,
  before: readonly string[],
  after: readonly string[],
): Promise<void> {
  const [old, fresh] = [withoutCovered(before), withoutCovered(after)];
  for (const pattern of old.filter((each) => !fresh.includes(each))) {
    const row = await tx.get(webhookPatternByName, [pattern, webhook_id]);
    if (row !== undefined) tx.remove(webhookPatterns, row);
  }
  for (const pattern of fresh.filter((each) => !old.includes(each))) {
    tx.insert(webhookPatterns, { pattern, webhook_id });
  }
}
