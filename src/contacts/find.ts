import { contactCreated } from "./events.ts";
import type { DrawId, Medium } from "../kernel/index.ts";
import type { KeyObject } from "node:crypto";
import { contactResource } from "./resource.ts";
import { identityByAddress, type IdentityRow } from "./rows.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { appendEvent } from "../events/index.ts";
import { insertContact } from "./write.ts";
import { insertIdentity } from "./write-identity.ts";

/** Whose address it is. An address that was never seen becomes a contact. */
export async function findContact(
  tx: Tx,
  drawId: DrawId,
  secret: KeyObject,
  medium: Medium,
  address: string,
): Promise<Seen<IdentityRow>> {
  const known = await tx.get(identityByAddress, [medium, address]);
  return known ?? meetContact(tx, drawId, secret, medium, address);
}

/** Makes a contact of an address that was looked for and never seen. */
export async function meetContact(
  tx: Tx,
  drawId: DrawId,
  secret: KeyObject,
  medium: Medium,
  address: string,
): Promise<Seen<IdentityRow>> {
  const contact = insertContact(tx, drawId, medium === "text" ? { phone: address } : {});
  const contact_id = contact.id;
  const identity = await insertIdentity(tx, secret, { contact_id, medium, address });
  appendEvent(
    tx,
    drawId,
    contactCreated,
    { contact: contactResource(contact, [identity], []) },
    { contact_id },
  );
  return identity;
}
