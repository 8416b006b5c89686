import { events } from "./rows.ts";
import type { EventDefinition, EventType } from "./types.ts";
import type { ContactId, ConversationId, GenerateId, EventId } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";

/**
 * The subject of an event. Consumers keep the order within a conversation, or within a contact when
 * there is no conversation.
 */
interface Subject {
  readonly contact_id?: ContactId;
  readonly conversation_id?: ConversationId;
}

/** Writes an event in the transaction of the change that it reports. */
export function appendEvent<D extends object>(
  tx: Tx,
  drawId: GenerateId,
  { type }: EventDefinition<EventType, D>,
  data: NoInfer<D>,
  { contact_id, conversation_id }: Subject,
  id: EventId = drawId("evt"),
): void {
  tx.insert(events, {
    id,
    // The storage assigns the position at commit.
    position: 0,
    type,
    conversation_id: conversation_id ?? null,
    contact_id: contact_id ?? null,
    data,
    created_at: tx.now,
  });
}
