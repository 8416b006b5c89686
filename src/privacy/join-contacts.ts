import {
  type Contact,
  contactById,
  type ContactRow,
  contactsMergedInto,
  contactToChange,
  contactUpdated,
  identities,
  identitiesOfContact,
  media,
  type MergeContacts,
  mergeContactsSchema,
  mergedAway,
  mergedFacts,
  mostIdentities,
  mostMerged,
  nothingOfItsOwn,
  showContact,
  whichGoesOn,
  writeContact,
} from "../contacts/index.ts";
import {
  changeConversation,
  type ConversationRow,
  currentConversation,
  kept,
  writeConversation,
} from "../conversations/index.ts";
import { arm } from "../queue/index.ts";
import {
  type ById,
  byIdSchema,
  type ContactId,
  type DrawId,
  invalid,
  TidingsError,
} from "../kernel/index.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { appendEvent } from "../events/index.ts";
import { mergeJob } from "./contact-jobs.ts";

export interface Joined {
  readonly survivor: ContactId;
  readonly other: ContactId;
}

/**
 * Makes two contacts one: from this commit on everything that is sent to or comes from the other is the survivor's. What there was before
 * moves afterwards, chunk by chunk. A merge that was made before changes nothing.
 *
 * Both rows are written, so of merges and erasures that race one sees what the other did. So are the other's addresses and its current
 * conversations, and with them whoever is about to write to it comes before this or is run again.
 */
export const joinContacts: Command<MergeContacts, Joined> = {
  kind: "command",
  name: "contacts.merge.join",
  input: () => mergeContactsSchema,
  status: 200,
  async run(tx, { id, contact_id }, { services }) {
    const survivor = await contactToChange(tx, id);
    const other = await otherContact(tx, contact_id);
    if (other.id === survivor.id) throw refused("itself", "must be another contact");
    const joined = { survivor: survivor.id, other: other.id };
    if (other.merged_into === survivor.id) return joined;
    if (other.merged_into !== null) throw mergedAway(other.merged_into);

    const { drawId } = services;
    await moveAddresses(tx, survivor, other);
    await joinConversations(tx, drawId, survivor.id, other.id);
    await pointAtSurvivor(tx, survivor, other);
    const merged = await writeContact(tx, await latest(tx, survivor), {
      ...mergedFacts(await latest(tx, survivor), other, services.limits.metadata_keys),
    });
    await writeContact(tx, other, { ...nothingOfItsOwn, merged_into: survivor.id });
    await arm(tx, mergeJob(other, tx.now));
    const contact = await showContact(tx, merged, services);
    appendEvent(tx, drawId, contactUpdated, { contact }, { contact_id: survivor.id });
    return joined;
  },
};

/** The end of a merge: what it came to. */
export const showMerged: Command<ById, Contact> = {
  kind: "command",
  name: "contacts.merge.show",
  input: () => byIdSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id }, { services }) {
    // Held: an erasure that commits meanwhile must find what is remembered of this answer.
    const contact = await tx.get(contactById, [id], { hold: true });
    if (contact === undefined) throw new TidingsError("erased", "The contact has been erased.");
    return showContact(tx, contact, services);
  },
};

async function otherContact(tx: Tx, id: string): Promise<Seen<ContactRow>> {
  const other = await tx.get(contactById, [id]);
  if (other === undefined) throw refused("unknown_contact", "no such contact");
  return other;
}

function refused(code: string, message: string): TidingsError {
  return invalid([{ pointer: "/contact_id", code, message }]);
}

/** A conversation that was closed has told its contact so. */
async function latest(tx: Tx, { id }: ContactRow): Promise<Seen<ContactRow>> {
  return contactToChange(tx, id);
}

async function moveAddresses(tx: Tx, survivor: ContactRow, other: ContactRow): Promise<void> {
  const [own, others] = await Promise.all(
    [survivor, other].map(({ id }) => tx.list(identitiesOfContact, [id], mostIdentities + 1)),
  );
  if (own === undefined || others === undefined) return;
  if (own.length + others.length > mostIdentities) throw tooMany(`${mostIdentities} addresses`);
  for (const identity of others) tx.update(identities, identity, { contact_id: survivor.id });
}

/** Who was merged into the other points at the survivor now: nobody points at a contact that is merged itself. */
async function pointAtSurvivor(tx: Tx, survivor: ContactRow, other: ContactRow): Promise<void> {
  const [own, others] = await Promise.all(
    [survivor, other].map(({ id }) => tx.list(contactsMergedInto, [id], mostMerged + 1)),
  );
  if (own === undefined || others === undefined) return;
  if (own.length + others.length >= mostMerged) throw tooMany(`${mostMerged} merged contacts`);
  for (const stub of others) await writeContact(tx, stub, { merged_into: survivor.id });
}

function tooMany(what: string): TidingsError {
  return new TidingsError("conflict", `A contact can have at most ${what}.`);
}

async function joinConversations(
  tx: Tx,
  drawId: DrawId,
  survivor: ContactId,
  other: ContactId,
): Promise<void> {
  for (const medium of media) {
    const [own, others] = await Promise.all([
      tx.get(currentConversation, [survivor, medium]),
      tx.get(currentConversation, [other, medium]),
    ]);
    if (others === undefined) continue;
    if (own !== undefined && whichGoesOn(standing(own), standing(others)) === "survivors") {
      await giveWay(tx, drawId, others, survivor);
      continue;
    }
    if (own !== undefined) await giveWay(tx, drawId, own, survivor);
    await changeConversation(tx, drawId, others, { contact_id: survivor });
  }
}

const standing = ({ status, last_activity_at }: ConversationRow) => ({
  isActive: status !== "closed",
  last_activity_at,
});

/** It is the contact's last one no longer, and so stays closed. What is queued in it still goes out. */
async function giveWay(
  tx: Tx,
  drawId: DrawId,
  row: Seen<ConversationRow>,
  contact_id: ContactId,
): Promise<void> {
  const patch = { contact_id, current: null };
  if (row.status === "closed") await writeConversation(tx, row, patch);
  else {
    await changeConversation(tx, drawId, row, {
      ...patch,
      ...kept({ status: "closed", closed_at: tx.now }),
    });
  }
}
