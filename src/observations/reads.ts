import { contactToRead } from "../contacts/index.ts";
import { iso, isoOrNull, type Page } from "../kernel/index.ts";
import { page, type Query } from "../operations/index.ts";
import { type ObservationRow, observations } from "./rows.ts";
import { type ListObservations, listObservationsSchema, type Observation } from "./types.ts";

/** Lists a contact's observations, newest first, without expired ones. */
export const listObservations: Query<ListObservations, Page<Observation>> = {
  kind: "query",
  name: "contacts.observations",
  input: () => listObservationsSchema,
  async run(reads, { id, ...input }, call, now) {
    const contact = await contactToRead(reads, id);
    const range = {
      index: observations.primary,
      prefix: [contact.id],
      order: "descending" as const,
      operation: "contacts.observations",
      filters: { id },
      input,
    };
    const observed = await page(reads, range, call);
    const unexpired = observed.data.filter(
      ({ expires_at }) => expires_at === null || expires_at > now,
    );
    return { ...observed, data: unexpired.map(observationResource) };
  },
};

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
