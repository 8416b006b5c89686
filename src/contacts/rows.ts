import type { ContactId, Medium, SenderId } from "../kernel/index.ts";
import { json, nullable, type RowOf, scoped, text, time } from "../ports/index.ts";
import type { ConsentStatus } from "./consent-types.ts";
import type { Mood } from "./sentiment-types.ts";

export const contacts = scoped("contacts", {
  id: text<ContactId>(),
  name: nullable(text()),
  phone: nullable(text()),
  email: nullable(text()),
  time_zone: nullable(text()),
  language: nullable(text()),
  labels: json<readonly string[]>(),
  attributes: json<Readonly<Record<string, string>>>(),
  /** What its messages so far come to; null before the first was scored. */
  mood: nullable(json<Mood>()),
  /** Who it is now. Nobody points at a contact that is merged itself. */
  merged_into: nullable(text<ContactId>()),
  /** The last message of its closed conversations. Those that are active have their own, so that a send writes nothing here. */
  last_message_at: nullable(time()),
  /** What it is found by (`search.ts`). Null costs nothing: a contact that is known by its phone number alone has no words. */
  words: nullable(text()),
  created_at: time(),
  updated_at: time(),
});
export interface ContactRow extends RowOf<typeof contacts> {}

export const contactById = contacts.key("id");
export const contactsByWords = contacts.words("words", "words");
export const contactsMergedInto = contacts.index("by_merged_into", ["merged_into"], {
  where: { column: "merged_into", present: true },
});

/** A label of a contact. The contact has them too; these find those that have one. */
export const contactLabels = scoped("contact_labels", {
  label: text(),
  contact_id: text<ContactId>(),
});
export interface ContactLabelRow extends RowOf<typeof contactLabels> {}

export const contactsByLabel = contactLabels.key("label", "contact_id");

/** An address of a contact. It belongs to one contact, whatever races: the key says so. */
export const identities = scoped("contact_identities", {
  medium: text<Medium>(),
  address: text(),
  contact_id: text<ContactId>(),
  /** The sender that last wrote to it or was written to: the contact goes on seeing the same number. */
  last_sender_id: nullable(text<SenderId>()),
  /**
   * What the address allows: a copy of its consent's, which outlives the contact (`domain/consents`), so that a send that knows the
   * address need not look further. Both are written together.
   */
  consent: text<ConsentStatus>(),
  opted_out_of: json<readonly string[]>(),
  opted_in_to: json<readonly string[]>(),
  created_at: time(),
});
export interface IdentityRow extends RowOf<typeof identities> {}

export const identityByAddress = identities.key("medium", "address");
export const identitiesOfContact = identities.byId.index("by_contact_id", ["contact_id", "medium"]);
/** Who has opted out. */
export const optedOutIdentities = identities.index("opted_out", ["contact_id"], {
  where: { column: "consent", in: ["opted_out"] },
});
