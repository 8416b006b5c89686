import type { EntryId, Medium } from "../../kernel/index.ts";
import { json, nullable, scoped, text, time, type RowOf } from "../../ports/index.ts";
import type { ConsentSource, ConsentStatus } from "./consent-types.ts";

/**
 * The consent of an address. It belongs to the address, not to a contact, and holds only a keyed
 * hash of it. So no change to a contact lifts an opt-out, and an erased contact leaves no address
 * behind.
 */
export const consents = scoped("consents", {
  medium: text<Medium>(),
  address_hash: text(),
  status: text<ConsentStatus>(),
  /**
   * The addresses of the senders for which the consent differs from `status`, when consent is kept
   * for each sender.
   */
  opted_out_of: json<readonly string[]>(),
  opted_in_to: json<readonly string[]>(),
  updated_at: time(),
});
export interface ConsentRow extends RowOf<typeof consents> {}

export const consentByAddress = consents.key("medium", "address_hash");

/** The evidence for a consent: what changed it. */
export const consentEvidence = scoped("consent_evidence", {
  medium: text<Medium>(),
  address_hash: text(),
  id: text<EntryId>(),
  status: text<Exclude<ConsentStatus, "unknown">>(),
  source: text<ConsentSource>(),
  /** The sender that the change applies to, when consent is kept for each sender. */
  sender: nullable(text()),
  message_id: nullable(text()),
  detail: nullable(text()),
  at: time(),
});
export interface ConsentEvidenceRow extends RowOf<typeof consentEvidence> {}

export const consentEvidenceById = consentEvidence.key("medium", "address_hash", "id");
/** Evidence with free text. The text is removed when the contact gives up the address. */
export const consentEvidenceWithText = consentEvidence.index(
  "in_words",
  ["medium", "address_hash"],
  { where: { column: "detail", present: true } },
);
