import {
  clearedFields,
  type Contact,
  contactById,
  type ContactRow,
  contactsMergedInto,
  contactToChange,
  contactUpdated,
  conversationToKeep,
  identities,
  identitiesOfContact,
  maxIdentities,
  maxMerged,
  media,
  type MergeContacts,
  mergeContactsSchema,
  mergedError,
  mergedFacts,
  showContact,
  writeContact,
} from "../contacts/index.ts";
import {
  changeConversation,
  type ConversationRow,
  conversationsOfContact,
  currentConversation,
  statusPatch,
  writeConversation,
} from "../conversations/index.ts";
import { arm, disarm, type JobOrder } from "../queue/index.ts";
import { awaitingRuns, handOff, maxOpenRuns, unansweredSince } from "../agents/index.ts";
import { messages, messagesOfContact } from "../messages/index.ts";
import { observations } from "../observations/index.ts";
import { messageScores, scoreJob } from "../sentiment/index.ts";
import {
  type ById,
  byIdSchema,
  type ContactId,
  type GenerateId,
  invalid,
  TidingsError,
} from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";
import {
  type Command,
  type HistoryChunks,
  type Procedure,
  showsOutput,
} from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import { appendEvent } from "../events/index.ts";

/**
 * Moves one chunk of a merged contact's history to its survivor. Returns whether there is more. The
 * last chunk also ends the job.
 *
 * The merged contact's row is locked. A concurrent merge or erasure of the survivor writes that
 * row, and this transaction runs again. No new rows are added to the history, because the merge
 * wrote every row that leads to it.
 */
export async function moveHistory(
  tx: Tx,
  id: ContactId,
  { moved: max }: HistoryChunks,
): Promise<"more" | "done"> {
  const merged = await tx.get(contactById, [id], { hold: true });
  // A contact that was erased with its survivor has no target. The erasure removes its history.
  const to = merged?.merged_into ?? null;
  const moved = to === null ? 0 : await moveTo(tx, id, to, max);
  if (moved >= max) return "more";
  await disarm(tx, { kind: "merge", key: { contact_id: id } });
  return "done";
}

/**
 * Moves up to `max` rows of each kind. Returns the number of rows of the kind that had the most.
 */
async function moveTo(tx: Tx, id: string, contact_id: ContactId, max: number): Promise<number> {
  const [written, threads, scores, noticed] = await Promise.all([
    tx.list(messagesOfContact, [id], max),
    tx.list(conversationsOfContact, [id], max),
    tx.list(messageScores.primary, [id], max),
    tx.list(observations.primary, [id], max),
  ]);
  for (const message of written) {
    const author = message.author_type === "contact" ? { author_id: contact_id } : {};
    tx.update(messages, message, { contact_id, ...author });
  }
  for (const thread of threads) await writeConversation(tx, thread, { contact_id });
  for (const score of scores) {
    const { version: _, ...row } = score;
    tx.remove(messageScores, score);
    tx.insert(messageScores, { ...row, contact_id });
  }
  // Pending scores are now computed by the survivor's job.
  if (scores.some(({ state }) => state === "pending")) {
    await arm(tx, scoreJob(tx.scope, contact_id, tx.now));
  }
  for (const observation of noticed) {
    const { version: _, ...row } = observation;
    tx.remove(observations, observation);
    tx.insert(observations, { ...row, contact_id });
  }
  return Math.max(written.length, threads.length, scores.length, noticed.length);
}

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
  async run(tx, { id, contact_id }, { services }) {
    const survivor = await contactToChange(tx, id);
    const other = await otherContact(tx, survivor, contact_id);
    const joined = { survivor: survivor.id, other: other.id };
    if (other.merged_into === survivor.id) return joined;

    const { drawId } = services;
    await moveAddresses(tx, survivor, other);
    await joinConversations(tx, drawId, survivor.id, other.id);
    await repointMergedContacts(tx, survivor, other);
    // Read again: closing a conversation writes its contact.
    const latest = await contactToChange(tx, survivor.id);
    const facts = mergedFacts(latest, other, services.limits.metadataKeys);
    const merged = await writeContact(tx, latest, facts);
    await writeContact(tx, other, { ...clearedFields, merged_into: survivor.id });
    await arm(tx, mergeJob(other, tx.now));
    const contact = await showContact(tx, merged, services);
    appendEvent(tx, drawId, contactUpdated, { contact }, { contact_id: survivor.id });
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
    // Locked: a concurrent erasure must find the stored response.
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
  if (other === undefined) throw refused("unknown_contact", "no contact has this id");
  if (other.id === survivor.id) throw refused("itself", "must be another contact");
  const { merged_into } = other;
  if (merged_into !== null && merged_into !== survivor.id) throw mergedError(merged_into);
  return other;
}

