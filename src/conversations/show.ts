import {
  contactById,
  contactReference,
  identitiesOfContact,
  type ContactRow,
} from "../contacts/index.ts";
import { iso, isoOrNull } from "../kernel/index.ts";
import { messageById, messages, type MessageRow } from "../messages/rows.ts";
import type { Reads, Tx } from "../store/index.ts";
import { placedAt } from "./places.ts";
import type { ConversationRow, NoteRow } from "./rows.ts";
import type { Assignee, Conversation, LastMessage, Note } from "./types.ts";

/** The public form of a conversation, for a response. */
export async function showConversation(tx: Tx, row: ConversationRow): Promise<Conversation> {
  const { contact, last } = await readRelated(tx, row);
  // A redaction under way must find the stored response.
  if (last !== undefined) tx.touch(messages, last);
  return resourceOf(tx, row, contact, last);
}

/**
 * A conversation as events show it. Only `message.received` holds the text of a message, so that a
 * redaction changes one event.
 */
export async function conversationOfEvent(tx: Tx, row: ConversationRow): Promise<Conversation> {
  const { contact, last } = await readRelated(tx, row);
  return resourceOf(tx, row, contact, last && { ...last, body: null });
}

async function readRelated(tx: Tx, { contact_id, last_message_id }: ConversationRow) {
  const [contact, last] = await Promise.all([
    tx.get(contactById, [contact_id]),
    last_message_id === null ? undefined : tx.get(messageById, [last_message_id]),
  ]);
  return { contact, last };
}

/** Returns the resource. Reads the contact's address if nothing else names the contact. */
async function resourceOf(
  tx: Tx,
  row: ConversationRow,
  contact: ContactRow | undefined,
  last: MessageRow | undefined,
): Promise<Conversation> {
  let name = knownName(contact, last);
  if (name === undefined) {
    const [identity] = await tx.list(identitiesOfContact, [row.contact_id, row.medium], 1);
    name = identity?.address ?? "";
  }
  return conversationResource(row, contact, name, last);
}

/** The contact's name or number, if it is known without another read. */
function knownName(
  contact: ContactRow | undefined,
  last: MessageRow | undefined,
): string | undefined {
  return contact?.name ?? contact?.phone ?? (last && contactAddress(last));
}

/** The public form of a page of conversations. Related rows are read in two round trips. */
export async function showConversations(
  reads: Reads,
  rows: readonly ConversationRow[],
): Promise<Conversation[]> {
  const lastIds = rows.flatMap(({ last_message_id }) =>
    last_message_id === null ? [] : [[last_message_id] as const],
  );
  const contactIds = new Map(rows.map((row) => [row.contact_id, [row.contact_id] as const]));
  const [contacts, messages] = await Promise.all([
    reads.getAll(contactById, [...contactIds.values()]),
    reads.getAll(messageById, lastIds),
  ]);
  const contactOf = new Map(contacts.map((contact) => [contact.id, contact]));
  const lastOf = new Map(messages.map((message) => [message.id, message]));
  return Promise.all(
    rows.map(async (row) => {
      const contact = contactOf.get(row.contact_id);
      const last = row.last_message_id === null ? undefined : lastOf.get(row.last_message_id);
      const name = knownName(contact, last) ?? (await firstAddress(reads, row));
      return conversationResource(row, contact, name, last);
    }),
  );
}

/**
 * The first address of a contact without a name in a conversation without messages, which is rare.
 */
async function firstAddress(
  reads: Reads,
  { contact_id, medium }: ConversationRow,
): Promise<string> {
  const prefix = [contact_id, medium];
  const range = { index: identitiesOfContact, prefix, order: "ascending", limit: 1 } as const;
  const [identity] = await reads.range(range);
  return identity?.address ?? "";
}

/** `name` stands for a contact that has no name and no phone number. `last`: the last message. */
export function conversationResource(
  row: ConversationRow,
  contact: ContactRow | undefined,
  name: string,
  last?: MessageRow,
): Conversation {
  const { id, medium, status, handler, labels, priority, unread_count, message_count } = row;
  return {
    id,
    contact: contactReference(row.contact_id, contact, name),
    medium,
    status,
    handler,
    assignee: assigneeOf(row),
    labels: [...labels],
    priority,
    snoozed_until: isoOrNull(row.snoozed_until),
    unread_count,
    waiting_since: isoOrNull(row.waiting_since),
    last_message: last === undefined ? null : lastMessageOf(last),
    message_count,
    opt_out_suspected: row.opt_out_suspected === true,
    metadata: { ...row.metadata },
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    closed_at: isoOrNull(row.closed_at),
  };
}

export function assigneeOf({
  assignee_type: type,
  assignee_id: id,
}: Pick<ConversationRow, "assignee_type" | "assignee_id">): Assignee | null {
  return type === null || id === null ? null : { type, id };
}

const previewCharacters = 140;

function lastMessageOf(row: MessageRow): LastMessage {
  const { id, direction, status, body, send_at, created_at } = row;
  // A character has one or two UTF-16 code units, so this slice is long enough.
  const start = (body ?? "").slice(0, 2 * previewCharacters);
  return {
    id,
    direction,
    status,
    preview: [...start].slice(0, previewCharacters).join(""),
    send_at: isoOrNull(send_at),
    created_at: iso(created_at),
    placed_at: placedAt(row),
  };
}

/** The contact's address in a message. */
export function contactAddress({ direction, from, to }: MessageRow): string {
  return direction === "inbound" ? from : to;
}

export function noteResource({
  id,
  author_type: type,
  author_id,
  body,
  created_at,
}: NoteRow): Note {
  return {
    id,
    author: author_id === null ? { type } : { type, id: author_id },
    body,
    created_at: iso(created_at),
  };
}
