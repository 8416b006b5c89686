import type { ContactReference } from "../contacts/index.ts";
import { iso, isoOrNull } from "../kernel/index.ts";
import type { ConversationRow, NoteRow } from "./rows.ts";
import type { Assignee, Conversation, LastMessage, Note } from "./types.ts";

export function conversationResource(
  row: ConversationRow,
  contact: ContactReference,
  last_message: LastMessage | null,
): Conversation {
  const { id, medium, status, handler, labels, priority, unread_count, message_count } = row;
  return {
    id,
    contact,
    medium,
    status,
    handler,
    assignee: assigneeOf(row),
    labels: [...labels],
    priority,
    snoozed_until: isoOrNull(row.snoozed_until),
    unread_count,
    last_message,
    message_count,
    opt_out_suspected: row.opt_out_suspected === true,
    metadata: { ...row.metadata },
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    closed_at: isoOrNull(row.closed_at),
  };
}

export function assigneeOf({
  assignee_type: type,
  assignee_id: id,
}: Pick<ConversationRow, "assignee_type" | "assignee_id">): Assignee | null {
  return type === null || id === null ? null : { type, id };
}

/** A message as far as a conversation shows it. */
interface Last {
  readonly id: LastMessage["id"];
  readonly direction: LastMessage["direction"];
  readonly body: string | null;
  readonly created_at: number;
}

const previewCharacters = 140;

export function lastMessageOf({ id, direction, body, created_at }: Last): LastMessage {
  // A character is one or two units long, so no more than these are taken apart.
  const start = (body ?? "").slice(0, 2 * previewCharacters);
  return {
    id,
    direction,
    preview: [...start].slice(0, previewCharacters).join(""),
    created_at: iso(created_at),
  };
}

/** A conversation as events tell of it. A message's words are told by `message.received` alone, so that they are redacted in one place. */
export function told(conversation: Conversation): Conversation {
  const { last_message } = conversation;
  return last_message === null
    ? conversation
    : { ...conversation, last_message: { ...last_message, preview: "" } };
}

/** The other end's address in a message. */
export function contactAddress({
  direction,
  from,
  to,
}: {
  direction: string;
  from: string;
  to: string;
}): string {
  return direction === "inbound" ? from : to;
}

export function noteResource({
  id,
  author_type: type,
  author_id,
  body,
  created_at,
}: NoteRow): Note {
  return {
    id,
    author: author_id === null ? { type } : { type, id: author_id },
    body,
    created_at: iso(created_at),
  };
}
