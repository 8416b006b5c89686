import { agentSessionOf, agentSessions, runs, runsOfConversation } from "../agents/index.ts";
import {
  eraseConsumerErrors,
  eventsOfContact,
  type EventType,
  rewriteEvent,
} from "../events/index.ts";
import {
  type Conversation,
  type ConversationRow,
  conversations,
  conversationsOfContact,
  notes,
  writeConversation,
} from "../conversations/index.ts";
import type { ContactId } from "../kernel/index.ts";
import { disarm } from "../queue/index.ts";
import {
  attempts,
  attemptsOfMessage,
  type MessageError,
  type MessageRow,
  messages,
  messagesOfContact,
  removeWords,
  timeline,
} from "../messages/index.ts";
import { observations } from "../observations/index.ts";
import { messageScores } from "../sentiment/index.ts";
import {
  eraseStoredResponses,
  type HistoryChunks,
  idempotency,
  idempotencyByKey,
} from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { removeMail } from "../webchat/index.ts";
import { eraseDeliveries, type EventMap } from "../webhooks/index.ts";
import type { Contact, ContactReference } from "../contacts/index.ts";

type Step = (tx: Tx, id: string, chunks: HistoryChunks) => Promise<boolean>;

/**
 * Removes one chunk of an erased contact's history. Returns whether there is more. The last chunk
 * also ends the job.
 *
 * The order matters. A transaction that appends an event about a message or a conversation writes
 * that row. So once those rows are gone, no more events about them are appended.
 */
export async function eraseHistory(
  tx: Tx,
  id: ContactId,
  chunks: HistoryChunks,
): Promise<"more" | "done"> {
  for (const step of steps) {
    if (!(await step(tx, id, chunks))) return "more";
  }
  await disarm(tx, { kind: "erase", key: { contact_id: id } });
  return "done";
}

/**
 * Removes one chunk of the stored responses about an erased contact's address. Returns whether
 * there is more. The last chunk also ends the job.
 */
export async function eraseAddress(
  tx: Tx,
  hash: string,
  { responses }: HistoryChunks,
): Promise<"more" | "done"> {
  if (!(await eraseStoredResponses(tx, hash, responses))) return "more";
  await disarm(tx, { kind: "erase-address", key: { hash } });
  return "done";
}

/** Each step returns whether it found nothing left to do. */
const steps: readonly Step[] = [
  eraseMessages,
  eraseConversations,
  eraseScoresAndObservations,
  (tx, id, { responses }) => eraseStoredResponses(tx, id, responses),
  eraseEvents,
];

async function eraseMessages(tx: Tx, id: string, chunks: HistoryChunks): Promise<boolean> {
  const found = await tx.list(messagesOfContact, [id], chunks.rows);
  await Promise.all(found.map((message) => eraseMessage(tx, message, chunks)));
  return found.length === 0;
}

async function eraseMessage(
  tx: Tx,
  message: Seen<MessageRow>,
  chunks: HistoryChunks,
): Promise<void> {
  const { id, idempotency_key } = message;
  const [attemptRows, timelineEntries, sent, answersGone] = await Promise.all([
    tx.list(attemptsOfMessage, [id], chunks.parts),
    tx.list(timeline.primary, [id], chunks.parts),
    idempotency_key === null ? undefined : tx.get(idempotencyByKey, [idempotency_key]),
    eraseStoredResponses(tx, id, chunks.responses),
    removeMail(tx, id),
  ]);
  for (const attempt of attemptRows) tx.remove(attempts, attempt);
  for (const entry of timelineEntries) tx.remove(timeline, entry);
  if (sent?.subject_id === id) tx.update(idempotency, sent, { response: null });
  if (message.status === "scheduled") {
    await disarm(tx, { kind: "release", key: { message_id: id } });
  }
  if (answersGone && Math.max(attemptRows.length, timelineEntries.length) < chunks.parts) {
    await removeWords(tx, message);
    tx.remove(messages, message);
  }
}

async function eraseConversations(tx: Tx, id: string, chunks: HistoryChunks): Promise<boolean> {
  const found = await tx.list(conversationsOfContact, [id], chunks.rows);
  await Promise.all(found.map((conversation) => eraseConversation(tx, conversation, chunks)));
  return found.length === 0;
}

async function eraseConversation(
  tx: Tx,
  conversation: Seen<ConversationRow>,
  chunks: HistoryChunks,
): Promise<void> {
  const { id } = conversation;
  const [written, ran, session] = await Promise.all([
    tx.list(notes.primary, [id], chunks.parts),
    tx.list(runsOfConversation, [id], chunks.rows),
    tx.get(agentSessionOf, [id]),
  ]);
  // Stored responses are found by the rows that they show, so the rows are removed last.
  const erase = (each: { readonly id: string }): Promise<boolean> =>
    eraseStoredResponses(tx, each.id, chunks.responses);
  const [isGone, ...notesGone] = await Promise.all([conversation, ...written].map(erase));
  const runsGone = await Promise.all(ran.map(erase));
  for (const [i, note] of written.entries()) if (notesGone[i] === true) tx.remove(notes, note);
  for (const [i, run] of ran.entries()) if (runsGone[i] === true) tx.remove(runs, run);
  if (session !== undefined) tx.remove(agentSessions, session);
  const isLast = isGone === true && written.length < chunks.parts && ran.length < chunks.rows;
  if (!isLast || notesGone.includes(false) || runsGone.includes(false)) return;
  tx.remove(conversations, await writeConversation(tx, conversation, { labels: [] }));
}

