import { createdBetween } from "../operations/index.ts";
import type { ContactFilters } from "./input-types.ts";
import type { ContactRow } from "./rows.ts";
import type { Contact } from "./types.ts";

/** Returns whether a contact passes the filters that its row decides: all but `opted_out`. */
export function rowFilter(filters: ContactFilters): (row: ContactRow) => boolean {
  const { label } = filters;
  const { keep } = createdBetween("ct", filters);
  return (row) =>
    (label === undefined || row.labels.includes(label)) && (keep === undefined || keep(row));
}

/** Whether a contact passes the filter `opted_out`, which its addresses decide. */
export const passesOptOut = (contact: Contact, { opted_out }: ContactFilters): boolean =>
  opted_out === undefined || contact.opted_out === opted_out;
