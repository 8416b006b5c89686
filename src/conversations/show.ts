import {
  contactById,
  contactReference,
  type ContactRow,
  identitiesOfContact,
} from "../contacts/index.ts";
import { contactAddress, conversationResource, lastMessageOf } from "./resource.ts";
import type { ConversationRow } from "./rows.ts";
import type { Conversation } from "./types.ts";
import { messageById, type MessageRow } from "../messages/rows.ts";
import type { Reads, Tx } from "../store/index.ts";

/** A conversation as it is now, as everybody sees it. */
export async function showConversation(tx: Tx, row: ConversationRow): Promise<Conversation> {
  const { contact_id, medium, last_message_id } = row;
  const [contact, last] = await Promise.all([
    tx.get(contactById, [contact_id]),
    // Held: what is redacted at this moment would live on in the answer that is remembered of this.
    last_message_id === null ? undefined : tx.get(messageById, [last_message_id], { hold: true }),
  ]);
  const address =
    atHand(contact, last) ??
    (await tx.list(identitiesOfContact, [contact_id, medium], 1))[0]?.address ??
    "";
  return conversationResource(
    row,
    contactReference(contact_id, contact, address),
    last ? lastMessageOf(last) : null,
  );
}

/** What the contact goes by, as far as it takes no further look. */
function atHand(contact: ContactRow | undefined, last: MessageRow | undefined): string | undefined {
  return contact?.name ?? contact?.phone ?? (last && contactAddress(last));
}

/** The conversations of a page. What they show of others is read together: two round trips, however many there are. */
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
      const address = atHand(contact, last) ?? (await firstAddress(reads, row));
      const reference = contactReference(row.contact_id, contact, address);
      return conversationResource(row, reference, last ? lastMessageOf(last) : null);
    }),
  );
}

/** Of a contact without a name in a conversation without a message, which hardly any are. */
async function firstAddress(
  reads: Reads,
  { contact_id, medium }: ConversationRow,
): Promise<string> {
  const prefix = [contact_id, medium];
  const range = { index: identitiesOfContact, prefix, order: "ascending", limit: 1 } as const;
  const [identity] = await reads.range(range);
  return identity?.address ?? "";
}
