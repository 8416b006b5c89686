import type { ContactReference } from "../contacts/types.ts";
import { iso, isoOrNull } from "../time.ts";
import type { ConversationRow } from "./rows.ts";
import type { Conversation, LastMessage } from "./types.ts";

export function conversationResource(
  row: ConversationRow,
  contact: ContactReference,
  last_message: LastMessage | null,
): Conversation {
  const { id, medium, status, handler, assignee_type, assignee_id, labels, priority, unread_count, message_count } =
    row;
  return {
    id,
    contact,
    medium,
    status,
    handler,
    assignee: assignee_type === null || assignee_id === null ? null : { type: assignee_type, id: assignee_id },
    labels: [...labels],
    priority,
    snoozed_until: isoOrNull(row.snoozed_until),
    unread_count,
    last_message,
    message_count,
    opt_out_suspected: row.opt_out_suspected,
    metadata: { ...row.metadata },
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    closed_at: isoOrNull(row.closed_at),
  };
}
