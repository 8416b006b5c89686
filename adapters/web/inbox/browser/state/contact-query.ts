/** Which contacts the list shows: read from the address, and requested from the server. */
import type { Contact, Page } from "../../../../../src/index.ts";
import { api } from "../../../shared/browser/index.ts";
import type { PageRequest } from "./list-source.ts";

/** Which contacts the list shows. */
export interface ContactQuery {
  /** The words of a search. The filters apply to it. */
  readonly words?: string | undefined;
  readonly label?: string | undefined;
  readonly optedOut?: boolean | undefined;
  /** The first day on which they were added, such as `2026-03-02`, in the browser's time zone. */
  readonly from?: string | undefined;
  /** The last day on which they were added. */
  readonly until?: string | undefined;
}

/** The parameters of the place from which the query is made. */
export const contactParameters = ["q", "label", "opted_out", "from", "until"] as const;

/** What the list shows at a place. A value that a parameter cannot have is ignored. */
export function contactQueryOf(parameters: {
  readonly [name in (typeof contactParameters)[number]]?: string;
}): ContactQuery {
  const { q, label, opted_out: out, from, until } = parameters;
  return {
    words: q || undefined,
    label: label || undefined,
    optedOut: out === "true" ? true : out === "false" ? false : undefined,
    from: isDay(from) ? from : undefined,
    until: isDay(until) ? until : undefined,
  };
}

/** Whether a contact passes the filters of a query. Ignores the search words. */
export function passesFilters(query: ContactQuery, contact: Contact): boolean {
  const { label, optedOut } = query;
  if (label !== undefined && !contact.labels.includes(label)) return false;
  if (optedOut !== undefined && contact.opted_out !== optedOut) return false;
  const { first, end } = timesOf(query);
  const at = Date.parse(contact.created_at);
  return at >= (first ?? -Infinity) && at < (end ?? Infinity);
}

/** Reads one page, the newest contact first. The result of a search is one page. */
export function readContacts(
  query: ContactQuery,
  { cursor, limit, signal }: PageRequest,
): Promise<Page<Contact>> {
  const { words, label, optedOut } = query;
  const { first, end } = timesOf(query);
  const filters = {
    label,
    opted_out: optedOut,
    // The server excludes the time itself.
    created_after:
      first === undefined || first <= firstTime ? undefined : new Date(first - 1).toISOString(),
    created_before: end === undefined ? undefined : new Date(end).toISOString(),
  };
  return words === undefined
    ? api.get("v1/contacts", { query: { limit, cursor, ...filters }, signal })
    : api.get("v1/contacts/search", { query: { q: words, limit, ...filters }, signal });
}

/** When the first day begins and the last day ends, in milliseconds since the epoch. */
function timesOf({ from, until }: ContactQuery): { first?: number; end?: number } {
  return {
    ...(from !== undefined && { first: startOf(from).getTime() }),
    ...(until !== undefined && { end: dayAfter(startOf(until)).getTime() }),
  };
}

/** The beginning of a day in the browser's time zone. */
export const startOf = (day: string): Date => new Date(`${day}T00:00`);

const dayAfter = (day: Date): Date =>
  new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1);

/** The server knows no earlier time, and none after the year 9999. */
const firstTime = Date.parse("0001-01-01T00:00Z");

/** Whether a day exists, and also the day after it. */
const isDay = (given = ""): boolean =>
  /^(?!0000|9999)\d{4}-\d\d-\d\d$/.test(given) && !Number.isNaN(startOf(given).getTime());