function refused(code: string, message: string): TidingsError {
  return invalid([{ pointer: "/contact_id", code, message }]);
}

async function moveAddresses(tx: Tx, survivor: ContactRow, other: ContactRow): Promise<void> {
  const [own, others] = await Promise.all(
    [survivor, other].map(({ id }) => tx.list(identitiesOfContact, [id], maxIdentities + 1)),
  );
  if (own === undefined || others === undefined) return;
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
  const [own, others] = await Promise.all(
    [survivor, other].map(({ id }) => tx.list(contactsMergedInto, [id], maxMerged + 1)),
  );
  if (own === undefined || others === undefined) return;
  checkMerged(own.length + others.length);
  await Promise.all(others.map((stub) => writeContact(tx, stub, { merged_into: survivor.id })));
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

async function joinConversations(
  tx: Tx,
  drawId: GenerateId,
  survivor: ContactId,
  other: ContactId,
): Promise<void> {
  for (const medium of media) {
    const [own, others] = await Promise.all([
      tx.get(currentConversation, [survivor, medium]),
      tx.get(currentConversation, [other, medium]),
    ]);
    if (others === undefined) continue;
    const ended = own && conversationToEnd(own, others);
    const since = ended === undefined ? null : await unansweredIn(tx, ended);
    if (ended !== undefined) await supersede(tx, drawId, ended, survivor);
    if (ended !== others) await changeConversation(tx, drawId, others, { contact_id: survivor });
    // An active conversation ends only in favor of an active one of the survivor.
    else if (own !== undefined && since !== null) await keepWaiting(tx, drawId, own, ended, since);
  }
}

/**
 * Returns since when the contact has waited for an answer in a conversation, in milliseconds since
 * the epoch: also while an agent waits for the approval of an action. Null if it does not wait.
 */
async function unansweredIn(tx: Tx, conversation: ConversationRow): Promise<number | null> {
  const { id, status, handler, waiting_since } = conversation;
  if (status === "closed" || handler !== "ai") return waiting_since;
  // A single action from a trigger answers nobody, and can be approved after the merge too.
  const runs = await tx.list(awaitingRuns, [id], maxOpenRuns);
  const begun = runs.flatMap((run) => (run.request?.type === "action" ? [] : run.created_at));
  const unanswered = await unansweredSince(tx, conversation);
  const since = Math.min(unanswered ?? Infinity, ...begun);
  return since === Infinity ? null : since;
}

/**
 * Lets the contact wait in the conversation that stays, because nobody looks at the one that ends.
 * Its agent does not see what was asked there, so people get it.
 */
async function keepWaiting(
  tx: Tx,
  drawId: GenerateId,
  kept: Seen<ConversationRow>,
  ended: ConversationRow,
  since: number,
): Promise<void> {
  if (kept.handler === "ai" || (kept.handler === "none" && ended.handler === "queue")) {
    const reason = `A merge has closed the conversation ${ended.id}, which waited for an answer.`;
    await handOff(tx, drawId, kept, { rule: null, reason, summary: "" });
  } else {
    const waiting_since = Math.min(kept.waiting_since ?? since, since);
    await changeConversation(tx, drawId, kept, { waiting_since });
  }
}

/** Returns which of two current conversations on a medium ends when their contacts merge. */
export function conversationToEnd(
  own: Seen<ConversationRow>,
  others: Seen<ConversationRow>,
): Seen<ConversationRow> {
  const kept = conversationToKeep(activityOf(own), activityOf(others));
  return kept === "survivors" ? others : own;
}

const activityOf = ({ status, last_activity_at }: ConversationRow) => ({
  isActive: status !== "closed",
  last_activity_at,
});

/**
 * Ends the current conversation in favor of the other. It stays closed, but its queued messages are
 * still sent.
 */
async function supersede(
  tx: Tx,
  drawId: GenerateId,
  row: Seen<ConversationRow>,
  contact_id: ContactId,
): Promise<void> {
  const patch = { contact_id, current: null };
  if (row.status === "closed") await writeConversation(tx, row, patch);
  else {
    await changeConversation(tx, drawId, row, {
      ...patch,
      ...statusPatch({ status: "closed", closed_at: tx.now }),
    });
  }
}

/**
 * The delay of the job, in milliseconds. The procedure moves the history at once. If its process
 * ends early, the job continues.
 */
const laterMs = 60_000;

/** The job that moves the history of a merged contact to its survivor. */
function mergeJob(
  { account_id, mode, id: contact_id }: ContactRow,
  now: number,
): JobOrder<"merge"> {
  const lane = { kind: "merge", slow: false } as const;
  return { kind: "merge", key: { contact_id }, account_id, mode, lane, due_at: now + laterMs };
}
