import type { Conversation, Event } from "../entry.ts";
import { oneLine } from "./terminal.ts";

/** Returns what happened in one line of plain text. */
export function summaryOf(event: Event): string {
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
