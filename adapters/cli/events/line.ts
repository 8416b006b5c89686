import { eventTypes } from "../../../src/events/index.ts";
import type { Conversation, Event, EventType } from "../../entry.ts";
import { dim, oneLine, red, timeOfDay, yellow } from "../terminal.ts";

/** The events that a person may have to act on. */
const asksForPeople: ReadonlySet<EventType> = new Set([
  "conversation.handoff",
  "agent.run.awaiting_approval",
  "contact.opted_out",
]);

const width = Math.max(...eventTypes.map((type) => type.length));

/** Returns an event as one line: when, what, and about whom. */
export function eventLine(event: Event): string {
  const { type, created_at } = event;
  const name = type.padEnd(width);
  return `${dim(timeOfDay(new Date(created_at)))}  ${toned(type, name)}  ${summaryOf(event)}`;
}

function toned(type: EventType, name: string): string {
  if (type === "message.failed" || type === "webhook.disabled") return red(name);
  return asksForPeople.has(type) ? yellow(name) : name;
}

/** Returns what happened in one line of plain text. */
function summaryOf(event: Event): string {
  return oneLine(factsOf(event), 120);
}

function factsOf({ type, data }: Event): string {
  switch (type) {
    case "message.received":
      return `${nameOf(data.contact)}: ${data.body ?? "(redacted)"}`;
    case "message.sent":
      return `${data.status} to ${data.to}`;
    case "message.updated":
    case "message.failed":
      return messageFacts(data);
    case "message.redacted":
      return data.message_id;
    case "contact.erased":
      return data.contact_id;
    case "contact.created":
    case "contact.updated":
    case "contact.opted_out":
    case "contact.opted_in":
      return nameOf(data.contact);
    case "conversation.created":
    case "conversation.updated":
    case "conversation.closed":
      return conversationFacts(data.conversation);
    case "conversation.handoff":
      return `${nameOf(data.contact)}: ${data.reason}`;
    case "sentiment.changed":
      return `${nameOf(data.contact)}: ${data.from.label} → ${data.to.label}`;
    case "agent.run.awaiting_approval":
      return `${data.run_id} ${data.action}`;
    case "agent.run.approval_decided":
      return `${data.run_id} ${data.action}: ${data.decision}`;
    case "agent.run.completed":
      return `${data.run.id} ${data.run.status}`;
    case "webhook.disabled":
      return `${data.url}: ${data.reason}`;
  }
}

type MessageState = Event<"message.failed">["data"];

function messageFacts({ message_id, status, to, error }: MessageState): string {
  const reason = error === null ? "" : `: ${error.code}`;
  return `${status} to ${to}${reason}, ${message_id}`;
}

function conversationFacts(conversation: Conversation): string {
  const { contact, status, handler, assignee } = conversation;
  const responsible = assignee === null ? handler : `${handler} ${assignee.id}`;
  return `${nameOf(contact)}: ${status}, ${responsible}`;
}

interface Named {
  readonly id: string;
  readonly name: string | null;
  readonly phone: string | null;
}

const nameOf = ({ id, name, phone }: Named): string => name ?? phone ?? id;
