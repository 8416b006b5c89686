import { contactById, identityByAddress, type IdentityRow } from "../contacts/index.ts";
import { appendEvent } from "../events/index.ts";
import { StorageConflict, type Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { conversationCreated } from "./events.ts";
import { conversations, currentConversation, type ConversationRow } from "./rows.ts";
import { effectOfInbound, statusPatch } from "./rules.ts";
import { conversationResource } from "./show.ts";
import { changeConversation, writeConversation } from "./write.ts";

/**
 * Returns the conversation for an inbound message: the contact's latest one on the medium, woken or
 * reopened, or a new one.
 */
export async function openForInbound(
  tx: Tx,
  identity: IdentityRow,
  reopenMs: number,
): Promise<Opened> {
  const last = await findConversation(tx, identity);
  const effect = last === undefined ? "begin" : effectOfInbound(last, reopenMs, tx.now);
  if (last === undefined || effect === "begin") {
    const conversation = await beginConversation(tx, identity, last);
    return { conversation, isReopened: false };
  }
  if (effect === "continue") return { conversation: last, isReopened: false };
  const opening = statusPatch({ status: "open" });
  const conversation = await changeConversation(tx, last, opening);
  return { conversation, isReopened: last.status === "closed" };
}

interface Opened {
  readonly conversation: Seen<ConversationRow>;
  /** Whether the conversation was closed before. */
  readonly isReopened: boolean;
}

/** The contact's latest conversation on a medium, active or closed. */
export function findConversation(
  tx: Tx,
  { contact_id, medium }: IdentityRow,
): Promise<Seen<ConversationRow> | undefined> {
  return tx.get(currentConversation, [contact_id, medium]);
}

export function isActive(
  conversation: Seen<ConversationRow> | undefined,
): conversation is Seen<ConversationRow> {
  return conversation !== undefined && conversation.status !== "closed";
}

/** Creates a conversation for a contact without an active one. `last` is the previous one. */
export async function beginConversation(
  tx: Tx,
  identity: IdentityRow,
  last: Seen<ConversationRow> | undefined,
): Promise<Seen<ConversationRow>> {
  const { contact_id, medium, address } = identity;
  // A merge or an erasure writes the address. With the lock, it commits before this transaction or
  // finds the new conversation.
  const held = await tx.get(identityByAddress, [medium, address], { hold: true });
  if (held?.contact_id !== contact_id) {
    throw new StorageConflict("the address was moved to another contact");
  }
  if (last !== undefined) await writeConversation(tx, last, { current: null });
  const conversation = tx.insert(conversations, {
    id: tx.drawId("conv"),
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
    unread: null,
    opt_out_suspected: null,
    read_at: null,
    contact_wrote: false,
    unassigned: null,
    waiting_for: null,
    waiting_since: null,
    message_count: 0,
    moved_count: null,
    last_message_id: null,
    last_activity_at: tx.now,
    metadata: {},
    created_at: tx.now,
    updated_at: tx.now,
    closed_at: null,
  });
  const contact = await tx.get(contactById, [contact_id]);
  const resource = conversationResource(conversation, contact, address);
  const about = { contact_id, conversation_id: conversation.id };
  appendEvent(tx, conversationCreated, { conversation: resource }, about);
  return conversation;
}
