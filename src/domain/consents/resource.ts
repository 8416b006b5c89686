import { iso } from "../time.ts";
import type { Medium } from "../../fields.ts";
import { type ConsentState, noConsent } from "./rules.ts";
import type { ConsentEvidenceRow, ConsentRow } from "./rows.ts";
import type { Consent } from "./types.ts";

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
