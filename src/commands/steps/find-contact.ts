import { contactResource } from "../../domain/contacts/resource.ts";
import { contacts, identities, identityByAddress, type IdentityRow } from "../../domain/contacts/rows.ts";
import type { Medium } from "../../fields.ts";
import type { Seen } from "../../ports/collection.ts";
import type { Tx } from "../../transactions/transaction.ts";
import { type Actor, appendEvent } from "./append-event.ts";

/** Whose address it is. An address that was never seen becomes a contact. */
export async function findContact(tx: Tx, actor: Actor, medium: Medium, address: string): Promise<Seen<IdentityRow>> {
  const { account_id, mode } = actor.scope;
  return (
    (await tx.get(identityByAddress, [account_id, mode, medium, address])) ?? meetContact(tx, actor, medium, address)
  );
}

/** Makes a contact of an address that was looked for and never seen. */
export function meetContact(tx: Tx, actor: Actor, medium: Medium, address: string): Seen<IdentityRow> {
  const { scope, drawId } = actor;
  const contact = tx.insert(contacts, {
    ...scope,
    id: drawId("ct"),
    name: null,
    phone: medium === "text" ? address : null,
    email: null,
    time_zone: null,
    language: null,
    labels: [],
    attributes: {},
    mood: null,
    merged_into: null,
    last_message_at: null,
    created_at: tx.now,
    updated_at: tx.now,
  });
  const identity = tx.insert(identities, {
    ...scope,
    medium,
    address,
    contact_id: contact.id,
    last_sender_id: null,
    consent: "unknown",
    opted_out_of: [],
    created_at: tx.now,
  });
  appendEvent(
    tx,
    actor,
    "contact.created",
    { contact: contactResource(contact, [identity]) },
    { contact_id: contact.id },
  );
  return identity;
}
