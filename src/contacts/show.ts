import { mediumSchema } from "../kernel/index.ts";
import type { Services } from "../operations/index.ts";
import type { Reads, Tx } from "../store/index.ts";
import { contactResource } from "./resource.ts";
import { type ContactRow, identitiesOfContact } from "./rows.ts";
import { mostIdentities } from "./rules.ts";
import type { Contact } from "./types.ts";

export const media = mediumSchema.options;

type ShowServices = Pick<Services, "contactActivity">;

/** The resource of a contact as the transaction leaves it. */
export async function showContact(
  tx: Tx,
  row: ContactRow,
  { contactActivity }: ShowServices,
): Promise<Contact> {
  const [identities, activity] = await Promise.all([
    tx.list(identitiesOfContact, [row.id], mostIdentities),
    contactActivity.of(tx, row.id),
  ]);
  return contactResource(row, identities, activity);
}

/** The resources of a page of contacts, in two round trips. */
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
      mostIdentities,
    ),
    contactActivity.ofAll(reads, ids),
  ]);
  const byContact = Map.groupBy(activity, ({ contact_id }) => contact_id);
  return rows.map((row, i) =>
    contactResource(row, identities[i] ?? [], byContact.get(row.id) ?? []),
  );
}
