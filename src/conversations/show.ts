import {
  contactById,
  contactReference,
  identitiesOfContact,
  type ContactRow,
  type IdentityRow,
} from "../contacts/index.ts";
import { iso, isoOrNull } from "../kernel/index.ts";
import { messageById, messages, type MessageRow } from "../messages/rows.ts";
import type { Reads, Tx } from "../store/index.ts";
import { placedAt } from "./places.ts";
import type { ConversationRow, NoteRow } from "./rows.ts";
import type { Assignee, Conversation, LastMessage, Note } from "./types.ts";

/** The public form of a conversation, for a response. */
export async function showConversation(tx: Tx, row: ConversationRow): Promise<Conversation> {
  const related = await readRelated(tx, row);
  // A redaction under way must find the stored response.
  if (related.last !== undefined) tx.touch(messages, related.last);
  return resourceOf(row, related);
}

/**
 * A conversation as events show it. Only `message.received` holds the text of a message, so that a
 * redaction changes one event.
 */
export async function conversationOfEvent(tx: Tx, row: ConversationRow): Promise<Conversation> {
  const { last, ...related } = await readRelated(tx, row);
  return resourceOf(row, { ...related, last: last && { ...last, body: null } });
}

async function readRelated(tx: Tx, { contact_id, medium, last_message_id }: ConversationRow) {
  const [contact, last] = await Promise.all([
    tx.get(contactById, [contact_id]),
    last_message_id === null ? undefined : tx.get(messageById, [last_message_id]),
  ]);
  const readAddress = () => tx.list(identitiesOfContact, [contact_id, medium], 1);
  return { contact, last, readAddress };
}

/** The rows that the resource of a conversation also shows. */
interface Related {
  readonly contact: ContactRow | undefined;
  readonly last: MessageRow | undefined;
  /** Reads the contact's first address on the medium. */
  readonly readAddress: () => Promise<readonly IdentityRow[]>;
}

/**
 * Returns the resource. Reads the contact's address if nothing else names the contact, which is
 * rare: it has no name and no number, and the conversation has no messages.
 */
async function resourceOf(
  row: ConversationRow,
  { contact, last, readAddress }: Related,
): Promise<Conversation> {
  let name = contact?.name ?? contact?.phone ?? (last && contactAddress(last));
  name ??= (await readAddress())[0]?.address ?? "";
  return conversationResource(row, contact, name, last);
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
    rows.map((row) => {
      const prefix = [row.contact_id, row.medium];
      const range = { index: identitiesOfContact, prefix, order: "ascending", limit: 1 } as const;
      return resourceOf(row, {
        contact: contactOf.get(row.contact_id),
        last: row.last_message_id === null ? undefined : lastOf.get(row.last_message_id),
        readAddress: () => reads.range(range),
      });
    }),
  );
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
