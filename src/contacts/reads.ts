import {
  contactById,
  type ContactRow,
  contacts,
  contactsByLabel,
  identitiesOfContact,
  identityByAddress,
  optedOutIdentities,
} from "./rows.ts";
import type { Contact } from "./types.ts";
import { type ListContacts, listContactsSchema } from "./input-types.ts";
import { type ById, byIdSchema, firstIdAt, millis, notFound, type Page } from "../kernel/index.ts";
import { type Call, page, type Query } from "../operations/index.ts";
import { showContacts } from "./show.ts";
import { maxIdentities } from "./rules.ts";
import type { KeyValue } from "../ports/index.ts";
import type { Reads } from "../store/index.ts";

/** Returns one contact. A merged contact has no data but a pointer to its survivor. */
export const getContact: Query<ById, Contact> = {
  kind: "query",
  name: "contacts.get",
  input: () => byIdSchema,
  async run(reads, { id }, { services }) {
    const row = await reads.get(contactById, [id]);
    const [contact] = row === undefined ? [] : await showContacts(reads, [row], services);
    if (contact === undefined) throw notFound("contact");
    return contact;
  },
};

/** Lists contacts, newest first. Merged contacts are left out. */
export const listContacts: Query<ListContacts, Page<Contact>> = {
  kind: "query",
  name: "contacts.list",
  input: () => listContactsSchema,
  async run(reads, asked, call) {
    const found = await scan(reads, asked, call);
    const rows = found.data.filter((row) => row.merged_into === null);
    const shown = await showContacts(reads, rows, call.services);
    return { ...found, data: shown.filter((contact) => passes(contact, asked)) };
  },
};

/** Reads the index with the fewest rows that the other filters reject. */
async function scan(reads: Reads, asked: ListContacts, call: Call): Promise<Page<ContactRow>> {
  const { limit, cursor, ...filters } = asked;
  const { phone, label, opted_out } = filters;
  const list = {
    order: "descending",
    operation: "contacts.list",
    filters,
    input: { limit, cursor },
  } as const;
  const range = { ...list, ...timesOf(asked) };
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
  return page(reads, { ...range, index: contacts.primary, prefix: [], where }, call);
}

/** Ids are ordered by creation time, and each of these indexes is ordered by contact id. */
function timesOf({ created_after, created_before }: ListContacts): {
  readonly after?: readonly KeyValue[];
  readonly until?: readonly KeyValue[];
} {
  return {
    ...(created_before === undefined ? {} : { after: [firstIdAt("ct", millis(created_before))] }),
    ...(created_after === undefined ? {} : { until: [firstIdAt("ct", millis(created_after) + 1)] }),
  };
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

function passes(
  contact: Contact,
  { label, opted_out, created_after, created_before }: ListContacts,
): boolean {
  const made = millis(contact.created_at);
  return (
    (label === undefined || contact.labels.includes(label)) &&
    (opted_out === undefined || contact.opted_out === opted_out) &&
    (created_after === undefined || made > millis(created_after)) &&
    (created_before === undefined || made < millis(created_before))
  );
}
