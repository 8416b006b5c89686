import { contactCreated } from "./events.ts";
import type { KeyObject } from "node:crypto";
import { contactResource } from "./resource.ts";
import { identityByAddress, type IdentityRow } from "./rows.ts";
import type { Medium } from "../kernel/fields.ts";
import type { Seen } from "../ports/collection.ts";
import type { Tx } from "../store/transaction.ts";
import { type Actor, appendEvent } from "../events/append.ts";
import { insertContact } from "./write.ts";
import { insertIdentity } from "./write-identity.ts";

/** Whose address it is. An address that was never seen becomes a contact. */
export async function findContact(
  tx: Tx,
  actor: Actor,
  secret: KeyObject,
  medium: Medium,
  address: string,
): Promise<Seen<IdentityRow>> {
  const { account_id, mode } = actor.scope;
  const known = await tx.get(identityByAddress, [account_id, mode, medium, address]);
  return known ?? meetContact(tx, actor, secret, medium, address);
}

/** Makes a contact of an address that was looked for and never seen. */
export async function meetContact(
  tx: Tx,
  actor: Actor,
  secret: KeyObject,
  medium: Medium,
  address: string,
): Promise<Seen<IdentityRow>> {
  const contact = insertContact(tx, actor, medium === "text" ? { phone: address } : {});
  const contact_id = contact.id;
  const identity = await insertIdentity(tx, actor, secret, { contact_id, medium, address });
  appendEvent(
    tx,
    actor,
    contactCreated,
    { contact: contactResource(contact, [identity], []) },
    { contact_id },
  );
  return identity;
}
