import { contactById } from "../domain/contacts/rows.ts";
import type { ConversationRow } from "../domain/conversations/rows.ts";
import {
  type Conversation,
  type HandOffConversation,
  handOffConversationSchema,
} from "../domain/conversations/types.ts";
import { messagesOfConversation } from "../domain/messages/rows.ts";
import { sentimentOf } from "../domain/sentiment/rules.ts";
import { isId, type MessageId } from "../ids.ts";
import type { Command } from "../operation.ts";
import type { Tx } from "../transactions/transaction.ts";
import { actorOf, appendEvent } from "./steps/append-event.ts";
import { changeConversation, findActiveConversation } from "./steps/change-conversation.ts";
import { showConversation } from "./steps/show-conversation.ts";

/** Puts a conversation in the queue, for the first person free. One that waits there already stays as it is, and nothing is told. */
export const handOffConversation: Command<HandOffConversation, Conversation> = {
  kind: "command",
  name: "conversations.handOff",
  input: () => handOffConversationSchema,
  status: 200,
  async run(tx, { id, reason, summary = "" }, { scope, services }) {
    const found = await findActiveConversation(tx, scope, id);
    if (found.handler === "queue") return showConversation(tx, found);
    const actor = actorOf(scope, services.drawId);
    // A person lets go of it. An agent stays assigned: that is whom people hand it back to.
    const nobody = found.assignee_type === "human" ? { assignee_type: null, assignee_id: null } : {};
    const conversation = await changeConversation(tx, actor, found, { handler: "queue", ...nobody });
    const shown = await showConversation(tx, conversation);

    const { account_id, mode, contact_id, assignee_id } = conversation;
    const contact = await tx.get(contactById, [account_id, mode, contact_id]);
    const data = {
      conversation_id: conversation.id,
      contact: shown.contact,
      agent_id: assignee_id !== null && isId("agt", assignee_id) ? assignee_id : null,
      reason,
      rule: null,
      summary,
      last_message_ids: await lastMessageIds(tx, conversation),
      sentiment: contact?.mood ? sentimentOf(contact.mood) : null,
    };
    appendEvent(tx, actor, "conversation.handoff", data, { contact_id, conversation_id: conversation.id });
    return shown;
  },
};

const mostTold = 10;

/** Oldest first. Their numbers have no gaps, so they are known without looking. */
async function lastMessageIds(tx: Tx, { id, message_count }: ConversationRow): Promise<MessageId[]> {
  const count = Math.min(message_count, mostTold);
  const places = Array.from({ length: count }, (_, i) => message_count - count + 1 + i);
  const rows = await Promise.all(places.map((sequence) => tx.list(messagesOfConversation, [id, sequence], 1)));
  return rows.flat().map((message) => message.id);
}
