/**
 * No other code inserts or removes contacts, or writes columns that their labels or search words
 * depend on. So these always agree.
 */
import { appendEvent } from "../events/index.ts";
import { phonePattern, type Medium } from "../kernel/index.ts";
import type { Services } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { contactCreated } from "./events.ts";
import { insertIdentity } from "./identities.ts";
import {
  contactLabels,
  contacts,
  contactsByLabel,
  type ContactRow,
  type IdentityRow,
} from "./rows.ts";
import { searchWordsOf } from "./search/search-rules.ts";
import { contactResource } from "./show.ts";
import type { Contact } from "./types.ts";

/** The fields of a contact that the host application sets. */
export type ContactFacts = {
  readonly [
    Name in "name" | "phone" | "email" | "time_zone" | "language" | "labels" | "attributes"
  ]?: ContactRow[Name] | undefined;
};

export function insertContact(tx: Tx, facts: ContactFacts): Seen<ContactRow> {
  const row = {
    id: tx.drawId("ct"),
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

type ContactServices = Pick<Services, "secret">;

/**
 * Creates a contact for an address that the caller found to be unknown. A short code or a name is
 * no phone number: it is only an address of the contact.
 */
export function createContactFor(
  tx: Tx,
  services: ContactServices,
  medium: Medium,
  address: string,
): Promise<Seen<IdentityRow>> {
  const facts = medium === "text" && phonePattern.test(address) ? { phone: address } : {};
  return createContactWith(tx, services, facts, { medium, address });
}

/** Creates a contact with a free address. Returns the identity of the address. */
export async function createContactWith(
  tx: Tx,
  { secret }: ContactServices,
  facts: ContactFacts,
  { medium, address }: Pick<IdentityRow, "medium" | "address">,
): Promise<Seen<IdentityRow>> {
  const contact = insertContact(tx, facts);
  const identity = await insertIdentity(tx, secret, { contact_id: contact.id, medium, address });
  publishCreated(tx, contact, [identity]);
  return identity;
}

/** Publishes that a contact was created. Returns its resource. */
export function publishCreated(
  tx: Tx,
  contact: ContactRow,
  identities: readonly IdentityRow[],
): Contact {
  const resource = contactResource(contact, identities, []);
  appendEvent(tx, contactCreated, { contact: resource }, { contact_id: contact.id });
  return resource;
}
