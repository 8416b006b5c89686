import type { KeyObject } from "node:crypto";
import { appendEvent } from "../events/index.ts";
import { definedFields, withId, type ById } from "../kernel/index.ts";
import { hasChanges, showsOutput, type Command } from "../operations/index.ts";
import type { Tx } from "../store/index.ts";
import { contactUpdated } from "./events.ts";
import { contactToChange } from "./find.ts";
import {
  forgetAddress,
  insertIdentity,
  refuseTooManyAddresses,
  requireFreePhone,
} from "./identities.ts";
import {
  createContactSchema,
  updateContactSchema,
  type CreateContact,
  type UpdateContact,
} from "./input-types.ts";
import { identityByAddress, type ContactRow } from "./rows.ts";
import { showContact } from "./show.ts";
import type { Contact } from "./types.ts";
import { insertContact, publishCreated, writeContact } from "./write-contact.ts";

/**
 * Creates a contact before any message. A phone number belongs to one contact, even when requests
 * race.
 */
export const createContact: Command<CreateContact, Contact> = {
  kind: "command",
  name: "contacts.create",
  input: createContactSchema,
  status: 201,
  shows: showsOutput,
  async run(tx, facts, { services }) {
    const { phone: address } = facts;
    if (address !== undefined) await requireFreePhone(tx, address);
    const contact = insertContact(tx, facts);
    const contact_id = contact.id;
    const own = { contact_id, medium: "text" } as const;
    const identities =
      address === undefined ? [] : [await insertIdentity(tx, services.secret, { ...own, address })];
    return publishCreated(tx, contact, identities);
  },
};

/** Updates the given fields of a contact. If nothing differs, it writes nothing. */
export const updateContact: Command<UpdateContact & ById, Contact> = {
  kind: "command",
  name: "contacts.update",
  input: (limits) => withId(updateContactSchema(limits), "The id of the contact."),
  status: 200,
  shows: showsOutput,
  async run(tx, { id, ...change }, { services }) {
    // Locked even when nothing changes: a concurrent erasure must find the stored response.
    const contact = await contactToChange(tx, id, { hold: true });
    const facts = definedFields(change);
    if (!hasChanges(contact, facts)) return showContact(tx, contact, services);
    if (change.phone !== undefined && change.phone !== contact.phone) {
      await changePhone(tx, services.secret, contact, change.phone);
    }
    const updated = await showContact(tx, await writeContact(tx, contact, facts), services);
    appendEvent(tx, contactUpdated, { contact: updated }, { contact_id: contact.id });
    return updated;
  },
};

/**
 * Releases the old number, so that a message from it creates a new contact. A contact that already
 * has the new number, as after a merge, keeps both.
 */
async function changePhone(
  tx: Tx,
  secret: KeyObject,
  { id, phone }: ContactRow,
  address: string | null,
): Promise<void> {
  if (address !== null && (await requireFreePhone(tx, address, id)) !== undefined) return;
  const before = phone === null ? undefined : await tx.get(identityByAddress, ["text", phone]);
  if (before !== undefined) await forgetAddress(tx, secret, before);
  if (address === null) return;
  await refuseTooManyAddresses(tx, id);
  await insertIdentity(tx, secret, { contact_id: id, medium: "text", address, last: before });
}
