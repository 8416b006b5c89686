import { agentSessionOf, agentSessions, runs, runsOfConversation } from "../agents/index.ts";
import {
  consumerEventOf,
  consumerEvents,
  consumers,
  events,
  eventsOfContact,
} from "../events/index.ts";
import {
  type ConversationRow,
  conversations,
  conversationsOfContact,
  notes,
  writeConversation,
} from "../conversations/index.ts";
import { erasedData } from "./erase-event.ts";
import type { ContactId } from "../kernel/index.ts";
import { disarm } from "../queue/index.ts";
import {
  attempts,
  attemptsOfMessage,
  type MessageRow,
  messages,
  messagesOfContact,
  timeline,
} from "../messages/index.ts";
import { observations } from "../observations/index.ts";
import { messageScores } from "../sentiment/index.ts";
import { eraseAnswers, idempotency, idempotencyByKey } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import { type Tx, unscoped } from "../store/index.ts";
import { eraseDeliveries } from "../webhooks/index.ts";

/** Messages, and other rows of each kind, that one transaction removes. */
const chunk = 50;
/** Of one message or conversation; what is beyond has its turn before the message has. */
const mostParts = 200;
/** What webhooks were told, at once. */
const mostDeliveries = 100;
/** More consumers than anybody has. */
const mostConsumers = 1_000;

type Step = (tx: Tx, id: string) => Promise<boolean>;

/**
 * Removes a part of what is left of a contact that is gone. Answers whether there is more; with the last part the job is done.
 *
 * The order matters: whoever tells of a message or a conversation writes its row, so when those are gone nobody tells of them any more,
 * and the events that are there then are all.
 */
export async function eraseHistory(tx: Tx, id: ContactId): Promise<"more" | "done"> {
  for (const step of steps) {
    if (!(await step(tx, id))) return "more";
  }
  await disarm(tx, { kind: "erase", key: { contact_id: id } });
  return "done";
}

/** Each answers whether it found nothing left to do. */
const steps: readonly Step[] = [
  eraseMessages,
  eraseConversations,
  eraseImpressions,
  eraseAnswers,
  eraseEvents,
];

async function eraseMessages(tx: Tx, id: string): Promise<boolean> {
  const found = await tx.list(messagesOfContact, [id], chunk);
  await Promise.all(found.map((message) => eraseMessage(tx, message)));
  return found.length === 0;
}

async function eraseMessage(tx: Tx, message: Seen<MessageRow>): Promise<void> {
  const { id, idempotency_key } = message;
  const [tried, told, sent, answersGone] = await Promise.all([
    tx.list(attemptsOfMessage, [id], mostParts),
    tx.list(timeline.primary, [id], mostParts),
    idempotency_key === null ? undefined : tx.get(idempotencyByKey, [idempotency_key]),
    eraseAnswers(tx, id),
  ]);
  for (const attempt of tried) tx.remove(attempts, attempt);
  for (const entry of told) tx.remove(timeline, entry);
  if (sent?.subject_id === id) tx.update(idempotency, sent, { response: null });
  if (message.status === "scheduled") {
    await disarm(tx, { kind: "release", key: { message_id: id } });
  }
  if (answersGone && Math.max(tried.length, told.length) < mostParts) tx.remove(messages, message);
}

async function eraseConversations(tx: Tx, id: string): Promise<boolean> {
  const found = await tx.list(conversationsOfContact, [id], chunk);
  for (const conversation of found) await eraseConversation(tx, conversation);
  return found.length === 0;
}

async function eraseConversation(tx: Tx, conversation: Seen<ConversationRow>): Promise<void> {
  const { id } = conversation;
  const [written, ran, session] = await Promise.all([
    tx.list(notes.primary, [id], mostParts),
    tx.list(runsOfConversation, [id], chunk),
    tx.get(agentSessionOf, [id]),
  ]);
  // Answers are found by what they show, so that goes last.
  const erase = (each: { readonly id: string }): Promise<boolean> => eraseAnswers(tx, each.id);
  const [isGone, ...notesGone] = await Promise.all([conversation, ...written].map(erase));
  const runsGone = await Promise.all(ran.map(erase));
  for (const [i, note] of written.entries()) if (notesGone[i] === true) tx.remove(notes, note);
  for (const [i, run] of ran.entries()) if (runsGone[i] === true) tx.remove(runs, run);
  if (session !== undefined) tx.remove(agentSessions, session);
  const isLast = isGone === true && written.length < mostParts && ran.length < chunk;
  if (!isLast || notesGone.includes(false) || runsGone.includes(false)) return;
  tx.remove(conversations, await writeConversation(tx, conversation, { labels: [] }));
}

/** How its messages sounded, and what was noticed about it. */
async function eraseImpressions(tx: Tx, id: string): Promise<boolean> {
  const own = [id];
  const [scores, noticed] = await Promise.all([
    tx.list(messageScores.primary, own, chunk),
    tx.list(observations.primary, own, chunk),
  ]);
  for (const score of scores) tx.remove(messageScores, score);
  for (const observation of noticed) {
    if (await eraseAnswers(tx, observation.id)) tx.remove(observations, observation);
  }
  return scores.length === 0 && noticed.length === 0;
}

/** What happened stays in the log, for those who count it and go on from there; whom it happened to does not. */
async function eraseEvents(tx: Tx, id: string): Promise<boolean> {
  const all = unscoped(tx);
  const [found, reading] = await Promise.all([
    tx.list(eventsOfContact, [id], chunk),
    all.list(consumers.primary, [], mostConsumers),
  ]);
  let room = mostDeliveries;
  for (const event of found) {
    const [emptied, answersGone] = await Promise.all([
      eraseDeliveries(tx, event.id, room),
      eraseAnswers(tx, event.id),
    ]);
    room -= emptied;
    // They are found by the event, so that goes last.
    if (room <= 0 || !answersGone) return false;
    tx.update(events, event, { data: erasedData(event), contact_id: null });
    // What a handler threw at it may quote it.
    const waiting = await Promise.all(
      reading.map(({ name }) => all.get(consumerEventOf, [name, event.id])),
    );
    for (const row of waiting) {
      // One that a handler is at for the first time is left alone: its transaction has the row.
      if (row !== undefined && row.error !== null) all.update(consumerEvents, row, { error: null });
    }
  }
  return found.length === 0;
}
