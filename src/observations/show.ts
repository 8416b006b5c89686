import { iso, isoOrNull } from "../kernel/index.ts";
import type { ObservationRow } from "./rows.ts";
import type { Observation } from "./types.ts";

export function observationResource(row: ObservationRow): Observation {
  const {
    id,
    contact_id,
    conversation_id,
    content,
    kind,
    source,
    evidence_message_ids,
    confidence,
  } = row;
  return {
    id,
    contact_id,
    conversation_id,
    content,
    kind,
    source,
    evidence_message_ids: [...evidence_message_ids],
    confidence,
    created_at: iso(row.created_at),
    expires_at: isoOrNull(row.expires_at),
  };
}
