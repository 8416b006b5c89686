import { contactCreated, contactUpdated } from "./events.ts";
import type { DrawId } from "../kernel/index.ts";
import type { KeyObject } from "node:crypto";
import { contactResource } from "./resource.ts";
import { contactById, type ContactRow, identityByAddress, type IdentityRow } from "./rows.ts";
import { type ImportContact, importContactSchema, type ImportedContact } from "./types.ts";
import type { Command } from "../operations/index.ts";
import { StorageConflict } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { appendEvent } from "../events/index.ts";
import { setConsent } from "./write-consent.ts";
import { showContact } from "./show.ts";
import { insertContact, writeContact } from "./write.ts";
import { insertIdentity } from "./write-identity.ts";

/** Makes the contact of a phone number, or brings it up to date; done again, it changes nothing. */
export const importContact: Command<ImportContact, ImportedContact> = {
  kind: "command",
  name: "contacts.import_one",
  input: importContactSchema,
  status: 200,
  async run(tx, { phone, consent, ...given }, { services }) {
    const { drawId } = services;
    const { secret } = services;
    const facts = factsOf(given);
    // Held: whoever merges or erases the contact meanwhile moves it or takes it away.
    const identity = await tx.get(identityByAddress, ["text", phone], {
      hold: true,
    });
    if (identity === undefined) {
      const contact = insertContact(tx, drawId, { ...facts, phone });
      const contact_id = contact.id;
      const own = await insertIdentity(tx, secret, {
        contact_id,
        medium: "text",
        address: phone,
      });
      appendEvent(
        tx,
        drawId,
        contactCreated,
        { contact: contactResource(contact, [own], []) },
        { contact_id },
      );
      await takeConsent(tx, drawId, secret, own, consent);
      return { status: "created", contact_id };
    }
    const { contact_id } = identity;
    const known = await tx.get(contactById, [contact_id]);
    if (known === undefined) throw new StorageConflict("the contact was erased between two reads");
    const isNew = changes(known, facts);
    if (isNew) {
      const contact = await showContact(tx, await writeContact(tx, known, facts), services);
      appendEvent(tx, drawId, contactUpdated, { contact }, { contact_id });
    }
    const isSaid = await takeConsent(tx, drawId, secret, identity, consent);
    return { status: isNew || isSaid ? "updated" : "unchanged", contact_id };
  },
};

type Given = Omit<ImportContact, "phone" | "consent">;
type Facts = { [K in keyof Given]?: Exclude<Given[K], undefined> };

/** What is absent stays as it is. */
function factsOf(given: Given): Facts {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function changes(known: ContactRow, facts: Facts): boolean {
  return Object.entries(facts).some(
    ([name, value]) => plain(Reflect.get(known, name)) !== plain(value),
  );
}

/** The order of attributes is nothing that anybody said. */
function plain(value: unknown): string {
  const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
  return JSON.stringify(
    isMap ? Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)) : value,
  );
}

/** An import knows of no day: it can tell of an opt-out, but what somebody said here it can't take back. */
async function takeConsent(
  tx: Tx,
  drawId: DrawId,
  secret: KeyObject,
  { medium, address, consent, opted_out_of }: IdentityRow,
  said: ImportContact["consent"],
): Promise<boolean> {
  if (said === undefined || said.status === consent) return false;
  if (said.status === "opted_in" && (consent !== "unknown" || opted_out_of.length > 0)) {
    return false;
  }
  const { status, detail = null } = said;
  const written = await setConsent(tx, drawId, secret, {
    medium,
    address,
    status,
    sender: null,
    source: "import",
    message_id: null,
    detail,
  });
  return written.isNews;
}
