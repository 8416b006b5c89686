/** Every event that the engine publishes, with its data. */
import * as z from "zod";
import {
  agentRunApprovalDecided,
  agentRunAwaitingApproval,
  agentRunCompleted,
  conversationHandoff,
  type AgentRunApprovalDecidedData,
  type AgentRunAwaitingApprovalData,
  type AgentRunCompletedData,
  type ConversationHandoffData,
} from "../agents/index.ts";
import {
  contactCreated,
  contactErased,
  contactOptedIn,
  contactOptedOut,
  contactUpdated,
  type ConsentChangedData,
  type ContactCreatedData,
  type ContactErasedData,
  type ContactUpdatedData,
} from "../contacts/index.ts";
import {
  conversationClosed,
  conversationCreated,
  conversationUpdated,
  type ConversationClosedData,
  type ConversationCreatedData,
  type ConversationUpdatedData,
} from "../conversations/index.ts";
import {
  envelopeSchema,
  eventTypes,
  type EventDefinition,
  type EventEnvelope,
  type EventType,
} from "../events/index.ts";
import {
  messageFailed,
  messageReceived,
  messageRedacted,
  messageSent,
  messageUpdated,
  type MessageFailedData,
  type MessageReceivedData,
  type MessageRedactedData,
  type MessageSentData,
  type MessageUpdatedData,
} from "../messages/index.ts";
import { sentimentChanged, type SentimentChangedData } from "../sentiment/index.ts";
import { webhookDisabled, type WebhookDisabledData } from "./events.ts";

/** Each type of event and its data. */
export interface EventMap {
  /** A message came in. */
  readonly "message.received": MessageReceivedData;
  /**
   * An outbound message was **delivered**. Its status is now `delivered` or `read`. The name does
   * not mean the status `sent`.
   */
  readonly "message.sent": MessageSentData;
  /** The status of an outbound message changed after its acceptance. */
  readonly "message.updated": MessageUpdatedData;
  /**
   * An outbound message is now `failed`, `expired` or `undelivered`. Published once for each
   * message. A later receipt can still make it `delivered`.
   */
  readonly "message.failed": MessageFailedData;
  /** The text and media of a message were removed. Remove them from your copies, too. */
  readonly "message.redacted": MessageRedactedData;
  /**
   * A contact was created: by the API, an import, a webchat session, or the first message from or
   * to a new address.
   */
  readonly "contact.created": ContactCreatedData;
  /** A contact's data or addresses changed: by the API, an import, a merge or a webchat session. */
  readonly "contact.updated": ContactUpdatedData;
  /**
   * The history of an erased contact has been removed. Each contact that was merged into it has an
   * event of its own. Erase the contact from your copies, too, and ignore its earlier events if
   * they arrive after this one.
   */
  readonly "contact.erased": ContactErasedData;
  /** An address opted out. */
  readonly "contact.opted_out": ConsentChangedData;
  /** An address opted in. */
  readonly "contact.opted_in": ConsentChangedData;
  /** A conversation began. */
  readonly "conversation.created": ConversationCreatedData;
  /**
   * The status, handler, assignee, labels, priority, metadata or suspected opt-out of a
   * conversation changed, or it was marked as read or unread. A new message does not publish this
   * event.
   */
  readonly "conversation.updated": ConversationUpdatedData;
  /** A conversation was closed. */
  readonly "conversation.closed": ConversationClosedData;
  /**
   * An agent or the host application handed a conversation off to people. It waits for a person.
   */
  readonly "conversation.handoff": ConversationHandoffData;
  /** A contact's sentiment has another label. */
  readonly "sentiment.changed": SentimentChangedData;
  /** A run of an agent waits until a person approves or denies the call of an action. */
  readonly "agent.run.awaiting_approval": AgentRunAwaitingApprovalData;
  /** The call of an action that waited for an approval was approved or denied. */
  readonly "agent.run.approval_decided": AgentRunApprovalDecidedData;
  /** An agent's run ended. Its status says how. */
  readonly "agent.run.completed": AgentRunCompletedData;
  /** The engine disabled a webhook. Deliveries wait until you enable it again. */
  readonly "webhook.disabled": WebhookDisabledData;
}

/**
 * An event with the data of its type, as it is stored, streamed and sent to webhooks.
 * @remarks After a check of `type`, TypeScript knows the fields of `data`.
 */
export type Event<T extends EventType = EventType> = { [K in T]: EventEnvelope<K, EventMap[K]> }[T];

/** The definition of each event type. It does not compile while a type is missing. */
const catalog: { readonly [T in EventType]: EventDefinition<T, EventMap[T]> } = {
  "message.received": messageReceived,
  "message.sent": messageSent,
  "message.updated": messageUpdated,
  "message.failed": messageFailed,
  "message.redacted": messageRedacted,
  "contact.created": contactCreated,
  "contact.updated": contactUpdated,
  "contact.erased": contactErased,
  "contact.opted_out": contactOptedOut,
  "contact.opted_in": contactOptedIn,
  "conversation.created": conversationCreated,
  "conversation.updated": conversationUpdated,
  "conversation.closed": conversationClosed,
  "conversation.handoff": conversationHandoff,
  "sentiment.changed": sentimentChanged,
  "agent.run.awaiting_approval": agentRunAwaitingApproval,
  "agent.run.approval_decided": agentRunApprovalDecided,
  "agent.run.completed": agentRunCompleted,
  "webhook.disabled": webhookDisabled,
};

/** Returns the definition of an event type. */
export function eventDefinitionOf(type: EventType): EventDefinition {
  return catalog[type];
}

const [firstType, ...otherTypes] = eventTypes;
const eventOf = (type: EventType) => envelopeSchema(eventDefinitionOf(type));

export const anyEventSchema = z
  .discriminatedUnion("type", [eventOf(firstType), ...otherTypes.map(eventOf)])
  .meta({ id: "Event" });
