import type { Contact, ContactReference } from "../contacts/index.ts";
import type { Conversation } from "../conversations/index.ts";
import {
  eraseConsumerErrors,
  eventsOfContact,
  rewriteEvent,
  type EventRow,
  type EventType,
} from "../events/index.ts";
import type { MessageError } from "../messages/index.ts";
import { eraseStoredResponses, type HistoryChunks } from "../operations/index.ts";
import type { Tx } from "../store/index.ts";
import { eraseDeliveries, type EventMap } from "../webhooks/index.ts";

/**
 * Removes personal data from events. The events stay, so that consumers can count them and continue
 * from their position.
 */
export async function eraseEvents(tx: Tx, id: string, chunks: HistoryChunks): Promise<boolean> {
  const found = await tx.list(eventsOfContact, [id], chunks.rows);
  const ids = found.map((event) => event.id);
  const withoutDeliveries = found.slice(0, await eraseDeliveries(tx, ids, chunks.deliveries));
  const [hasNoResponses] = await Promise.all([
    Promise.all(
      withoutDeliveries.map((event) => eraseStoredResponses(tx, event.id, chunks.responses)),
    ),
    eraseConsumerErrors(tx, withoutDeliveries),
  ]);
  for (const [i, event] of withoutDeliveries.entries()) {
    // Deliveries and stored responses are found by the event, so the event is changed last.
    if (hasNoResponses[i] !== true) continue;
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
  "message.redacted": (data) => data,
  "contact.created": ({ contact }) => ({ contact: emptyContact(contact) }),
  "contact.updated": ({ contact }) => ({ contact: emptyContact(contact) }),
  "contact.erased": (data) => data,
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
  "agent.run.awaiting_approval": (data) => data,
  "agent.run.approval_decided": (data) => data,
  "agent.run.completed": ({ run }) => ({ run: { ...run, steps: [], result: null } }),
  "webhook.disabled": (data) => data,
};

/** Returns the data of an event without personal data. It still matches the schema of its type. */
export function erasedData({ type, data }: Pick<EventRow, "type" | "data">): object {
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
  const cleared = {
    name: null,
    phone: null,
    email: null,
    time_zone: null,
    language: null,
    sentiment: null,
  };
  return { ...contact, ...cleared, labels: [], attributes: {}, identities: [] };
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
