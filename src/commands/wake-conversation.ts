import { conversationById } from "../domain/conversations/rows.ts";
import { kept } from "../domain/conversations/rules.ts";
import { finish } from "../domain/jobs/rows.ts";
import type { Claim } from "../domain/jobs/types.ts";
import type { DrawId } from "../ids.ts";
import type { Tx } from "../transactions/transaction.ts";
import { actorOf } from "./steps/append-event.ts";
import { changeConversation } from "./steps/change-conversation.ts";

/** Opens a snoozed conversation whose time has come. One that was snoozed for longer meanwhile sleeps on. */
export async function wakeConversation(tx: Tx, claim: Claim, drawId: DrawId): Promise<void> {
  const { account_id, mode, key } = claim;
  const conversation =
    account_id && mode && (await tx.get(conversationById, [account_id, mode, key], { hold: true }));
  if (!conversation || conversation.snoozed_until === null) return finish(tx, claim);
  const { snoozed_until } = conversation;
  if (snoozed_until > tx.now) return finish(tx, claim, { againAt: snoozed_until });
  await changeConversation(
    tx,
    actorOf(conversation, drawId),
    conversation,
    kept({ status: "open" }),
  );
  return finish(tx, claim);
}
