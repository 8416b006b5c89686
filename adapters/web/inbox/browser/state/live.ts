/** Applies live events to what the page shows. */
import { signal } from "@preact/signals";
import type { Conversation, Event, EventType, LastMessage } from "../../../../../src/index.ts";
import {
  currentSession,
  firstCharacters,
  listen,
  may,
  onReconnect,
  placeNow,
  Repetition,
  toast,
} from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { nameIn } from "../words.ts";
import { markApprovals, noteApproval, readApprovalsAgain } from "./approvals.ts";
import { noteConsent, noteContact, noteCreated, readContactsAgain } from "./contacts.ts";
import { conversationNow, conversations, nameSoon } from "./conversations.ts";
import { removeErased } from "./erasure.ts";
import { tellStatus } from "./failures.ts";
import { handoffs, loadHandoffs, noteHandoff } from "./handoffs.ts";
import { forgetMatch } from "./matches.ts";
import { notify } from "./notifications.ts";
import { nextSequence } from "./order.ts";
import { isMe, loadPeople, nameOfAssignee } from "./people.ts";
import { sweepDrafts } from "./sweep.ts";
import { thread } from "./thread.ts";
import { endTyping, showTyping } from "./typing.ts";
import { countOf, listNameOf, timeOfLast, type View } from "./views.ts";

const types: readonly EventType[] = [
  "message.received",
  "message.updated",
  "message.redacted",
  "conversation.created",
  "conversation.updated",
  "conversation.closed",
  "conversation.handoff",
  "contact.created",
  "contact.updated",
  "contact.erased",
  "contact.opted_out",
  "contact.opted_in",
  "sentiment.changed",
  "agent.run.awaiting_approval",
  "agent.run.approval_decided",
  "agent.run.completed",
];

/** How many unread conversations a view has. */
export const counts = signal<Partial<Record<View, number>>>({});

/** The maximum number of contacts with changes that the page keeps. */
const maxKept = 500;

/** Increases when something about a contact changed. */
export const contactVersion = signal<ReadonlyMap<string, number>>(new Map());

const previewCharacters = 140;
const countDelayMs = 4000;

/** Begins to follow the events. */
export function follow(): () => void {
  const { account_id, mode } = currentSession.peek() ?? {};
  const readAgain = (): void => {
    if (may("conversations:read")) void conversations.reload();
    readContactsAgain();
    void loadHandoffs();
    void sweepDrafts();
    countSoon(0);
    markApprovals();
    const { path } = placeNow();
    if (listNameOf(path) === "contacts" && path[1] !== undefined) touchContact(path[1]);
    const open = thread.peek();
    if (open === undefined) return;
    // The list may not have it, for example if it shows the matches of a search.
    void conversations.fetch(open.id).catch(() => {});
    void open.refresh();
    readApprovalsAgain();
    const contact = conversationNow(open.id)?.contact;
    if (contact !== undefined) touchContact(contact.id);
  };
  const endListening = may("events:read")
    ? listen({
        types,
        channel: `inbox:${account_id}:${mode}:${location.pathname}`,
        onEvent,
        onTyping: showTyping,
        onGap: readAgain,
      })
    : () => {};
  const endReconnecting = onReconnect(() => {
    readAgain();
    loadPeople();
  });
  countSoon(0);
  markApprovals();
  void loadHandoffs();
  return () => {
    endListening();
    endReconnecting();
  };
}

function onEvent(event: Event): void {
  onContactEvent(event);
  // Some people may see the contacts and the events, but not the conversations.
  if (may("conversations:read")) onConversationEvent(event);
}

function onConversationEvent(event: Event): void {
  // An import creates many contacts, and none of them changes a count. A run changes none itself.
  const isCounted = event.type !== "contact.created" && !event.type.startsWith("agent.run.");
  if (isCounted) countSoon(countDelayMs);
  switch (event.type) {
    case "message.received":
      received(event);
      break;
    case "message.updated": {
      const { conversation_id, message_id } = event.data;
      tellStatus(message_id, conversation_id, event.data);
      const last = conversationNow(conversation_id)?.last_message;
      // A message for later becomes the last one when its time has come.
      const hasWaited = event.data.previous_status === "scheduled";
      if (!last || last.id < message_id || hasWaited) conversations.fetchSoon(conversation_id);
      else if (last.id === message_id) showStatus(conversation_id, last, event.data);
      endTyping(conversation_id, "us");
      const open = thread.peek();
      if (open?.id === conversation_id) open.refreshMessage(message_id);
      break;
    }
    case "message.redacted":
      redacted(event);
      break;
    case "conversation.created":
    case "conversation.updated":
    case "conversation.closed":
      changed(event.data.conversation);
      break;
    case "conversation.handoff":
      noteHandoff(event);
      break;
    case "agent.run.awaiting_approval":
    case "agent.run.approval_decided":
      noteApproval(event);
      runChanged(event.data.conversation_id);
      break;
    case "agent.run.completed":
      runChanged(event.data.run.conversation_id);
      break;
    default:
  }
}

function onContactEvent(event: Event): void {
  switch (event.type) {
    case "contact.created":
      noteCreated(event.data.contact);
      break;
    case "contact.updated":
      noteContact(event.data.contact);
      nameSoon(event.data.contact);
      touchContact(event.data.contact.id);
      break;
    case "contact.erased":
      removeErased(event.data.contact_id);
      break;
    case "contact.opted_out":
    case "contact.opted_in":
      noteConsent(event.data.contact.id);
      touchContact(event.data.contact.id);
      break;
    case "sentiment.changed":
      touchContact(event.data.contact.id);
      break;
    case "message.redacted":
      // The contact's observations were made from messages.
      touchContact(event.data.contact_id);
      break;
    default:
  }
}

