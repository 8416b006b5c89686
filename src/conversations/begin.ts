import { conversationCreated } from "./events.ts";
import {
  contactById,
  contactReference,
  identityByAddress,
  type IdentityRow,
} from "../contacts/index.ts";
import { conversationResource } from "./resource.ts";
import { type ConversationRow, conversations, currentConversation } from "./rows.ts";
import { kept, receive } from "./rules.ts";
import type { DrawId, MessageId } from "../kernel/index.ts";
import { type Seen, StorageConflict } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { appendEvent } from "../events/index.ts";
import { changeConversation } from "./change.ts";
import { writeConversation } from "./write.ts";

/** Where an inbound goes: into the contact's last conversation on the medium, which it wakes or opens again, or into a new one. */
export async function openForInbound(
  tx: Tx,
  drawId: DrawId,
  identity: IdentityRow,
  reopenMs: number,
): Promise<Opened> {
  const current = await findConversation(tx, identity);
  const effect = current === undefined ? "begins" : receive(current, reopenMs, tx.now);
  if (current === undefined || effect === "begins") {
    return {
      conversation: await beginConversation(tx, drawId, identity, current),
      isReopened: false,
    };
  }
  if (effect === "goes on") return { conversation: current, isReopened: false };
  const conversation = await changeConversation(tx, drawId, current, kept({ status: "open" }));
  return { conversation, isReopened: current.status === "closed" };
}

export interface Opened {
  readonly conversation: Seen<ConversationRow>;
  /** It had been closed. */
  readonly isReopened: boolean;
}

/** The contact's last conversation on a medium, active or not. */
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

/** Makes one for a contact that has no active one; `last` is the one before it. */
export async function beginConversation(
  tx: Tx,
  drawId: DrawId,
  identity: IdentityRow,
  last: Seen<ConversationRow> | undefined,
): Promise<Seen<ConversationRow>> {
  const { contact_id, medium, address } = identity;
  // A merge or an erasure writes the address: it comes before this, or after it and finds the conversation.
  const held = await tx.get(identityByAddress, [medium, address], {
    hold: true,
  });
  if (held?.contact_id !== contact_id) {
    throw new StorageConflict("the address is another contact's by now");
  }
  if (last !== undefined) await writeConversation(tx, last, { current: null });
  const conversation = tx.insert(conversations, {
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
    unread: null,
    opt_out_suspected: null,
    message_count: 0,
    last_message_id: null,
    last_activity_at: tx.now,
    metadata: {},
    created_at: tx.now,
    updated_at: tx.now,
    closed_at: null,
  });
  const contact = await tx.get(contactById, [contact_id]);
  const resource = conversationResource(
    conversation,
    contactReference(contact_id, contact, address),
    null,
  );
  const about = { contact_id, conversation_id: conversation.id };
  appendEvent(tx, drawId, conversationCreated, { conversation: resource }, about);
  return conversation;
}

/** Gives a message the next place in its conversation. */
export async function takePlace(
  tx: Tx,
  conversation: Seen<ConversationRow>,
  message_id: MessageId,
  direction: "outbound" | "inbound",
): Promise<number> {
  const { message_count, unread_count, last_activity_at } = conversation;
  const sequence = message_count + 1;
  await writeConversation(tx, conversation, {
    message_count: sequence,
    last_message_id: message_id,
    // Of two engines whose clocks differ the slower one doesn't take it back: it would come up twice in a walk.
    last_activity_at: Math.max(last_activity_at, tx.now),
    ...(direction === "inbound" ? { unread_count: unread_count + 1, unread: true } : {}),
  });
  return sequence;
}
