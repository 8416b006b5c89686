import type { EntryId, Medium } from "../kernel/index.ts";
import { json, nullable, type RowOf, scoped, text, time } from "../ports/index.ts";
import type { ConsentSource, ConsentStatus } from "./consent-types.ts";

/**
 * What an address allows. It belongs to the address and not to a contact, and has a keyed hash of it alone: so nothing that is done to
 * contacts lifts it, and an erased one leaves no address behind.
 */
export const consents = scoped("consents", {
  medium: text<Medium>(),
  address_hash: text(),
  status: text<ConsentStatus>(),
  /** Where consent is kept for each sender: those of which it said something else than `status`, by their addresses. */
  opted_out_of: json<readonly string[]>(),
  opted_in_to: json<readonly string[]>(),
  updated_at: time(),
});
export interface ConsentRow extends RowOf<typeof consents> {}

export const consentByAddress = consents.key("medium", "address_hash");

/** What was said or done that a consent rests on. */
export const consentEvidence = scoped("consent_evidence", {
  medium: text<Medium>(),
  address_hash: text(),
  id: text<EntryId>(),
  status: text<Exclude<ConsentStatus, "unknown">>(),
  source: text<ConsentSource>(),
  /** The sender that it is about, where consent is kept for each. */
  sender: nullable(text()),
  message_id: nullable(text()),
  detail: nullable(text()),
  at: time(),
});
export interface ConsentEvidenceRow extends RowOf<typeof consentEvidence> {}

export const consentEvidenceById = consentEvidence.key("medium", "address_hash", "id");
/** What somebody put in words: it goes when the address is its contact's no longer. */
export const consentEvidenceInWords = consentEvidence.index(
  "in_words",
  ["medium", "address_hash"],
  { where: { column: "detail", present: true } },
);
