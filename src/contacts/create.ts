import { contactCreated } from "./events.ts";
import { contactResource } from "./resource.ts";
import { type Contact, type CreateContact, createContactSchema } from "./types.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import { appendEvent } from "../events/index.ts";
import { insertContact } from "./write.ts";
import { insertIdentity, ownPhone } from "./write-identity.ts";

/** Makes a contact of somebody who has not written yet. One phone number is one contact's, whatever races. */
export const createContact: Command<CreateContact, Contact> = {
  kind: "command",
  name: "contacts.create",
  input: createContactSchema,
  status: 201,
  shows: showsOutput,
  async run(tx, facts, { services }) {
    const { drawId } = services;
    const { phone: address } = facts;
    if (address !== undefined) await ownPhone(tx, address);
    const contact = insertContact(tx, drawId, facts);
    const contact_id = contact.id;
    const own = { contact_id, medium: "text" } as const;
    const identities =
      address === undefined ? [] : [await insertIdentity(tx, services.secret, { ...own, address })];
    const resource = contactResource(contact, identities, []);
    appendEvent(tx, drawId, contactCreated, { contact: resource }, { contact_id });
    return resource;
  },
};
