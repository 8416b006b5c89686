import { contactById, identitiesOfContact, identityByAddress, type IdentityRow } from "../../domain/contacts/rows.ts";
import { mostIdentities } from "../../domain/contacts/rules.ts";
import type { Medium } from "../../fields.ts";
import { invalid } from "../../errors.ts";
import type { Seen } from "../../ports/collection.ts";
import type { Scope } from "../../scope.ts";
import type { Tx } from "../../transactions/transaction.ts";

/**
 * The address that a message goes to: a phone number's, or a contact's on the medium. `undefined` when the number was never seen.
 * @throws TidingsError `validation_failed` when there is no such contact, or it has no address there
 */
export async function findRecipient(
  tx: Tx,
  { account_id, mode }: Scope,
  medium: Medium,
  to: string,
): Promise<Seen<IdentityRow> | undefined> {
  if (to.startsWith("+")) return tx.get(identityByAddress, [account_id, mode, medium, to]);
  const named = await tx.get(contactById, [account_id, mode, to]);
  const survivor = named?.merged_into ?? null;
  const contact = survivor === null ? named : await tx.get(contactById, [account_id, mode, survivor]);
  if (contact === undefined) throw invalid([{ pointer: "/to", code: "unknown_contact", message: "no such contact" }]);
  const identities = await tx.list(identitiesOfContact, [contact.id, medium], mostIdentities);
  // Of several that came together in a merge: the number that it is known by, else the one that was seen last.
  const known = identities.find(({ address }) => medium === "text" && address === contact.phone);
  const [identity] = known === undefined ? identities.toSorted((a, b) => b.created_at - a.created_at) : [known];
  // By its address it is the same row however it was come by, and so can be held and written.
  if (identity !== undefined) return tx.get(identityByAddress, [account_id, mode, medium, identity.address]);
  throw invalid([{ pointer: "/to", code: "no_address", message: `the contact has no ${medium} address` }]);
}
