import { contactCreated } from "./events.ts";
import { contactResource } from "./resource.ts";
import { type Contact, type CreateContact, createContactSchema } from "./types.ts";
import { type Command, showsOutput } from "../operations/operation.ts";
import { actorOf, appendEvent } from "../events/append.ts";
import { insertContact } from "./write.ts";
import { insertIdentity, ownPhone } from "./write-identity.ts";

/** Makes a contact of somebody who has not written yet. One phone number is one contact's, whatever races. */
export const createContact: Command<CreateContact, Contact> = {
  kind: "command",
  name: "contacts.create",
  input: createContactSchema,
  status: 201,
  shows: showsOutput,
  async run(tx, facts, { scope, services }) {
    const actor = actorOf(scope, services.drawId);
    const { phone: address } = facts;
    if (address !== undefined) await ownPhone(tx, actor, address);
    const contact = insertContact(tx, actor, facts);
    const contact_id = contact.id;
    const own = { contact_id, medium: "text" } as const;
    const identities =
      address === undefined
        ? []
        : [await insertIdentity(tx, actor, services.secret, { ...own, address })];
    const resource = contactResource(contact, identities, []);
    appendEvent(tx, actor, contactCreated, { contact: resource }, { contact_id });
    return resource;
  },
};
