import { webhookById, type WebhookRow } from "./rows.ts";
import { notFound } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import type { ReadOptions, Tx } from "../store/index.ts";

/** @throws TidingsError `not_found` */
export async function webhookToChange(
  tx: Tx,
  id: string,
  options?: ReadOptions,
): Promise<Seen<WebhookRow>> {
  const webhook = await tx.get(webhookById, [id], options);
  if (webhook === undefined) throw notFound("webhook");
  return webhook;
}
