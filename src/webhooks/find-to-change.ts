import { webhookById, type WebhookRow } from "./rows.ts";
import { notFound } from "../kernel/errors.ts";
import type { Seen } from "../ports/collection.ts";
import type { Scope } from "../kernel/scope.ts";
import type { ReadOptions, Tx } from "../store/transaction.ts";

/** @throws TidingsError `not_found` */
export async function webhookToChange(
  tx: Tx,
  { account_id, mode }: Scope,
  id: string,
  options?: ReadOptions,
): Promise<Seen<WebhookRow>> {
  const webhook = await tx.get(webhookById, [account_id, mode, id], options);
  if (webhook === undefined) throw notFound("webhook");
  return webhook;
}
