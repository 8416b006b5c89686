import { type Claim, finish } from "../queue/index.ts";
import { webhookById } from "./rows.ts";
import type { Tx } from "../store/index.ts";
import { giveBackWebhook, nextDeliveryAt } from "./drain-job.ts";

/** Gives a webhook's job back until its next delivery is due, or removes it when no delivery is left. */
export async function endWebhookDrain(tx: Tx, claim: Claim<"deliver">): Promise<void> {
  // Held: a transaction that enables it meanwhile has armed the job.
  const webhook = await tx.get(webhookById, [claim.key.webhook_id], { hold: true });
  if (webhook === undefined) return finish(tx, claim);
  return giveBackWebhook(tx, claim, webhook, await nextDeliveryAt(tx, webhook));
}
