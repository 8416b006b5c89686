import { contactResource } from "./resource.ts";
import { type ContactRow, identitiesOfContact } from "./rows.ts";
import { mostIdentities } from "./rules.ts";
import type { Contact } from "./types.ts";
import { currentConversation } from "../conversations/rows.ts";
import { mediumSchema } from "../kernel/fields.ts";
import type { Reads } from "../store/reads.ts";
import type { Tx } from "../store/transaction.ts";

export const media = mediumSchema.options;

/** A contact as this transaction leaves it. */
export async function showContact(tx: Tx, row: ContactRow): Promise<Contact> {
  const [identities, ...current] = await Promise.all([
    tx.list(identitiesOfContact, [row.id], mostIdentities),
    ...media.map((medium) => tx.get(currentConversation, [row.id, medium])),
  ]);
  return contactResource(
    row,
    identities,
    current.filter((each) => each !== undefined),
  );
}

/** Contacts as they are shown outside transactions: a page of them in two reads. */
export async function showContacts(reads: Reads, rows: readonly ContactRow[]): Promise<Contact[]> {
  const keys = rows.flatMap(({ id }) => media.map((medium) => [id, medium] as const));
  const [identities, current] = await Promise.all([
    reads.lists(
      identitiesOfContact,
      rows.map(({ id }) => [id]),
      mostIdentities,
    ),
    reads.getAll(currentConversation, keys),
  ]);
  const activity = Map.groupBy(current, ({ contact_id }) => contact_id);
  return rows.map((row, i) =>
    contactResource(row, identities[i] ?? [], activity.get(row.id) ?? []),
  );
}
