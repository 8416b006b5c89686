import { finish } from "../domain/jobs/rows.ts";
import type { Claim } from "../domain/jobs/types.ts";
import { webhookById } from "../domain/webhooks/rows.ts";
import type { Scope } from "../scope.ts";
import type { Tx } from "../transactions/transaction.ts";
import { giveBackWebhook, nextTurnAt } from "./steps/webhook-turn.ts";

/** Gives the turn of a webhook back until its next delivery is due; for good when none is. Of a webhook that is gone there is none. */
export async function endDeliveryTurn(
  tx: Tx,
  claim: Claim,
  { account_id, mode }: Scope,
): Promise<void> {
  // Held: whoever enables it meanwhile has armed the job.
  const webhook = await tx.get(webhookById, [account_id, mode, claim.key], { hold: true });
  if (webhook === undefined) return finish(tx, claim);
  return giveBackWebhook(tx, claim, webhook, await nextTurnAt(tx, webhook));
}
