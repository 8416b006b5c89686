/** The recipients of messages. A caller names one by a phone number or by the id of a contact. */
import type { KeyObject } from "node:crypto";
import { invalid, type Medium, type Scope } from "../kernel/index.ts";
import { StorageConflict, type Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { addressHash } from "./consent/consent-rules.ts";
import { unknownContact } from "./find.ts";
import {
  contactById,
  identitiesOfContact,
  identityByAddress,
  maxIdentities,
  type ContactRow,
  type IdentityRow,
} from "./rows.ts";

/**
 * One hop to the survivor of a merge suffices. The others are for merges that commit between the
 * reads.
 */
const maxHops = 3;

/**
 * Returns the address of a recipient: a phone number, or a contact's address on the medium. Returns
 * `undefined` for an unknown number.
 * @throws TidingsError `validation_failed` when the contact does not exist or has no address on the
 * medium
 */
export async function findRecipient(
  tx: Tx,
  medium: Medium,
  to: string,
  pointer = "/to",
): Promise<Seen<IdentityRow> | undefined> {
  const at = (address: string) => tx.get(identityByAddress, [medium, address]);
  if (to.startsWith("+")) return at(to);
  let id = to;
  for (let hops = 0; hops < maxHops; hops++) {
    // The addresses are read first. A merge moves them and sets `merged_into` in one commit, so if
    // they are gone, the contact row says where they are.
    const identities = await tx.list(identitiesOfContact, [id, medium], maxIdentities);
    const contact = await tx.get(contactById, [id]);
    if (contact === undefined) throw unknownContact(id, pointer);
    if (contact.merged_into !== null) {
      id = contact.merged_into;
      continue;
    }
    const identity = preferredAddress(contact, identities);
    if (identity === undefined) {
      const message = `the contact has no ${medium} address`;
      throw invalid([{ pointer, code: "no_address", message }]);
    }
    // Read by its key, so that the caller can lock and write the row.
    const latest = await at(identity.address);
    if (latest !== undefined) return latest;
    throw new StorageConflict("the contact gave up the address between two reads");
  }
  throw new StorageConflict("the contact was merged again between the reads");
}

/**
 * After a merge a contact may have several addresses. Prefers the contact's phone number, then the
 * newest address.
 */
export function preferredAddress(
  { phone }: ContactRow,
  identities: readonly Seen<IdentityRow>[],
): Seen<IdentityRow> | undefined {
  const known = identities.find(({ medium, address }) => medium === "text" && address === phone);
  return known ?? identities.toSorted((a, b) => b.created_at - a.created_at)[0];
}

/**
 * The key under which an erasure finds a stored response that shows a recipient: a contact's id, or
 * the hash of a phone number.
 */
export function recipientMark(secret: KeyObject, scope: Scope, medium: Medium, to: string): string {
  return to.startsWith("+") ? addressHash(secret, scope, medium, to) : to;
}
