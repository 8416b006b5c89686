import type { AccountId, ContactId, SenderId } from "../../ids.ts";
import { collection, json, nullable, text, time } from "../../ports/collection.ts";
import type { Mode } from "../../scope.ts";
import type { Medium } from "../../fields.ts";

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
  readonly merged_into: ContactId | null;
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
  merged_into: nullable(text),
  created_at: time,
  updated_at: time,
});
export const contactById = contacts.key("account_id", "mode", "id");

/** An address of a contact. It belongs to one contact, whatever races: the key says so. */
export interface IdentityRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly medium: Medium;
  readonly address: string;
  readonly contact_id: ContactId;
  /** The sender that last wrote to it or was written to: the contact goes on seeing the same number. */
  readonly last_sender_id: SenderId | null;
  readonly created_at: number;
}

export const identities = collection<IdentityRow>("contact_identities", {
  account_id: text,
  mode: text,
  medium: text,
  address: text,
  contact_id: text,
  last_sender_id: nullable(text),
  created_at: time,
});
export const identityByAddress = identities.key("account_id", "mode", "medium", "address");
export const identitiesOfContact = identities.index("by_contact_id", ["contact_id", "medium"]);