/**
 * Shows the new status of a last message. If the change does not begin at the status that is shown,
 * the conversation was read after it, or a change was missed. Then the conversation is read again.
 * It is also read again if a policy defers the message: the event does not have the new time.
 */
function showStatus(
  conversationId: string,
  last: LastMessage,
  { previous_status, status }: Event<"message.updated">["data"],
): void {
  if (last.status === previous_status && status !== "scheduled") {
    conversations.patch(conversationId, { last_message: { ...last, status } });
  } else {
    conversations.fetchSoon(conversationId);
  }
}

function received(event: Event<"message.received">): void {
  const { message_id, conversation_id, body, contact } = event.data;
  const row = conversationNow(conversation_id);
  endTyping(conversation_id, "contact");
  const open = thread.peek();
  if (open?.id === conversation_id) open.refreshMessage(message_id);
  notify({ id: conversation_id, name: nameIn(event.data), body });
  // No event says that the contact waits from now on. A keyword, for example, asks for no reply.
  const mayBeginToWait = row?.waiting_since === null && row.handler !== "ai";
  if (row === undefined || row.status !== "open" || mayBeginToWait) {
    conversations.fetchSoon(conversation_id);
  }
  const at = event.created_at;
  const next = { id: message_id, status: "received", created_at: at, placed_at: at } as const;
  // A page that was read after the message has it already.
  if (row === undefined || !isBehind(row, next)) return;
  conversations.patch(conversation_id, {
    contact,
    last_message: {
      ...next,
      direction: "inbound",
      send_at: null,
      preview: firstCharacters(body, previewCharacters),
    },
    unread_count: row.unread_count + 1,
    message_count: row.message_count + 1,
  });
}

/** Reads again, or forgets, what has the text of the message or was made from it. */
function redacted({ data }: Event<"message.redacted">): void {
  const { conversation_id, message_id } = data;
  forgetMatch(conversation_id, message_id);
  // The list shows the beginning of the last message.
  if (conversationNow(conversation_id)?.last_message?.id === message_id) {
    conversations.fetchSoon(conversation_id);
  }
  const open = thread.peek();
  if (open?.id === conversation_id) void open.refreshRedacted(message_id);
  // The reason of a hand-off may quote the message.
  if (handoffs.peek().has(conversation_id)) void loadHandoffs();
}

function runChanged(conversationId: string | null): void {
  if (thread.peek()?.id === conversationId) readApprovalsAgain();
}

/** Whether a message comes after the last one that is shown of its conversation. */
function isBehind(
  { last_message: shown }: Conversation,
  next: Pick<LastMessage, "id" | "status" | "created_at" | "placed_at">,
): boolean {
  if (shown === null) return true;
  const [a, b] = [timeOfLast(shown), timeOfLast(next)];
  return a < b || (a === b && shown.id < next.id);
}

/** Says that a colleague took the conversation that is open here. */
function tellTaken(before: Conversation | undefined, { assignee }: Conversation): void {
  if (before === undefined || assignee?.type !== "human") return;
  const isNew = before.assignee?.type !== "human" || before.assignee.id !== assignee.id;
  if (!isNew || isMe(assignee)) return;
  toast({ message: t("takenBy", { name: nameOfAssignee(assignee) }) });
}

/** Events have no text of messages, so the known one stays. */
function changed(next: Conversation): void {
  const before = conversationNow(next.id);
  if (thread.peek()?.id === next.id) tellTaken(before, next);
  const last = next.last_message;
  if (last === null) {
    conversations.put(next);
  } else if (before?.last_message?.id === last.id) {
    conversations.put({ ...next, last_message: before.last_message });
  } else if (before !== undefined && !isBehind(before, last)) {
    // The event is older than what the page shows of the messages.
    const { last_message, unread_count, message_count } = before;
    conversations.put({ ...next, last_message, unread_count, message_count });
  } else {
    if (before !== undefined) conversations.put({ ...next, last_message: before.last_message });
    conversations.fetchSoon(next.id);
  }
  const open = thread.peek();
  if (open?.id === next.id) open.refreshNotes();
}

function touchContact(id: string): void {
  const next = new Map(contactVersion.peek());
  next.set(id, (next.get(id) ?? 0) + 1);
  contactVersion.value = next.size > maxKept ? new Map([[id, 1]]) : next;
}

let counting: ReturnType<typeof setTimeout> | undefined;
/** When the counts that are shown were requested. */
let countedAt = 0;
const countRepetition = new Repetition();

/** Counts what is unread, and who waits. */
export function countSoon(delayMs: number): void {
  if (!may("conversations:read") || (counting !== undefined && delayMs > 0)) return;
  clearTimeout(counting);
  counting = setTimeout(() => {
    counting = undefined;
    count().then(
      () => countRepetition.noteSuccess(),
      (error: unknown) => countRepetition.noteFailure(error, () => countSoon(0)),
    );
  }, delayMs);
}

async function count(): Promise<void> {
  const sequence = nextSequence();
  const [all, mine, waiting] = await Promise.all([
    countOf({ view: "all", unread: true }),
    countOf({ view: "mine", unread: true }),
    countOf({ view: "waiting" }),
  ]);
  // An answer may come after the answer to a later request.
  if (sequence < countedAt) return;
  countedAt = sequence;
  counts.value = { all, mine, waiting };
}
