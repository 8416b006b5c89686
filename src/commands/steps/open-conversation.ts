import { contactReference } from "../../domain/contacts/resource.ts";
import { contactById, type IdentityRow } from "../../domain/contacts/rows.ts";
import { conversationResource } from "../../domain/conversations/resource.ts";
import { activeConversation, type ConversationRow, conversations } from "../../domain/conversations/rows.ts";
import type { MessageId } from "../../ids.ts";
import type { Seen } from "../../ports/collection.ts";
import type { Tx } from "../../transactions/transaction.ts";
import { type Actor, appendEvent } from "./append-event.ts";

/** The contact's active conversation on a medium; a new one where there is none. */
export async function openConversation(tx: Tx, actor: Actor, identity: IdentityRow): Promise<Seen<ConversationRow>> {
  return (await findConversation(tx, identity)) ?? (await beginConversation(tx, actor, identity));
}

/** The contact's active conversation on a medium. */
export function findConversation(
  tx: Tx,
  { contact_id, medium }: IdentityRow,
): Promise<Seen<ConversationRow> | undefined> {
  return tx.get(activeConversation, [contact_id, medium]);
}

/** Makes one for a contact that is known to have none. */
export async function beginConversation(tx: Tx, actor: Actor, identity: IdentityRow): Promise<Seen<ConversationRow>> {
  const { scope, drawId } = actor;
  const { contact_id, medium, address } = identity;
  const conversation = tx.insert(conversations, {
    ...scope,
    id: drawId("conv"),
    contact_id,
    medium,
    status: "open",
    handler: "none",
    assignee_type: null,
    assignee_id: null,
    labels: [],
    priority: "normal",
    snoozed_until: null,
    unread_count: 0,
    message_count: 0,
    last_message_id: null,
    last_activity_at: tx.now,
    metadata: {},
    created_at: tx.now,
    updated_at: tx.now,
    closed_at: null,
  });
  const contact = await tx.get(contactById, [scope.account_id, scope.mode, contact_id]);
  const resource = conversationResource(conversation, contactReference(contact_id, contact, address), null);
  const about = { contact_id, conversation_id: conversation.id };
  appendEvent(tx, actor, "conversation.created", { conversation: resource }, about);
  return conversation;
}

/** Gives a message the next place in its conversation. */
export function takePlace(
  tx: Tx,
  conversation: Seen<ConversationRow>,
  message_id: MessageId,
  direction: "outbound" | "inbound",
): number {
  const sequence = conversation.message_count + 1;
  tx.update(conversations, conversation, {
    message_count: sequence,
    last_message_id: message_id,
    last_activity_at: tx.now,
    ...(direction === "inbound" ? { unread_count: conversation.unread_count + 1 } : {}),
  });
  return sequence;
}
