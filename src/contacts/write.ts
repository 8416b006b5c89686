import type { GenerateId } from "../kernel/index.ts";
import { contactLabels, type ContactRow, contacts, contactsByLabel } from "./rows.ts";
import { searchWordsOf } from "./search-words.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

/** The fields of a contact that the host application sets. */
type ContactFacts = {
  readonly [
    Name in "name" | "phone" | "email" | "time_zone" | "language" | "labels" | "attributes"
  ]?: ContactRow[Name] | undefined;
};

/** No other function writes contacts, so their labels and search words always agree with them. */
export function insertContact(tx: Tx, drawId: GenerateId, facts: ContactFacts): Seen<ContactRow> {
  const row = {
    id: drawId("ct"),
    name: facts.name ?? null,
    phone: facts.phone ?? null,
    email: facts.email ?? null,
    time_zone: facts.time_zone ?? null,
    language: facts.language ?? null,
    labels: facts.labels ?? [],
    attributes: facts.attributes ?? {},
    sentiment_state: null,
    merged_into: null,
    last_message_at: null,
    created_at: tx.now,
    updated_at: tx.now,
  };
  const contact = tx.insert(contacts, { ...row, words: searchWordsOf({ ...tx.scope, ...row }) });
  for (const label of contact.labels) insertLabel(tx, contact, label);
  return contact;
}

export async function writeContact(
  tx: Tx,
  contact: Seen<ContactRow>,
  patch: Partial<ContactRow>,
): Promise<Seen<ContactRow>> {
  const updated = tx.update(contacts, contact, {
    ...patch,
    words: searchWordsOf({ ...contact, ...patch }),
    updated_at: tx.now,
  });
  for (const label of contact.labels) {
    if (!updated.labels.includes(label)) await removeLabel(tx, contact, label);
  }
  for (const label of updated.labels) {
    if (!contact.labels.includes(label)) insertLabel(tx, updated, label);
  }
  return updated;
}

export async function removeContact(tx: Tx, contact: Seen<ContactRow>): Promise<void> {
  for (const label of contact.labels) await removeLabel(tx, contact, label);
  tx.remove(contacts, contact);
}

function insertLabel(tx: Tx, { id }: ContactRow, label: string): void {
  tx.insert(contactLabels, { label, contact_id: id });
}

async function removeLabel(tx: Tx, { id }: ContactRow, label: string): Promise<void> {
  const row = await tx.get(contactsByLabel, [label, id]);
  if (row !== undefined) tx.remove(contactLabels, row);
}
