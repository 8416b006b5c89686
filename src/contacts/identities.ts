import type { KeyObject } from "node:crypto";
import { TidingsError, type ContactId, type Medium, type SenderId } from "../kernel/index.ts";
import { eraseStoredResponses } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { addressHash } from "./consent/consent-rules.ts";
import { consentEvidence, consentEvidenceWithText } from "./consent/rows.ts";
import { holdConsent, removeNoConsent } from "./consent/stored-consent.ts";
import {
  identities,
  identitiesOfContact,
  identityByAddress,
  maxIdentities,
  type IdentityRow,
} from "./rows.ts";

interface NewIdentity {
  readonly contact_id: ContactId;
  readonly medium: Medium;
  readonly address: string;
  /**
   * The sender of the contact's previous address, so that the contact keeps seeing the same number.
   */
  readonly last?: Pick<IdentityRow, "last_sender_id" | "last_sender"> | undefined;
}

const noSender = { last_sender_id: null, last_sender: null } as const;

/** Adds a free address to a contact. The address keeps the consent that it had before. */
export async function insertIdentity(
  tx: Tx,
  secret: KeyObject,
  { contact_id, medium, address, last: { last_sender_id, last_sender } = noSender }: NewIdentity,
): Promise<Seen<IdentityRow>> {
  const { status, opted_out_of, opted_in_to } = await holdConsent(tx, secret, medium, address);
  return tx.insert(identities, {
    medium,
    address,
    contact_id,
    last_sender_id,
    last_sender,
    consent: status,
    opted_out_of,
    opted_in_to,
    created_at: tx.now,
  });
}

/**
 * Makes a sender the one that later messages to the address come from. With `onlyIfNone` it does
 * not replace an earlier sender: an opt-out may be from this one only, and the contact has not seen
 * the sender of a scheduled message yet.
 */
export function setLastSender(
  tx: Tx,
  identity: Seen<IdentityRow>,
  { id, address }: { readonly id: SenderId; readonly address: string },
  { onlyIfNone }: { readonly onlyIfNone: boolean },
): void {
  const { last_sender_id: before, last_sender } = identity;
  const isSame = before === id && last_sender === address;
  if (isSame || (onlyIfNone && before !== null)) return;
  tx.update(identities, identity, { last_sender_id: id, last_sender: address });
}

/** The sender that a contact saw last. */
export interface LastSender {
  readonly id: SenderId;
  /** Null if only the id is known. */
  readonly address: string | null;
}

/** Returns the sender that the owner of an address saw last. Null if there is none. */
export function lastSenderOf(identity: IdentityRow | undefined): LastSender | null {
  if (identity === undefined || identity.last_sender_id === null) return null;
  return { id: identity.last_sender_id, address: identity.last_sender };
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
  const identity = await tx.get(identityByAddress, ["text", phone], { hold: true });
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
