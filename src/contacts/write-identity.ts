import type { KeyObject } from "node:crypto";
import { identities, identityByAddress, type IdentityRow } from "./rows.ts";
import { type ContactId, type Medium, type SenderId, TidingsError } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { findConsent } from "./find-consent.ts";

export interface NewIdentity {
  readonly contact_id: ContactId;
  readonly medium: Medium;
  readonly address: string;
  /** Where the contact had another address before: it goes on seeing the same number. */
  readonly last_sender_id?: SenderId | null;
}

/** Gives a contact an address that is nobody's. What the address allows is what it allowed when it was somebody's. */
export async function insertIdentity(
  tx: Tx,
  secret: KeyObject,
  { contact_id, medium, address, last_sender_id = null }: NewIdentity,
): Promise<Seen<IdentityRow>> {
  const { status, opted_out_of, opted_in_to } = await findConsent(tx, secret, medium, address);
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
 * Whether nobody has a phone number; the identity, where the contact itself has it.
 * @throws TidingsError `conflict`, with the id of the contact that has it
 */
export async function ownPhone(
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
    errors: [{ pointer: "/phone", code: "taken", message: "another contact has it" }],
  });
}