/** Removes the sentiment scores and the observations. */
async function eraseScoresAndObservations(
  tx: Tx,
  id: string,
  chunks: HistoryChunks,
): Promise<boolean> {
  const [scores, noticed] = await Promise.all([
    tx.list(messageScores.primary, [id], chunks.rows),
    tx.list(observations.primary, [id], chunks.rows),
  ]);
  for (const score of scores) tx.remove(messageScores, score);
  const answersGone = await Promise.all(
    noticed.map((observation) => eraseStoredResponses(tx, observation.id, chunks.responses)),
  );
  for (const [i, observation] of noticed.entries()) {
    if (answersGone[i] === true) tx.remove(observations, observation);
  }
  return scores.length === 0 && noticed.length === 0;
}

/**
 * Removes personal data from events. The events stay, so that consumers can count them and continue
 * from their position.
 */
async function eraseEvents(tx: Tx, id: string, chunks: HistoryChunks): Promise<boolean> {
  const found = await tx.list(eventsOfContact, [id], chunks.rows);
  const ids = found.map((event) => event.id);
  const emptied = found.slice(0, await eraseDeliveries(tx, ids, chunks.deliveries));
  const [answersGone] = await Promise.all([
    Promise.all(emptied.map((event) => eraseStoredResponses(tx, event.id, chunks.responses))),
    eraseConsumerErrors(tx, emptied),
  ]);
  for (const [i, event] of emptied.entries()) {
    // Deliveries and stored responses are found by the event, so the event is changed last.
    if (answersGone[i] !== true) continue;
    rewriteEvent(tx, event, { data: erasedData(event), contact_id: null });
  }
  return found.length === 0;
}

/** For each event type, removes personal data. The event and its ids stay. */
const erasers: { readonly [T in EventType]: (data: EventMap[T]) => EventMap[T] } = {
  "message.received": (data) => ({
    ...data,
    contact: withoutName(data.contact),
    body: "",
    media: [],
  }),
  "message.sent": (data) => ({ ...data, contact: withoutName(data.contact), to: "" }),
  "message.updated": (data) => ({ ...data, to: "", error: withoutText(data.error) }),
  "message.failed": (data) => ({ ...data, to: "", error: withoutText(data.error) }),
  "contact.created": ({ contact }) => ({ contact: emptyContact(contact) }),
  "contact.updated": ({ contact }) => ({ contact: emptyContact(contact) }),
  "contact.opted_out": (data) => ({ ...data, contact: withoutName(data.contact), address: "" }),
  "contact.opted_in": (data) => ({ ...data, contact: withoutName(data.contact), address: "" }),
  "conversation.created": ({ conversation }) => ({ conversation: anonymized(conversation) }),
  "conversation.updated": ({ conversation }) => ({ conversation: anonymized(conversation) }),
  "conversation.closed": ({ conversation }) => ({ conversation: anonymized(conversation) }),
  "conversation.handoff": (data) => ({
    ...data,
    contact: withoutName(data.contact),
    reason: "",
    summary: "",
  }),
  "sentiment.changed": (data) => ({ ...data, contact: withoutName(data.contact) }),
  "agent.run.completed": ({ run }) => ({ run: { ...run, steps: [], result: null } }),
  "webhook.disabled": (data) => data,
};

/** Returns the data of an event without personal data. It still matches the schema of its type. */
export function erasedData({
  type,
  data,
}: {
  readonly type: EventType;
  readonly data: object;
}): object {
  // Safe: only `appendEvent` writes events, and it gives each the data of its type.
  const erase = erasers[type] as (before: object) => object;
  return erase(data);
}

function withoutName({ id }: ContactReference): ContactReference {
  return { id, name: "", phone: null };
}

/**
 * Carriers quote phone numbers in error texts, and the host application's policies may return any
 * text.
 */
function withoutText(error: MessageError | null): MessageError | null {
  return error === null ? null : { ...error, message: "" };
}

function emptyContact(contact: Contact): Contact {
  const said = {
    name: null,
    phone: null,
    email: null,
    time_zone: null,
    language: null,
    sentiment: null,
  };
  return { ...contact, ...said, labels: [], attributes: {}, identities: [] };
}

function anonymized(conversation: Conversation): Conversation {
  const { contact, last_message } = conversation;
  const last = last_message === null ? null : { ...last_message, preview: "" };
  return {
    ...conversation,
    contact: withoutName(contact),
    last_message: last,
    labels: [],
    metadata: {},
  };
}
