import {
  contactById,
  contactCreated,
  contactResource,
  contacts,
  feel,
  identityByAddress,
  type IdentityRow,
  insertContact,
  insertIdentity,
} from "../contacts/index.ts";
import { type DrawId, iso } from "../kernel/index.ts";
import {
  beginConversation,
  changeConversation,
  type ConversationRow,
  findConversation,
  handlerOnAssign,
  kept,
  notes,
  writeConversation,
} from "../conversations/index.ts";
import {
  carried,
  type MessageRow,
  moveMessage,
  stateOf,
  takeInMessage,
  writeMessage,
  writeTimeline,
} from "../messages/index.ts";
import type { Story, Turn } from "./scenarios.ts";
import { messageScores } from "../sentiment/index.ts";
import { sandboxAddress, sandboxInbox, senderByAddress, type SenderRow } from "../senders/index.ts";
import type { Services } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { appendEvent } from "../events/index.ts";

/** The sandbox's sender that a story's person writes to. */
export function lineOf(tx: Tx, { medium }: Story): Promise<Seen<SenderRow> | undefined> {
  return tx.get(senderByAddress, [medium === "text" ? sandboxAddress : sandboxInbox]);
}

/** Makes the contact that a story is about. */
export async function meetPerson(tx: Tx, services: Services, story: Story): Promise<void> {
  const { drawId } = services;
  const { medium, address, name, email, labels, attributes } = story;
  const facts = { name, email, labels, attributes, phone: medium === "text" ? address : null };
  const contact = insertContact(tx, drawId, facts);
  const contact_id = contact.id;
  const identity = await insertIdentity(tx, services.secret, {
    contact_id,
    medium,
    address,
  });
  appendEvent(
    tx,
    drawId,
    contactCreated,
    { contact: contactResource(contact, [identity], []) },
    { contact_id },
  );
}

/** Makes one message of a story, as if it came, or went and was delivered, at the transaction's time. */
export async function tell(tx: Tx, services: Services, story: Story, turn: Turn): Promise<void> {
  const line = await lineOf(tx, story);
  if (line === undefined) return;
  const { channel, body, media = [], score } = turn;
  if (turn.from === "host") return tellDelivered(tx, services, story, line, turn);
  const provider_message_id = `seed ${story.address} ${turn.ago}`;
  const inbound = {
    provider_message_id,
    channel,
    from: story.address,
    to: line.address,
    body,
    media,
    at: tx.now,
  };
  // How it sounds is a part of the story.
  const quiet = { ...services, scoresSentiment: false };
  const message = await takeInMessage(tx, quiet, line, inbound);
  if (score !== undefined) await tellScore(tx, message, score);
}

async function tellScore(tx: Tx, message: MessageRow, score: number): Promise<void> {
  const { contact_id, id: message_id } = message;
  const created_at = tx.now;
  tx.insert(messageScores, {
    contact_id,
    message_id,
    state: "scored",
    score,
    created_at,
  });
  const contact = await tx.get(contactById, [contact_id]);
  if (contact !== undefined) tx.update(contacts, contact, { mood: feel(contact.mood, score) });
}

/** That it was handed over is a part of the story: its job finds nothing queued. */
async function tellDelivered(
  tx: Tx,
  services: Services,
  story: Story,
  sender: SenderRow,
  turn: Turn,
): Promise<void> {
  const { drawId } = services;
  const identity = await identityOf(tx, story);
  const current = await findConversation(tx, identity);
  const begun = current ?? (await beginConversation(tx, drawId, identity, undefined));
  // Who answers has read what was written before.
  const conversation = await writeConversation(tx, begun, { unread_count: 0, unread: null });
  const { channel, body, media = [] } = turn;
  const author = { type: "human", id: "anna" } as const;
  const correspondence = {
    channel,
    identity,
    sender,
    conversation,
    isNew: current === undefined,
    author,
  };
  const call = { services, idempotency_key: null };
  const message = await writeMessage(tx, call, { body, media: [...media] }, correspondence, null);
  const delivered = carried(stateOf(message), { status: "delivered", at: tx.now, error: null });
  const moved = await moveMessage(tx, drawId, message, delivered.state);
  const times = { at: iso(tx.now), carrier_at: iso(tx.now) };
  const said = { status: "delivered", provider_message_id: null, error: null } as const;
  writeTimeline(tx, drawId, message, moved, {
    type: "receipt",
    ...times,
    ...said,
    applied: true,
    ignored_reason: null,
  });
}

/** Brings a story's conversation to where it stands now. */
export async function settle(tx: Tx, drawId: DrawId, story: Story): Promise<void> {
  const conversation = await findConversation(tx, await identityOf(tx, story));
  if (conversation === undefined) return;
  const { handler, isRead, labels, priority, end, notes: written } = story.conversation;
  for (const body of written) {
    const about = { conversation_id: conversation.id, id: drawId("note") };
    tx.insert(notes, {
      ...about,
      author_type: "human",
      author_id: "anna",
      body,
      created_at: tx.now,
    });
  }
  const read = isRead
    ? await writeConversation(tx, conversation, { unread_count: 0, unread: null })
    : conversation;
  const patch: Partial<ConversationRow> = {
    labels,
    priority,
    ...routed(handler),
    ...endOf(end, tx.now),
  };
  await changeConversation(tx, drawId, read, patch);
}

function routed(handler: Story["conversation"]["handler"]): Partial<ConversationRow> {
  if (handler === null) return {};
  if (handler === "queue") return { handler };
  return {
    handler: handlerOnAssign("none", handler),
    assignee_type: handler.type,
    assignee_id: handler.id,
  };
}

function endOf(end: Story["conversation"]["end"], now: number): Partial<ConversationRow> {
  if (end === "open") return {};
  if (end === "closed") return kept({ status: "closed", closed_at: now });
  return kept({ status: "snoozed", snoozed_until: now + end.snoozedForMinutes * 60_000 });
}

async function identityOf(tx: Tx, story: Story): Promise<Seen<IdentityRow>> {
  const identity = await tx.get(identityByAddress, [story.medium, story.address]);
  if (identity === undefined) throw new TypeError("a story is told of somebody who was met");
  return identity;
}
