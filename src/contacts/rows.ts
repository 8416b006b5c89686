import type { ContactId, Medium, SenderId } from "../kernel/index.ts";
import { json, nullable, scoped, text, time, type RowOf } from "../ports/index.ts";
import type { ConsentStatus } from "./consent/consent-types.ts";
import type { SentimentState } from "./sentiment/sentiment-rules.ts";

export const contacts = scoped("contacts", {
  id: text<ContactId>(),
  name: nullable(text()),
  phone: nullable(text()),
  email: nullable(text()),
  time_zone: nullable(text()),
  language: nullable(text()),
  labels: json<readonly string[]>(),
  attributes: json<Readonly<Record<string, string>>>(),
  /** The sentiment state of the contact's messages. Null before the first score. */
  sentiment_state: nullable(json<SentimentState>()),
  /** The contact that this one was merged into. It is never a merged contact itself. */
  merged_into: nullable(text<ContactId>()),
  /**
   * The time of the last message in the closed conversations. Active conversations keep their own
   * time, so that a send does not write the contact.
   */
  last_message_at: nullable(time()),
  /**
   * The search words (`search/search-rules.ts`). Null for a contact with only a phone number, which
   * then costs no index entry.
   */
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

/** An index of contacts by label. The contact row holds its labels as well. */
export const contactLabels = scoped("contact_labels", {
  label: text(),
  contact_id: text<ContactId>(),
});

export const contactsByLabel = contactLabels.key("label", "contact_id");

/**
 * An address of a contact. The key ensures that an address belongs to one contact, even when
 * requests race.
 */
export const identities = scoped("contact_identities", {
  medium: text<Medium>(),
  address: text(),
  contact_id: text<ContactId>(),
  /**
   * The sender of the last message in either direction, so that the contact keeps seeing the same
   * number.
   */
  last_sender_id: nullable(text<SenderId>()),
  /**
   * The address of that sender. A sender that is removed and added again, for example with another
   * carrier, has a new id.
   */
  last_sender: nullable(text()),
  /**
   * A copy of the address's consent, which outlives the contact (`consent/rows.ts`). A send reads
   * the address and needs no second lookup. Both are written together.
   */
  consent: text<ConsentStatus>(),
  opted_out_of: json<readonly string[]>(),
  opted_in_to: json<readonly string[]>(),
  created_at: time(),
});
export interface IdentityRow extends RowOf<typeof identities> {}

/**
 * The maximum number of addresses of one contact. They are merged in one transaction and shown with
 * the contact.
 */
export const maxIdentities = 100;

export const identityByAddress = identities.key("medium", "address");
export const identitiesOfContact = identities.byId.index("by_contact_id", ["contact_id", "medium"]);
/** The addresses that have opted out. */
export const optedOutIdentities = identities.index("opted_out", ["contact_id"], {
  where: { column: "consent", in: ["opted_out"] },
});
