import {
  type ContactId,
  type GenerateId,
  type Medium,
  type SenderId,
  TidingsError,
} from "../kernel/index.ts";
import {
  consentEvidence,
  consentEvidenceWithText,
  contactLabels,
  type ContactRow,
  contacts,
  contactsByLabel,
  identities,
  identitiesOfContact,
  identityByAddress,
  type IdentityRow,
} from "./rows.ts";
import { maxIdentities } from "./rules.ts";
import { searchWordsOf } from "./search-words.ts";
import type { Contact } from "./types.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { contactCreated } from "./events.ts";
import type { KeyObject } from "node:crypto";
import { contactResource } from "./reads.ts";
import { appendEvent } from "../events/index.ts";
import { holdConsent, removeNoConsent } from "./consent-access.ts";
import { addressHash } from "./consent.ts";
import { eraseStoredResponses, type Services } from "../operations/index.ts";

/** The fields of a contact that the host application sets. */
export type ContactFacts = {
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

type ContactServices = Pick<Services, "drawId" | "secret">;

/** Creates a contact for an address that the caller found to be unknown. */
export function createContactFor(
  tx: Tx,
  services: ContactServices,
  medium: Medium,
  address: string,
): Promise<Seen<IdentityRow>> {
  const facts = medium === "text" ? { phone: address } : {};
  return createContactWith(tx, services, facts, { medium, address });
}

/** Creates a contact with a free address. Returns the identity of the address. */
export async function createContactWith(
  tx: Tx,
  { drawId, secret }: ContactServices,
  facts: ContactFacts,
  { medium, address }: Pick<IdentityRow, "medium" | "address">,
): Promise<Seen<IdentityRow>> {
  const contact = insertContact(tx, drawId, facts);
  const identity = await insertIdentity(tx, secret, { contact_id: contact.id, medium, address });
  publishCreated(tx, drawId, contact, [identity]);
  return identity;
}

/** Publishes that a contact was created. Returns its resource. */
export function publishCreated(
  tx: Tx,
  drawId: GenerateId,
  contact: ContactRow,
  identities: readonly IdentityRow[],
): Contact {
  const resource = contactResource(contact, identities, []);
  appendEvent(tx, drawId, contactCreated, { contact: resource }, { contact_id: contact.id });
  return resource;
}

interface NewIdentity {
  readonly contact_id: ContactId;
  readonly medium: Medium;
  readonly address: string;
  /**
   * The sender of the contact's previous address, so that the contact keeps seeing the same number.
   */
  readonly last_sender_id?: SenderId | null;
}

/** Adds a free address to a contact. The address keeps the consent that it had before. */
export async function insertIdentity(
  tx: Tx,
  secret: KeyObject,
  { contact_id, medium, address, last_sender_id = null }: NewIdentity,
): Promise<Seen<IdentityRow>> {
  const { status, opted_out_of, opted_in_to } = await holdConsent(tx, secret, medium, address);
  return tx.insert(identities, {
    medium,
    address,
    contact_id,
    last_sender_id,
    consent: status,
    opted_out_of,
    opted_in_to,
    created_at: tx.now,
  });
}

/**
 * Checks that a contact can get one more address. Code that reads all addresses of a contact relies
 * on the limit.
 * @throws TidingsError `conflict`
 */
export async function refuseTooManyAddresses(tx: Tx, contact_id: ContactId): Promise<void> {
  const own = await tx.list(identitiesOfContact, [contact_id], maxIdentities);
  if (own.length < maxIdentities) return;
  throw new TidingsError("conflict", `A contact can have at most ${maxIdentities} addresses.`);
}

/**
 * Checks that no other contact has a phone number. Returns the identity if this contact has it.
 * @throws TidingsError `conflict` with the id of the contact that has the number
 */
export async function requireFreePhone(
  tx: Tx,
  phone: string,
  contact_id?: ContactId,
): Promise<Seen<IdentityRow> | undefined> {
  const identity = await tx.get(identityByAddress, ["text", phone], {
    hold: true,
  });
  if (identity === undefined || identity.contact_id === contact_id) return identity;
  const message = "Another contact has this phone number.";
  throw new TidingsError("conflict", message, {
    conflictingId: identity.contact_id,
    errors: [{ pointer: "/phone", code: "taken", message: "another contact has this number" }],
  });
}

/**
 * Removes an address from its contact, and erases the stored responses that show it. See
 * `releaseAddress`.
 */
export async function forgetAddress(
  tx: Tx,
  secret: KeyObject,
  identity: Seen<IdentityRow>,
): Promise<void> {
  const hash = await releaseAddress(tx, secret, identity);
  // Growing chunks, as in `releaseAddress`.
  for (let chunk = 200; !(await eraseStoredResponses(tx, hash, chunk)); chunk *= 4);
}

/**
 * Removes an address from its contact. Its consent and evidence, if any, stay under a keyed hash of
 * the address. The free text of the evidence is removed, because it must not be shown with the next
 * owner. Returns the hash, under which stored responses may still show the address.
 */
export async function releaseAddress(
  tx: Tx,
  secret: KeyObject,
  identity: Seen<IdentityRow>,
): Promise<string> {
  const { medium, address } = identity;
  const hash = addressHash(secret, identity, medium, address);
  // The transaction reads its own writes again in each pass. Growing chunks keep the total from
  // being quadratic.
  for (let chunk = 200; ; chunk *= 4) {
    const worded = await tx.list(consentEvidenceWithText, [medium, hash], chunk);
    for (const row of worded) tx.update(consentEvidence, row, { detail: null });
    if (worded.length < chunk) break;
  }
  await removeNoConsent(tx, medium, hash);
  tx.remove(identities, identity);
  return hash;
}
