import {
  type ContactId,
  type ConversationId,
  iso,
  isoOrNull,
  type MessageId,
  type ObservationId,
  type Page,
} from "../kernel/index.ts";
import { json, nullable, real, type RowOf, scoped, text, time } from "../ports/index.ts";
import { type ListObservations, listObservationsSchema, type Observation } from "./types.ts";
import { page, type Query } from "../operations/index.ts";
import { contactToRead } from "../contacts/index.ts";

export const observations = scoped("observations", {
  contact_id: text<ContactId>(),
  id: text<ObservationId>(),
  conversation_id: nullable(text<ConversationId>()),
  content: text(),
  kind: text(),
  source: text<Observation["source"]>(),
  evidence_message_ids: json<readonly MessageId[]>(),
  confidence: nullable(real()),
  created_at: time(),
  expires_at: nullable(time()),
});
interface ObservationRow extends RowOf<typeof observations> {}

export const observationById = observations.key("contact_id", "id");
export const observationsByExpiry = observations.acrossScopes.index(
  "by_expires_at",
  ["expires_at"],
  {
    where: { column: "expires_at", present: true },
  },
);

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
      filters: { id: contact.id },
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
