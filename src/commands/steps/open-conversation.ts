import { contactReference } from "../../domain/contacts/resource.ts";
import { contactById, type IdentityRow } from "../../domain/contacts/rows.ts";
import { conversationResource } from "../../domain/conversations/resource.ts";
import { type ConversationRow, conversations, currentConversation } from "../../domain/conversations/rows.ts";
import type { MessageId } from "../../ids.ts";
import type { Seen } from "../../ports/collection.ts";
import type { Tx } from "../../transactions/transaction.ts";
import { type Actor, appendEvent } from "./append-event.ts";

/** The contact's active conversation on a medium; a new one where there is none. */
export async function openConversation(tx: Tx, actor: Actor, identity: IdentityRow): Promise<Seen<ConversationRow>> {
  const current = await findConversation(tx, identity);
  return isActive(current) ? current : beginConversation(tx, actor, identity, current);
}

/** The contact's last conversation on a medium, active or not. */
export function findConversation(
  tx: Tx,
  { contact_id, medium }: IdentityRow,
): Promise<Seen<ConversationRow> | undefined> {
  return tx.get(currentConversation, [contact_id, medium]);
}

export function isActive(conversation: Seen<ConversationRow> | undefined): conversation is Seen<ConversationRow> {
  return conversation !== undefined && conversation.status !== "closed";
}

/** Makes one for a contact that has no active one; `last` is the one before it. */
export async function beginConversation(
  tx: Tx,
  actor: Actor,
  identity: IdentityRow,
  last: Seen<ConversationRow> | undefined,
): Promise<Seen<ConversationRow>> {
  const { scope, drawId } = actor;
  const { contact_id, medium, address } = identity;
  if (last !== undefined) tx.update(conversations, last, { current: null });
  const conversation = tx.insert(conversations, {
    ...scope,
    id: drawId("conv"),
    contact_id,
    medium,
    status: "open",
    current: true,
    handler: "none",
    assignee_type: null,
    assignee_id: null,
    labels: [],
    priority: "normal",
    snoozed_until: null,
    unread_count: 0,
    unread_since: null,
    opt_out_suspected: false,
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
    ...(direction === "inbound"
      ? { unread_count: conversation.unread_count + 1, unread_since: conversation.unread_since ?? tx.now }
      : {}),
  });
  return sequence;
}
