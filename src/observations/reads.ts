import { contactToRead } from "../contacts/index.ts";
import type { Page } from "../kernel/index.ts";
import { mapPage, page, type Query, type RangeList } from "../operations/index.ts";
import { observations, type ObservationRow } from "./rows.ts";
import { observationResource } from "./show.ts";
import { listObservationsSchema, type ListObservations, type Observation } from "./types.ts";

/** Lists a contact's observations, newest first, without expired ones. */
export const listObservations: Query<ListObservations, Page<Observation>> = {
  kind: "query",
  name: "contacts.observations",
  input: () => listObservationsSchema,
  async run(reads, { id, ...input }, call, now) {
    const contact = await contactToRead(reads, id);
    const list: RangeList<ObservationRow> = {
      index: observations.primary,
      prefix: [contact.id],
      order: "descending",
      // Expired observations are removed only from time to time.
      keep: ({ expires_at }) => expires_at === null || expires_at > now,
      operation: "contacts.observations",
      filters: { id },
      input,
    };
    return mapPage(await page(reads, list, call), observationResource);
  },
};
