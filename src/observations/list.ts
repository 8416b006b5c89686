import { observationResource } from "./resource.ts";
import { observations } from "./rows.ts";
import { type ListObservations, listObservationsSchema, type Observation } from "./types.ts";
import { page, type Query } from "../operations/index.ts";
import type { Page } from "../kernel/index.ts";
import { contactToRead } from "../contacts/index.ts";

/** Newest first. Those that have expired are not among them. */
export const listObservations: Query<ListObservations, Page<Observation>> = {
  kind: "query",
  name: "contacts.observations",
  input: () => listObservationsSchema,
  async run(reads, { id, ...input }, call, now) {
    const contact = await contactToRead(reads, id);
    const walk = {
      index: observations.primary,
      prefix: [contact.id],
      order: "descending" as const,
      operation: "contacts.observations",
      filters: { id: contact.id },
      input,
    };
    const found = await page(reads, walk, call);
    const fresh = found.data.filter(({ expires_at }) => expires_at === null || expires_at > now);
    return { ...found, data: fresh.map(observationResource) };
  },
};
