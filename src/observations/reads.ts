import { contactToRead } from "../contacts/index.ts";
import type { Page } from "../kernel/index.ts";
import { page, type Query } from "../operations/index.ts";
import { observations } from "./rows.ts";
import { observationResource } from "./show.ts";
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
