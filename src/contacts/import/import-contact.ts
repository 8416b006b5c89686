import { appendEvent } from "../../events/index.ts";
import { definedFields } from "../../kernel/index.ts";
import { hasChanges, showsNothing, type Command, type Services } from "../../operations/index.ts";
import { StorageConflict } from "../../ports/index.ts";
import type { Tx } from "../../store/index.ts";
import { isNewConsent } from "../consent/consent-rules.ts";
import { consentOf, setConsent } from "../consent/stored-consent.ts";
import { contactUpdated } from "../events.ts";
import { contactById, identityByAddress, type IdentityRow } from "../rows.ts";
import { showContact } from "../show.ts";
import { createContactWith, writeContact } from "../write-contact.ts";
import { importContactSchema, type ImportContact, type ImportSuccess } from "./import-types.ts";

type ImportedContact = Pick<ImportSuccess, "status" | "contact_id">;

/** Creates or updates the contact of a phone number. A repetition changes nothing. */
export const importContact: Command<ImportContact, ImportedContact> = {
  kind: "command",
  name: "contacts.import_one",
  input: importContactSchema,
  status: 200,
  shows: showsNothing,
  isItem: true,
  async run(tx, { phone, consent, ...given }, { services }) {
    const facts = definedFields(given);
    // Held: a concurrent merge or erasure moves or removes the identity.
    const identity = await tx.get(identityByAddress, ["text", phone], { hold: true });
    if (identity === undefined) {
      const address = { medium: "text", address: phone } as const;
      const own = await createContactWith(tx, services, { ...facts, phone }, address);
      await applyConsent(tx, services, own, consent);
      return { status: "created", contact_id: own.contact_id };
    }
    const { contact_id } = identity;
    const known = await tx.get(contactById, [contact_id]);
    if (known === undefined) throw new StorageConflict("the contact was erased between two reads");
    const hasNewFacts = hasChanges(known, facts);
    if (hasNewFacts) {
      const contact = await showContact(tx, await writeContact(tx, known, facts), services);
      appendEvent(tx, contactUpdated, { contact }, { contact_id });
    }
    const hasNewConsent = await applyConsent(tx, services, identity, consent);
    return { status: hasNewFacts || hasNewConsent ? "updated" : "unchanged", contact_id };
  },
};

/**
 * Applies an imported consent. Returns whether it changed the consent of the address. An import
 * does not know when the consent was given. So it may record an opt-out, but does not replace
 * consent that was given here.
 */
async function applyConsent(
  tx: Tx,
  { secret }: Services,
  identity: IdentityRow,
  imported: ImportContact["consent"],
): Promise<boolean> {
  if (imported === undefined) return false;
  const { medium, address, consent, opted_out_of, opted_in_to } = identity;
  const { status, detail = null } = imported;
  if (!isNewConsent(consentOf(identity), { status, sender: null })) return false;
  const isKnown = consent !== "unknown" || opted_out_of.length > 0 || opted_in_to.length > 0;
  if (status === "opted_in" && isKnown) return false;
  const written = await setConsent(tx, secret, {
    medium,
    address,
    status,
    sender: null,
    source: "import",
    message_id: null,
    detail,
  });
  return written.isChanged;
}
