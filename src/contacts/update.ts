import { contactUpdated } from "./events.ts";
import type { KeyObject } from "node:crypto";
import { type ContactRow, identityByAddress } from "./rows.ts";
import { type Contact, type UpdateContact, updateContactSchema } from "./types.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import type { Tx } from "../store/index.ts";
import { appendEvent } from "../events/index.ts";
import { contactToChange } from "./find-to-change.ts";
import { forgetAddress } from "./forget-address.ts";
import { showContact } from "./show.ts";
import { writeContact } from "./write.ts";
import { insertIdentity, ownPhone } from "./write-identity.ts";

/** Changes what is said of a contact. */
export const updateContact: Command<UpdateContact, Contact> = {
  kind: "command",
  name: "contacts.update",
  input: updateContactSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id, ...change }, { services }) {
    // Held, for where nothing changes: an erasure that commits meanwhile must find what is remembered of the answer.
    const contact = await contactToChange(tx, id, { hold: true });
    const facts = Object.fromEntries(
      Object.entries(change).filter(([, value]) => value !== undefined),
    );
    if (Object.keys(facts).length === 0) return showContact(tx, contact, services);
    const { drawId } = services;
    if (change.phone !== undefined && change.phone !== contact.phone) {
      await changePhone(tx, services.secret, contact, change.phone);
    }
    const updated = await showContact(tx, await writeContact(tx, contact, facts), services);
    appendEvent(tx, drawId, contactUpdated, { contact: updated }, { contact_id: contact.id });
    return updated;
  },
};

/**
 * The number that it had is nobody's from then on, and who writes from it is somebody new. Where it has the new one already, as after a
 * merge, it keeps both.
 */
async function changePhone(
  tx: Tx,
  secret: KeyObject,
  { id, phone }: ContactRow,
  address: string | null,
): Promise<void> {
  if (address !== null && (await ownPhone(tx, address, id)) !== undefined) return;
  const before = phone === null ? undefined : await tx.get(identityByAddress, ["text", phone]);
  const last_sender_id = before?.last_sender_id ?? null;
  if (before !== undefined) await forgetAddress(tx, secret, before);
  if (address === null) return;
  await insertIdentity(tx, secret, {
    contact_id: id,
    medium: "text",
    address,
    last_sender_id,
  });
}
