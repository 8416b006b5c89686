import { conversationById } from "./rows.ts";
import { kept } from "./rules.ts";
import { type Claim, finish } from "../queue/index.ts";
import type { DrawId } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";
import { changeConversation } from "./change.ts";

/** Opens a snoozed conversation whose time has come. One that was snoozed for longer meanwhile sleeps on. */
export async function wakeConversation(
  tx: Tx,
  claim: Claim<"wake">,
  drawId: DrawId,
): Promise<void> {
  const conversation = await tx.get(conversationById, [claim.key.conversation_id], { hold: true });
  if (conversation === undefined || conversation.snoozed_until === null) return finish(tx, claim);
  const { snoozed_until } = conversation;
  if (snoozed_until > tx.now) return finish(tx, claim, { againAt: snoozed_until });
  await changeConversation(tx, drawId, conversation, kept({ status: "open" }));
  return finish(tx, claim);
}
