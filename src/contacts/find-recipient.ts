import type { KeyObject } from "node:crypto";
import { addressHash } from "./consent-rules.ts";
import {
  contactById,
  type ContactRow,
  identitiesOfContact,
  identityByAddress,
  type IdentityRow,
} from "./rows.ts";
import { mostIdentities } from "./rules.ts";
import { invalid, type Medium, type Scope } from "../kernel/index.ts";
import { type Seen, StorageConflict } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

/** Nobody is merged into who is merged, so one is enough where nothing moves between the reads. */
const mostHops = 3;

/**
 * The address that a message goes to: a phone number's, or a contact's on the medium. `undefined` when the number was never seen.
 * @throws TidingsError `validation_failed` when there is no such contact, or it has no address there
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
  for (let hops = 0; hops < mostHops; hops++) {
    // The addresses first. A merge moves them and says where to in one commit: where they are gone, the contact says so.
    const identities = await tx.list(identitiesOfContact, [id, medium], mostIdentities);
    const contact = await tx.get(contactById, [id]);
    if (contact === undefined) {
      throw invalid([{ pointer, code: "unknown_contact", message: "no such contact" }]);
    }
    if (contact.merged_into === null) {
      const identity = usualOf(contact, identities);
      if (identity === undefined) {
        throw invalid([
          { pointer, code: "no_address", message: `the contact has no ${medium} address` },
        ]);
      }
      // By its address it is the same row however it was come by, and so can be held and written.
      const latest = await at(identity.address);
      if (latest === undefined) {
        throw new StorageConflict("the contact gave the address up between two reads");
      }
      return latest;
    }
    id = contact.merged_into;
  }
  throw new StorageConflict("the contact was merged on between the reads");
}

/** Of several that came together in a merge: the number that it is known by, else the one that was seen last. */
function usualOf(
  { phone }: ContactRow,
  identities: readonly Seen<IdentityRow>[],
): Seen<IdentityRow> | undefined {
  const known = identities.find(({ medium, address }) => medium === "text" && address === phone);
  return known ?? identities.toSorted((a, b) => b.created_at - a.created_at)[0];
}

/** What an answer that shows whom a message would go to is found by when that is erased: a contact's id, or what stands for a number. */
export function recipientMark(secret: KeyObject, scope: Scope, medium: Medium, to: string): string {
  return to.startsWith("+") ? addressHash(secret, scope, medium, to) : to;
}
