import { finish } from "../queue/rows.ts";
import type { Claim } from "../queue/types.ts";
import { webhookById } from "./rows.ts";
import type { Tx } from "../store/transaction.ts";
import { giveBackWebhook, nextTurnAt } from "./drain-job.ts";

/** Gives the turn of a webhook back until its next delivery is due; for good when none is. Of a webhook that is gone there is none. */
export async function endDeliveryTurn(tx: Tx, claim: Claim): Promise<void> {
  // Held: whoever enables it meanwhile has armed the job.
  const webhook = await tx.get(webhookById, [claim.key], { hold: true });
  if (webhook === undefined) return finish(tx, claim);
  return giveBackWebhook(tx, claim, webhook, await nextTurnAt(tx, webhook));
}
