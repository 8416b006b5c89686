import { placedAt } from "../conversations/index.ts";
import { iso, isoOrNull } from "../kernel/index.ts";
import type { MessageRow } from "./rows.ts";
import type { Message } from "./types.ts";

export function messageResource(row: MessageRow): Message {
  const { author_type, author_id, segments, encoding } = row;
  return {
    id: row.id,
    direction: row.direction,
    channel: row.channel,
    status: row.status,
    from: row.from,
    to: row.to,
    body: row.body,
    media: [...row.media],
    author: author_id === null ? { type: author_type } : { type: author_type, id: author_id },
    contact_id: row.contact_id,
    conversation_id: row.conversation_id,
    category: row.category,
    segments: segments === null || encoding === null ? null : { count: segments, encoding },
    send_at: isoOrNull(row.send_at),
    expires_at: isoOrNull(row.expires_at),
    error: row.error,
    transport: row.transport,
    provider_message_id: row.provider_message_id,
    metadata: { ...row.metadata },
    idempotency_key: row.idempotency_key,
    opt_out_suspected: row.opt_out_suspected,
    created_at: iso(row.created_at),
    placed_at: placedAt(row),
    updated_at: iso(row.updated_at),
    sent_at: isoOrNull(row.sent_at),
    delivered_at: isoOrNull(row.delivered_at),
    read_at: isoOrNull(row.read_at),
  };
}
