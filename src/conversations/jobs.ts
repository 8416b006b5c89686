import type { Runtime } from "../operations/index.ts";
import { finish, inTransaction, type Claim, type JobTable } from "../queue/index.ts";
import type { Tx } from "../store/index.ts";
import { conversationById } from "./rows.ts";
import { statusPatch } from "./rules.ts";
import { changeConversation } from "./write.ts";

export const conversationJobs: Pick<JobTable<Runtime>, "wake"> = {
  wake: inTransaction(wakeConversation),
};

/**
 * Opens a snoozed conversation when the snooze ends. If the snooze was extended, the job waits for
 * the new end.
 */
async function wakeConversation(tx: Tx, claim: Claim<"wake">): Promise<void> {
  const conversation = await tx.get(conversationById, [claim.key.conversation_id], { hold: true });
  if (conversation === undefined || conversation.snoozed_until === null) return finish(tx, claim);
  const { snoozed_until } = conversation;
  if (snoozed_until > tx.now) return finish(tx, claim, { againAt: snoozed_until });
  await changeConversation(tx, conversation, statusPatch({ status: "open" }));
  return finish(tx, claim);
}
