import { byIdSchema, notFound, type ById, type Page } from "../kernel/index.ts";
import { createdBetween, page, type Call, type Query } from "../operations/index.ts";
import type { Reads } from "../store/index.ts";
import { passesOptOut, rowFilter } from "./filter.ts";
import { listContactsSchema, type ListContacts } from "./input-types.ts";
import {
  contactById,
  contacts,
  contactsByLabel,
  identitiesOfContact,
  identityByAddress,
  maxIdentities,
  optedOutIdentities,
  type ContactRow,
} from "./rows.ts";
import { showContacts } from "./show.ts";
import type { Contact } from "./types.ts";

/** Returns one contact. A merged contact has no data but a pointer to its survivor. */
export const getContact: Query<ById, Contact> = {
  kind: "query",
  name: "contacts.get",
  input: () => byIdSchema,
  async run(reads, { id }, { services }) {
    const row = await reads.get(contactById, [id]);
    const [contact] = row === undefined ? [] : await showContacts(reads, [row], services);
    if (contact === undefined) throw notFound("contact", id);
    return contact;
  },
};

/** Lists contacts, newest first. Merged contacts are left out. */
export const listContacts: Query<ListContacts, Page<Contact>> = {
  kind: "query",
  name: "contacts.list",
  input: () => listContactsSchema,
  async run(reads, asked, call) {
    const found = await readPage(reads, asked, call);
    const isWanted = rowFilter(asked);
    const rows = found.data.filter((row) => row.merged_into === null && isWanted(row));
    const shown = await showContacts(reads, rows, call.services);
    return { ...found, data: shown.filter((contact) => passesOptOut(contact, asked)) };
  },
};

/** Reads the index with the fewest rows that the other filters reject. */
async function readPage(reads: Reads, asked: ListContacts, call: Call): Promise<Page<ContactRow>> {
  const { limit, cursor, ...filters } = asked;
  const { phone, label, opted_out } = filters;
  const list = {
    order: "descending",
    operation: "contacts.list",
    filters,
    input: { limit, cursor },
  } as const;
  // The index of addresses is the only one that is not in the order of contact ids.
  const times = createdBetween("ct", asked);
  const { keep: _, ...bounds } = times;
  const range = { ...list, ...bounds };
  if (phone !== undefined) {
    const prefix = ["text", phone];
    const owned = await page(reads, { ...list, index: identityByAddress, prefix }, call);
    return { ...owned, data: await contactsOf(reads, idsOf(owned.data)) };
  }
  if (label !== undefined) {
    const labelled = await page(reads, { ...range, index: contactsByLabel, prefix: [label] }, call);
    return { ...labelled, data: await contactsOf(reads, idsOf(labelled.data)) };
  }
  if (opted_out === true) {
    const index = optedOutIdentities;
    const where = { medium: "text" };
    const out = await page(reads, { ...range, index, prefix: [], where }, call);
    return { ...out, data: await contactsOf(reads, await firstsOf(reads, out.data)) };
  }
  const where = { merged_into: null };
  return page(reads, { ...list, ...times, index: contacts.primary, prefix: [], where }, call);
}

interface OfContact {
  readonly contact_id: string;
}

const idsOf = (rows: readonly OfContact[]): string[] => rows.map(({ contact_id }) => contact_id);

/**
 * A contact may have opted out at several numbers, and a page may end between them. The contact is
 * listed at the first number that the scan meets.
 */
async function firstsOf(
  reads: Reads,
  rows: readonly (OfContact & { readonly address: string })[],
): Promise<readonly string[]> {
  const keys = rows.map(({ contact_id }) => [contact_id, "text"]);
  const all = await reads.lists(identitiesOfContact, keys, maxIdentities);
  const firsts = rows.filter(({ address }, i) => {
    const out = (all[i] ?? []).filter(({ consent }) => consent === "opted_out");
    return out.at(-1)?.address === address;
  });
  return idsOf(firsts);
}

/** Returns the contacts in the order of the ids. */
async function contactsOf(reads: Reads, ids: readonly string[]): Promise<ContactRow[]> {
  const keys = ids.map((id) => [id] as const);
  return [...(await reads.getAll(contactById, keys))];
}
