import { contacts, findSurvivor } from "../contacts/index.ts";
import { appendEvent } from "../events/index.ts";
import { notFound, TidingsError, type MessageId } from "../kernel/index.ts";
import { hasChanges } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import { arm, disarm } from "../queue/index.ts";
import type { Tx } from "../store/index.ts";
import { conversationClosed, conversationUpdated } from "./events.ts";
import { queueTimeoutJob, wakeJob } from "./job-orders.ts";
import { lastSequence, waitingPlace, type Place } from "./places.ts";
import {
  conversationById,
  conversationLabelByName,
  conversationLabels,
  conversations,
  currentConversation,
  type ConversationRow,
} from "./rows.ts";
import { attentionOf, readAtAfterMessage, readAtNow, type MessageRole } from "./rules.ts";
import { conversationOfEvent } from "./show.ts";

/**
 * Returns a conversation, and touches it: an erasure under way must find the notes and stored
 * responses that this transaction adds. To hold it would not suffice, since the erasure may have
 * listed them already.
 * @throws TidingsError `not_found`
 */
export async function touchConversation(tx: Tx, id: string): Promise<Seen<ConversationRow>> {
  const conversation = await tx.get(conversationById, [id]);
  if (conversation === undefined) throw notFound("conversation", id);
  return tx.touch(conversations, conversation);
}

/**
 * Returns an active conversation, and writes it as `touchConversation` does.
 * @throws TidingsError `not_found`; `conflict` when it is closed
 */
export async function touchActiveConversation(tx: Tx, id: string): Promise<Seen<ConversationRow>> {
  const conversation = await touchConversation(tx, id);
  if (conversation.status !== "closed") return conversation;
  throw new TidingsError("conflict", "The conversation is closed. Open it first.");
}

/**
 * Returns the error of reopening a conversation that a newer one has replaced. It names the newer
 * one.
 */
export async function supersededError(
  tx: Tx,
  { contact_id, medium }: ConversationRow,
): Promise<TidingsError> {
  const newer = await tx.get(currentConversation, [contact_id, medium]);
  const message = "The conversation is closed and a newer one has replaced it. Use the newer one.";
  return new TidingsError("conflict", message, { conflictingId: newer?.id });
}

/** Updates a conversation and appends an event. If nothing differs, it writes nothing. */
export async function changeConversation(
  tx: Tx,
  before: Seen<ConversationRow>,
  patch: Partial<ConversationRow>,
): Promise<Seen<ConversationRow>> {
  if (!hasChanges(before, patch)) return before;
  const after = await writeConversation(tx, before, { ...patch, updated_at: tx.now });
  const closes = after.status === "closed" && before.status !== "closed";
  const event = closes ? conversationClosed : conversationUpdated;
  const about = { contact_id: after.contact_id, conversation_id: after.id };
  appendEvent(tx, event, { conversation: await conversationOfEvent(tx, after) }, about);
  return after;
}

interface NewMessage {
  readonly id: MessageId;
  readonly direction: "outbound" | "inbound";
  readonly role: MessageRole;
  /** Whether its author, a person or an agent, has read what the contact wrote before. */
  readonly isByReader: boolean;
  /** Whether it waits for its time. Default: it takes its place in the thread now. */
  readonly isForLater?: boolean;
}

/** Updates a conversation for a new message. Returns the message's place in it. */
export async function updateForMessage(
  tx: Tx,
  conversation: Seen<ConversationRow>,
  { id, direction, role, isByReader, isForLater = false }: NewMessage,
): Promise<Place> {
  const { message_count, unread_count } = conversation;
  const sequence = lastSequence(conversation) + 1;
  const received = {
    unread_count: unread_count + 1,
    unread: true,
    contact_wrote: true,
    read_at: readAtAfterMessage(conversation, tx.now),
  } as const;
  const patch = {
    message_count: message_count + 1,
    ...lastColumns(conversation, id, tx.now),
    ...(direction === "inbound" ? received : {}),
    ...(isByReader ? { read_at: readAtNow(conversation, tx.now) } : {}),
  };
  await writeConversation(tx, conversation, patch, role);
  return isForLater
    ? waitingPlace(sequence)
    : { sequence, first_sequence: null, placed_at: tx.now };
}

interface WaitingMessage {
  readonly id: MessageId;
  readonly conversation_id: string;
}

/**
 * Updates a conversation for a message that waits no longer. Returns its place, the last of the
 * thread. Undefined if an erasure has removed the conversation. A message that is not sent
 * (`isSent`) is no activity.
 */
