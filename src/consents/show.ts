import {
  noConsent,
  type Consent,
  type ConsentEvidenceRow,
  type ConsentRow,
  type ConsentState,
} from "../contacts/index.ts";
import { iso, type Medium } from "../kernel/index.ts";

/** The consent of an address. An address without a row has none. `evidence` is newest first. */
export function consentResource(
  medium: Medium,
  address: string,
  row: ConsentRow | undefined,
  evidence: readonly ConsentEvidenceRow[],
): Consent {
  const { status, opted_out_of, opted_in_to }: ConsentState = row ?? noConsent;
  return {
    medium,
    address,
    status,
    opted_out_of: [...opted_out_of],
    opted_in_to: [...opted_in_to],
    evidence: evidence.map(({ status: said, source, sender, message_id, detail, at }) => ({
      status: said,
      source,
      sender,
      message_id,
      detail,
      at: iso(at),
    })),
    // A contact's address has a row from the start.
    updated_at: row === undefined || evidence.length === 0 ? null : iso(row.updated_at),
  };
}
