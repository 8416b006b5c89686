import type { AccountId, EntryId } from "../kernel/ids.ts";
import { collection, json, nullable, text, time } from "../ports/collection.ts";
import type { Mode } from "../kernel/scope.ts";
import type { Medium } from "../kernel/fields.ts";
import type { ConsentSource, ConsentStatus } from "./consent-types.ts";

/**
 * What an address allows. It belongs to the address and not to a contact, and has a keyed hash of it alone: so nothing that is done to
 * contacts lifts it, and an erased one leaves no address behind.
 */
export interface ConsentRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly medium: Medium;
  readonly address_hash: string;
  readonly status: ConsentStatus;
  /** Where consent is kept for each sender: those of which it said something else than `status`, by their addresses. */
  readonly opted_out_of: readonly string[];
  readonly opted_in_to: readonly string[];
  readonly updated_at: number;
}

export const consents = collection<ConsentRow>("consents", {
  account_id: text,
  mode: text,
  medium: text,
  address_hash: text,
  status: text,
  opted_out_of: json,
  opted_in_to: json,
  updated_at: time,
});
export const consentByAddress = consents.key("account_id", "mode", "medium", "address_hash");

/** What was said or done that a consent rests on. */
export interface ConsentEvidenceRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly medium: Medium;
  readonly address_hash: string;
  readonly id: EntryId;
  readonly status: Exclude<ConsentStatus, "unknown">;
  readonly source: ConsentSource;
  /** The sender that it is about, where consent is kept for each. */
  readonly sender: string | null;
  readonly message_id: string | null;
  readonly detail: string | null;
  readonly at: number;
}

export const consentEvidence = collection<ConsentEvidenceRow>("consent_evidence", {
  account_id: text,
  mode: text,
  medium: text,
  address_hash: text,
  id: text,
  status: text,
  source: text,
  sender: nullable(text),
  message_id: nullable(text),
  detail: nullable(text),
  at: time,
});
export const consentEvidenceById = consentEvidence.key(
  "account_id",
  "mode",
  "medium",
  "address_hash",
  "id",
);
/** What somebody put in words: it goes when the address is its contact's no longer. */
export const consentEvidenceInWords = consentEvidence.index(
  "in_words",
  ["account_id", "mode", "medium", "address_hash"],
  { where: { column: "detail", present: true } },
);
