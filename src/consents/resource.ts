import { iso, type Medium } from "../kernel/index.ts";
import {
  type Consent,
  type ConsentEvidenceRow,
  type ConsentRow,
  type ConsentState,
  noConsent,
} from "../contacts/index.ts";

/** What an address allows; without a row nothing was ever said of it. `evidence` has the newest first. */
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
    updated_at: row === undefined ? null : iso(row.updated_at),
  };
}
