/** The contacts that the page knows, and the list that shows them. */
import type { Contact } from "../../../../../src/index.ts";
import { api } from "../../../shared/browser/index.ts";
import { passesFilters, readContacts, type ContactQuery } from "./contact-query.ts";
import { isErased } from "./erased.ts";
import { LiveList } from "./live-list.ts";
import { isGone, sweepDrafts } from "./sweep.ts";

/** All contacts, or those that pass the filters or that a search finds. */
export const contacts = new LiveList<Contact, ContactQuery>({
  first: {},
  // Ids are in the order of creation.
  order: () => (a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0),
  isRanked: ({ words }) => words !== undefined,
  isShown: passesFilters,
  // A contact that was merged has no data left, only a pointer to the survivor.
  isGone: ({ id, merged_into }) => merged_into !== null || isErased(id),
  readPage: readContacts,
  readRow: readContact,
});

/** Reads a contact. If it is gone, it was erased. */
export async function readContact(id: string, signal?: AbortSignal): Promise<Contact> {
  try {
    // The address of the page may name anything.
    return await api.get<Contact>(`v1/contacts/${encodeURIComponent(id)}`, { signal });
  } catch (error) {
    if (isGone(error)) void sweepDrafts();
    throw error;
  }
}

/** Whether the list is open. A closed list gets no other rows: it is read again when it opens. */
let isFollowed = false;

/** Keeps the list up to date. Returns a function that ends this. */
export function followContacts(): () => void {
  isFollowed = true;
  return () => void (isFollowed = false);
}

/** Reads the list again, since the page may have missed changes. */
export function readContactsAgain(): void {
  if (isFollowed) void contacts.reload();
}

/** Takes a new contact from an event. No other contact was merged into it. */
export function noteCreated(contact: Contact): void {
  if (isFollowed) contacts.put(contact);
}

/** Takes a changed contact from an event or an answer. */
export function noteContact(contact: Contact): void {
  if (isFollowed) findMergedSoon(contact);
  // The panel of a conversation may show what the page knows.
  if (isFollowed || contacts.rowNow(contact.id) !== undefined) contacts.put(contact);
}

/** Reads a contact again after an event that says only that the contact opted out or in. */
export function noteConsent(id: string): void {
  // A contact that the page does not know may belong in the list now.
  const mayEnter = isFollowed && contacts.queryNow.optedOut !== undefined;
  if (mayEnter || contacts.rowNow(id) !== undefined) contacts.fetchSoon(id);
}

/** Addresses that contacts have just got, each with the id of its contact. */
const gained = new Map<string, string>();
const findingDelayMs = 400;
let finding: ReturnType<typeof setTimeout> | undefined;

/**
 * Reads the contacts again that have an address which this contact has just got. They may have been
 * merged into it: the event of a merge names only the survivor. One pass over all rows serves many
 * events, since an import may change thousands of contacts.
 */
function findMergedSoon(contact: Contact): void {
  const before = contacts.rowNow(contact.id);
  const had = new Set(before === undefined ? [] : addressesOf(before));
  for (const each of addressesOf(contact)) if (!had.has(each)) gained.set(each, contact.id);
  if (gained.size === 0) return;
  finding ??= setTimeout(() => {
    finding = undefined;
    for (const row of contacts.rowsNow()) {
      const owners = addressesOf(row).map((each) => gained.get(each) ?? row.id);
      if (owners.some((owner) => owner !== row.id)) contacts.fetchSoon(row.id);
    }
    gained.clear();
  }, findingDelayMs);
}

const addressesOf = ({ identities, email }: Contact): readonly string[] => [
  ...identities.map(({ address }) => address),
  ...(email === null ? [] : [email]),
];
