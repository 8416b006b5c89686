import { events } from "./rows.ts";
import type { EventDefinition, EventType } from "./types.ts";
import type { ContactId, ConversationId, DrawId, EventId } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";

/** What an event is about; consumers keep the order of a conversation, else of a contact. */
export interface Subject {
  readonly contact_id?: ContactId;
  readonly conversation_id?: ConversationId;
}

/** Tells the world, as a part of what it tells of. */
export function appendEvent<D extends object>(
  tx: Tx,
  drawId: DrawId,
  { type }: EventDefinition<EventType, D>,
  data: NoInfer<D>,
  { contact_id, conversation_id }: Subject,
  id: EventId = drawId("evt"),
): void {
  tx.insert(events, {
    id,
    // The storage numbers events as they commit.
    position: 0,
    type,
    conversation_id: conversation_id ?? null,
    contact_id: contact_id ?? null,
    data,
    created_at: tx.now,
  });
}
