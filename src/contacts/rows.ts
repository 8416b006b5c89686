import type { AccountId, ContactId, SenderId } from "../kernel/ids.ts";
import { collection, json, nullable, text, time } from "../ports/collection.ts";
import type { Mode } from "../kernel/scope.ts";
import type { Medium } from "../kernel/fields.ts";
import type { ConsentStatus } from "./consent-types.ts";
import type { Mood } from "./sentiment-types.ts";

export interface ContactRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly id: ContactId;
  readonly name: string | null;
  readonly phone: string | null;
  readonly email: string | null;
  readonly time_zone: string | null;
  readonly language: string | null;
  readonly labels: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
  /** What its messages so far come to; null before the first was scored. */
  readonly mood: Mood | null;
  /** Who it is now. Nobody points at a contact that is merged itself. */
  readonly merged_into: ContactId | null;
  /** The last message of its closed conversations. Those that are active have their own, so that a send writes nothing here. */
  readonly last_message_at: number | null;
  /** What it is found by (`search.ts`). Null costs nothing: a contact that is known by its phone number alone has no words. */
  readonly words: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

export const contacts = collection<ContactRow>("contacts", {
  account_id: text,
  mode: text,
  id: text,
  name: nullable(text),
  phone: nullable(text),
  email: nullable(text),
  time_zone: nullable(text),
  language: nullable(text),
  labels: json,
  attributes: json,
  mood: nullable(json),
  merged_into: nullable(text),
  last_message_at: nullable(time),
  words: nullable(text),
  created_at: time,
  updated_at: time,
});
export const contactById = contacts.key("account_id", "mode", "id");
export const contactsByWords = contacts.words("words", "words");
export const contactsMergedInto = contacts.index(
  "by_merged_into",
  ["account_id", "mode", "merged_into"],
  {
    where: { column: "merged_into", present: true },
  },
);

/** A label of a contact. The contact has them too; these find those that have one. */
export interface ContactLabelRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly label: string;
  readonly contact_id: ContactId;
}

export const contactLabels = collection<ContactLabelRow>("contact_labels", {
  account_id: text,
  mode: text,
  label: text,
  contact_id: text,
});
export const contactsByLabel = contactLabels.key("account_id", "mode", "label", "contact_id");

/** An address of a contact. It belongs to one contact, whatever races: the key says so. */
export interface IdentityRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly medium: Medium;
  readonly address: string;
  readonly contact_id: ContactId;
  /** The sender that last wrote to it or was written to: the contact goes on seeing the same number. */
  readonly last_sender_id: SenderId | null;
  /**
   * What the address allows: a copy of its consent's, which outlives the contact (`domain/consents`), so that a send that knows the
   * address need not look further. Both are written together.
   */
  readonly consent: ConsentStatus;
  readonly opted_out_of: readonly string[];
  readonly opted_in_to: readonly string[];
  readonly created_at: number;
}

export const identities = collection<IdentityRow>("contact_identities", {
  account_id: text,
  mode: text,
  medium: text,
  address: text,
  contact_id: text,
  last_sender_id: nullable(text),
  consent: text,
  opted_out_of: json,
  opted_in_to: json,
  created_at: time,
});
export const identityByAddress = identities.key("account_id", "mode", "medium", "address");
export const identitiesOfContact = identities.index("by_contact_id", ["contact_id", "medium"]);
/** Who has opted out. */
export const optedOutIdentities = identities.index(
  "opted_out",
  ["account_id", "mode", "contact_id"],
  {
    where: { column: "consent", in: ["opted_out"] },
  },
);
