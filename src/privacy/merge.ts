import {
  contactById,
  contactsMergedInto,
  contactToChange,
  contactUpdated,
  identities,
  identitiesOfContact,
  maxIdentities,
  mergedError,
  showContact,
  unknownContact,
  writeContact,
  type Contact,
  type ContactRow,
} from "../contacts/index.ts";
import { appendEvent } from "../events/index.ts";
import { byIdSchema, invalid, TidingsError, type ById, type ContactId } from "../kernel/index.ts";
import { showsNothing, showsOutput, type Command, type Procedure } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import { arm } from "../queue/index.ts";
import type { Tx } from "../store/index.ts";
import { mergeJob } from "./job-orders.ts";
import { mergeConversations } from "./merge-conversations.ts";
import { clearedFields, maxMerged, mergedFacts } from "./merge-rules.ts";
import { mergeContactsSchema, type MergeContacts } from "./merge-types.ts";
import { moveHistory } from "./move-history.ts";

/**
 * Merges a contact into another. New messages belong to the survivor at once. The history follows
 * in chunks, and the operation returns when all of it has moved. If the process ends early, a job
 * continues.
 */
export const mergeContacts: Procedure<MergeContacts, Contact> = {
  kind: "procedure",
  name: "contacts.merge",
  input: () => mergeContactsSchema,
  status: 200,
  async run(steps, input, { services }) {
    const { value: joined } = await steps.execute(joinContacts, input, 0);
    while (
      (await steps.commit((tx) => moveHistory(tx, joined.other, services.historyChunks))) === "more"
    );
    const { value: contact } = await steps.execute(showMerged, { id: joined.survivor }, 1);
    return contact;
  },
};

interface Joined {
  readonly survivor: ContactId;
  readonly other: ContactId;
}

/**
 * Merges a contact into the survivor. From this commit on, every message to or from the other
 * contact belongs to the survivor. Earlier history moves afterwards, in chunks. A repeated merge
 * changes nothing.
 *
 * The transaction writes both contact rows, so one of two racing merges or erasures sees the other.
 * It also writes the other contact's addresses and current conversations, so a concurrent send
 * commits before it or runs again.
 */
const joinContacts: Command<MergeContacts, Joined> = {
  kind: "command",
  name: "contacts.merge.join",
  input: () => mergeContactsSchema,
  status: 200,
  shows: showsNothing,
  async run(tx, { id, contact_id }, { services }) {
    const survivor = await contactToChange(tx, id);
    const other = await otherContact(tx, survivor, contact_id);
    const joined = { survivor: survivor.id, other: other.id };
    if (other.merged_into === survivor.id) return joined;

    await moveAddresses(tx, survivor, other);
    await mergeConversations(tx, survivor.id, other.id);
    await repointMergedContacts(tx, survivor, other);
    // Read again: closing a conversation writes its contact.
    const latest = await contactToChange(tx, survivor.id);
    const facts = mergedFacts(latest, other, services.limits.metadataKeys);
    const merged = await writeContact(tx, latest, facts);
    await writeContact(tx, other, { ...clearedFields, merged_into: survivor.id });
    await arm(tx, mergeJob(other, tx.now));
    const contact = await showContact(tx, merged, services);
    appendEvent(tx, contactUpdated, { contact }, { contact_id: survivor.id });
    return joined;
  },
};

/** Returns the survivor after a merge. */
const showMerged: Command<ById, Contact> = {
  kind: "command",
  name: "contacts.merge.show",
  input: () => byIdSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id }, { services }) {
    // Held: a concurrent erasure must find the stored response.
    const contact = await tx.get(contactById, [id], { hold: true });
    if (contact === undefined) throw new TidingsError("erased", "The contact has been erased.");
    return showContact(tx, contact, services);
  },
};

/**
 * Returns the contact that is merged into the survivor. A repeated merge finds it merged already.
 * @throws TidingsError `validation_failed` if there is no such other contact; `conflict` if it was
 * merged into a third contact
 */
export async function otherContact(
  reads: Pick<Tx, "get">,
  survivor: ContactRow,
  id: string,
): Promise<Seen<ContactRow>> {
  const other = await reads.get(contactById, [id]);
  if (other === undefined) throw unknownContact(id);
  if (other.id === survivor.id) {
    const message = "must be another contact";
    throw invalid([{ pointer: "/contact_id", code: "itself", message }]);
  }
  const { merged_into } = other;
  if (merged_into !== null && merged_into !== survivor.id) throw mergedError(merged_into);
  return other;
}

async function moveAddresses(tx: Tx, survivor: ContactRow, other: ContactRow): Promise<void> {
  const [own, others] = await Promise.all([
    tx.list(identitiesOfContact, [survivor.id], maxIdentities + 1),
    tx.list(identitiesOfContact, [other.id], maxIdentities + 1),
  ]);
  checkAddresses(own.length + others.length);
  for (const identity of others) tx.update(identities, identity, { contact_id: survivor.id });
}

/**
 * Contacts that were merged into the other one now point at the survivor, because a survivor is
 * never merged itself.
 */
async function repointMergedContacts(
  tx: Tx,
  survivor: ContactRow,
  other: ContactRow,
): Promise<void> {
  const [own, others] = await Promise.all([
    tx.list(contactsMergedInto, [survivor.id], maxMerged + 1),
    tx.list(contactsMergedInto, [other.id], maxMerged + 1),
  ]);
  checkMerged(own.length + others.length);
  await Promise.all(others.map((each) => writeContact(tx, each, { merged_into: survivor.id })));
}

/** @throws TidingsError `conflict` if the two contacts have too many addresses together */
export function checkAddresses(count: number): void {
  if (count > maxIdentities) throw tooMany(`${maxIdentities} addresses`);
}

/**
 * Checks how many contacts were already merged into these two. This merge adds one more.
 * @throws TidingsError `conflict`
 */
export function checkMerged(count: number): void {
  if (count >= maxMerged) throw tooMany(`${maxMerged} merged contacts`);
}

function tooMany(what: string): TidingsError {
  return new TidingsError("conflict", `A contact can have at most ${what}.`);
}