export async function placeLast(
  tx: Tx,
  { id, conversation_id }: WaitingMessage,
  { isSent }: { readonly isSent: boolean },
): Promise<Pick<Place, "sequence" | "placed_at"> | undefined> {
  const conversation = await tx.get(conversationById, [conversation_id]);
  if (conversation === undefined) return undefined;
  const after = await writeConversation(tx, conversation, {
    moved_count: (conversation.moved_count ?? 0) + 1,
    ...(isSent ? lastColumns(conversation, id, tx.now) : {}),
  });
  if (after.status === "closed") await updateContactTime(tx, after);
  return { sequence: lastSequence(after), placed_at: tx.now };
}

/** Returns the columns that a message sets when it is written, and when it takes its place. */
function lastColumns(
  { last_activity_at }: ConversationRow,
  last_message_id: MessageId,
  now: number,
): Pick<ConversationRow, "last_message_id" | "last_activity_at"> {
  // A slower clock of another engine must not move the time back, or a scan would return the
  // conversation twice.
  return { last_message_id, last_activity_at: Math.max(last_activity_at, now) };
}

/**
 * No other function updates conversations, so everything that depends on one is written with it:
 * its label rows, its derived columns, the jobs that wake it and time out its wait for people and,
 * when it closes, the time of the contact's last message. `role` is the role of the message that
 * causes the change.
 */
export async function writeConversation(
  tx: Tx,
  before: Seen<ConversationRow>,
  patch: Partial<ConversationRow>,
  role: MessageRole = "neither",
): Promise<Seen<ConversationRow>> {
  const after = writeAttention(tx, tx.update(conversations, before, patch), role);
  if (before.labels.length > 0 || after.labels.length > 0) await writeLabels(tx, before, after);
  if (after.snoozed_until !== before.snoozed_until) await writeWake(tx, after);
  if (after.status === "closed" && before.status !== "closed") await updateContactTime(tx, after);
  // The job may have run while the conversation was closed. It finds out how long it has to wait.
  if (before.status === "closed" && after.status !== "closed" && after.handler === "queue") {
    await arm(tx, queueTimeoutJob(after, tx.now));
  }
  return after;
}

/**
 * Writes the columns that are derived from others, if they change. Most messages do not change
 * them, and what is not written costs no index an update.
 */
function writeAttention(
  tx: Tx,
  row: Seen<ConversationRow>,
  role: MessageRole,
): Seen<ConversationRow> {
  const attention = attentionOf(row, row.waiting_since, role, tx.now);
  const isSame =
    attention.unassigned === row.unassigned &&
    attention.waiting_for === row.waiting_for &&
    attention.waiting_since === row.waiting_since;
  return isSame ? row : tx.update(conversations, row, attention);
}

async function writeLabels(tx: Tx, before: ConversationRow, after: ConversationRow): Promise<void> {
  const { id: conversation_id, status, last_activity_at } = after;
  const gone = before.labels.filter((label) => !after.labels.includes(label));
  const rowOf = (label: string) => tx.get(conversationLabelByName, [label, conversation_id]);
  const moved = status !== before.status || last_activity_at !== before.last_activity_at;
  const stayed = moved ? after.labels.filter((label) => before.labels.includes(label)) : [];
  const [goneRows, stayedRows] = await Promise.all([
    Promise.all(gone.map(rowOf)),
    Promise.all(stayed.map(rowOf)),
  ]);
  for (const row of goneRows) if (row !== undefined) tx.remove(conversationLabels, row);
  for (const row of stayedRows) {
    if (row !== undefined) tx.update(conversationLabels, row, { status, last_activity_at });
  }
  for (const label of after.labels) {
    if (before.labels.includes(label)) continue;
    tx.insert(conversationLabels, { label, conversation_id, status, last_activity_at });
  }
}

/**
 * Schedules the end of a snooze. If the job is due before that, it runs, finds that the snooze has
 * not ended, and waits again.
 */
async function writeWake(tx: Tx, conversation: ConversationRow): Promise<void> {
  const { id: conversation_id, snoozed_until } = conversation;
  if (snoozed_until === null) await disarm(tx, { kind: "wake", key: { conversation_id } });
  else await arm(tx, wakeJob(conversation, snoozed_until));
}

/**
 * An active conversation holds the time of its last message, so that a message does not write the
 * contact. When it closes, the contact takes over that time. A merge moves closed conversations
 * later than the contact's data. A scheduled message may be sent in one of them before that, so the
 * survivor gets the time.
 */
async function updateContactTime(
  tx: Tx,
  { account_id, mode, contact_id, ...last }: ConversationRow,
): Promise<void> {
  if (last.message_count === 0) return;
  const contact = await findSurvivor(tx, contact_id, { hold: true });
  if (contact === undefined || (contact.last_message_at ?? 0) >= last.last_activity_at) return;
  tx.update(contacts, contact, { last_message_at: last.last_activity_at });
}
