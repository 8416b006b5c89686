import { iso, isoOrNull, type ContactId } from "../kernel/index.ts";
import type { Activity, Services } from "../operations/index.ts";
import type { Reads, Tx } from "../store/index.ts";
import { identitiesOfContact, maxIdentities, type ContactRow, type IdentityRow } from "./rows.ts";
import { sentimentOf } from "./sentiment/sentiment-rules.ts";
import type { Contact, ContactReference } from "./types.ts";

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
  current: readonly Activity[],
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
  current: readonly Activity[],
): number | null {
  const times = current
    .filter(({ message_count }) => message_count > 0)
    .map(({ last_activity_at }) => last_activity_at);
  if (last_message_at !== null) times.push(last_message_at);
  return times.length === 0 ? null : Math.max(...times);
}
