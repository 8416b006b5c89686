import {
  type ById,
  byIdSchema,
  type ContactId,
  iso,
  isoOrNull,
  mediumSchema,
  notFound,
  type Page,
} from "../kernel/index.ts";
import {
  type Activity,
  type Call,
  createdBetween,
  page,
  type Query,
  type Services,
} from "../operations/index.ts";
import type { Reads, Tx } from "../store/index.ts";
import {
  contactById,
  type ContactRow,
  contacts,
  contactsByLabel,
  identitiesOfContact,
  identityByAddress,
  type IdentityRow,
  optedOutIdentities,
} from "./rows.ts";
import { maxIdentities } from "./rules.ts";
import type { Contact, ContactReference } from "./types.ts";
import { sentimentOf } from "./sentiment.ts";
import { type ListContacts, listContactsSchema } from "./input-types.ts";

export const media = mediumSchema.options;

type ShowServices = Pick<Services, "contactActivity">;

/** The resource of a contact, including the changes of this transaction. */
export async function showContact(
  tx: Tx,
  row: ContactRow,
  { contactActivity }: ShowServices,
): Promise<Contact> {
  const [identities, activity] = await Promise.all([
    tx.list(identitiesOfContact, [row.id], maxIdentities),
    contactActivity.of(tx, row.id),
  ]);
  return contactResource(row, identities, activity);
}

/** The resources of a page of contacts, read in two round trips. */
export async function showContacts(
  reads: Reads,
  rows: readonly ContactRow[],
  { contactActivity }: ShowServices,
): Promise<Contact[]> {
  const ids = rows.map(({ id }) => id);
  const [identities, activity] = await Promise.all([
    reads.lists(
      identitiesOfContact,
      ids.map((id) => [id]),
      maxIdentities,
    ),
    contactActivity.ofAll(reads, ids),
  ]);
  const byContact = Map.groupBy(activity, ({ contact_id }) => contact_id);
  return rows.map((row, i) =>
    contactResource(row, identities[i] ?? [], byContact.get(row.id) ?? []),
  );
}

export function contactResource(
  row: ContactRow,
  identities: readonly IdentityRow[],
  current: readonly Pick<Activity, "message_count" | "last_activity_at">[],
): Contact {
  const { id, name, phone, email, time_zone, language, merged_into } = row;
  return {
    id,
    name,
    phone,
    email,
    time_zone,
    language,
    labels: [...row.labels],
    attributes: { ...row.attributes },
    identities: identities.map(({ medium, address }) => ({ medium, address })),
    opted_out: identities.some(
      ({ medium, consent }) => medium === "text" && consent === "opted_out",
    ),
    sentiment: row.sentiment_state === null ? null : sentimentOf(row.sentiment_state),
    merged_into,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    last_message_at: isoOrNull(lastMessageAt(row, current)),
  };
}

/** A short form of a contact for events. The address replaces an unknown name. */
export function contactReference(
  id: ContactId,
  contact: ContactRow | undefined,
  address: string,
): ContactReference {
  return { id, name: contact?.name ?? contact?.phone ?? address, phone: contact?.phone ?? null };
}

/** The time of the last message in either direction. Null when there was none. */
function lastMessageAt(
  { last_message_at }: ContactRow,
  current: readonly Pick<Activity, "message_count" | "last_activity_at">[],
): number | null {
  const times = current
    .filter(({ message_count }) => message_count > 0)
    .map(({ last_activity_at }) => last_activity_at);
  if (last_message_at !== null) times.push(last_message_at);
  return times.length === 0 ? null : Math.max(...times);
}

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
    const { keep } = createdBetween("ct", asked);
    const found = await readPage(reads, asked, call);
    const rows = found.data.filter(
      (row) => row.merged_into === null && (keep === undefined || keep(row)),
    );
    const shown = await showContacts(reads, rows, call.services);
    return { ...found, data: shown.filter((contact) => passes(contact, asked)) };
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

function passes(contact: Contact, { label, opted_out }: ListContacts): boolean {
  return (
    (label === undefined || contact.labels.includes(label)) &&
    (opted_out === undefined || contact.opted_out === opted_out)
  );
}
