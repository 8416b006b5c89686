import type {
  AttemptId,
  Author,
  Channel,
  ContactId,
  ConversationId,
  EntryId,
  MessageId,
} from "../kernel/index.ts";
import {
  boolean,
  collection,
  integer,
  json,
  type Media,
  nullable,
  type Receipt,
  type RowOf,
  scoped,
  text,
  time,
} from "../ports/index.ts";
import type { Keyword } from "../contacts/index.ts";
import type { TimelineEntry } from "./timeline-types.ts";
import type { Carriage } from "./carriage.ts";
import type { Category, MessageError, MessageStatus, Segments } from "./types.ts";

export const messages = scoped("messages", {
  id: text<MessageId>(),
  conversation_id: text<ConversationId>(),
  contact_id: text<ContactId>(),
  /** Its place in the conversation: 1, 2, 3 … without gaps. */
  sequence: integer(),
  direction: text<"outbound" | "inbound">(),
  channel: text<Channel>(),
  status: text<MessageStatus>(),
  from: text(),
  to: text(),
  /** Null once redacted. */
  body: nullable(text()),
  media: json<readonly Media[]>(),
  author_type: text<Author["type"]>(),
  author_id: nullable(text()),
  category: text<Category>(),
  segments: nullable(integer()),
  encoding: nullable(text<Segments["encoding"]>()),
  send_at: nullable(time()),
  expires_at: nullable(time()),
  error: nullable(json<MessageError>()),
  transport: nullable(text()),
  provider_message_id: nullable(text()),
  metadata: json<Readonly<Record<string, string>>>(),
  idempotency_key: nullable(text()),
  opt_out_suspected: boolean(),
  /** What a contact's words ask for, where they are a keyword or taken for one: nobody else answers them. Of the answer, which it answers. */
  keyword: nullable(text<Keyword>()),
  /** Hand-overs that were tried. */
  attempts: integer(),
  /** Not handed over again before this. */
  retry_at: nullable(time()),
  /** What the evidence of its carriage comes to; null until there is some. */
  carriage: nullable(json<Carriage>()),
  created_at: time(),
  updated_at: time(),
  sent_at: nullable(time()),
  delivered_at: nullable(time()),
  read_at: nullable(time()),
});
export interface MessageRow extends RowOf<typeof messages> {}

/** What a message that nothing has happened to has in common with all others. */
export const untouched = {
  error: null,
  provider_message_id: null,
  opt_out_suspected: false,
  keyword: null,
  attempts: 0,
  retry_at: null,
  carriage: null,
  sent_at: null,
  delivered_at: null,
  read_at: null,
} as const satisfies Partial<MessageRow>;

export const messageById = messages.key("id");
export const messagesOfConversation = messages.byId.index("by_conversation", [
  "conversation_id",
  "sequence",
]);
export const messagesOfContact = messages.byId.index("by_contact", ["contact_id", "id"]);
/** What waits for its hand-over, in order, beside what is being handed over. Small, however long the thread. */
export const outbox = messages.byId.index("outbox", ["conversation_id", "sequence"], {
  where: { column: "status", in: ["queued", "sending"] },
});

/** One call to a carrier, committed before it is made. */
export const attempts = scoped("message_attempts", {
  id: text<AttemptId>(),
  message_id: text<MessageId>(),
  number: integer(),
  transport: text(),
  started_at: time(),
  /** Until when its caller may be at it. What is unanswered after that was lost. */
  leased_until: time(),
  outcome: text<"pending" | "accepted" | "rejected" | "ambiguous">(),
  answered_at: nullable(time()),
  /** Says where the answer stands in the timeline. */
  answer_id: nullable(text<EntryId>()),
  provider_message_id: nullable(text()),
  error: nullable(json<MessageError>()),
  /** The carrier asked not to be called with this message again before this. */
  not_before: nullable(time()),
  /** When the message is tried again, where the answer said so; of one that was accepted, when a receipt that it came to nothing did. */
  next_attempt_at: nullable(time()),
  /** The status that the answer led to. */
  led_to: nullable(text<MessageStatus>()),
  /** The message's version when it began, and when it was answered: their place in the timeline. */
  message_version: integer(),
  answer_version: nullable(integer()),
  /** Look-ups that were made. */
  lookups: integer(),
});
export interface AttemptRow extends RowOf<typeof attempts> {}

export const attemptById = attempts.byId.key("id");
export const attemptsOfMessage = attempts.byId.unique("by_message", ["message_id", "number"]);
export const attemptByProviderId = attempts.acrossScopes.unique(
  "by_provider_id",
  ["transport", "provider_message_id"],
  {
    where: { column: "provider_message_id", present: true },
  },
);

/** A receipt that came before anybody knew what it belongs to. */
export const parkedReceipts = collection("parked_receipts", {
  transport: text(),
  provider_message_id: text(),
  receipts: json<readonly Receipt[]>(),
  expires_at: time(),
});
export interface ParkedReceiptRow extends RowOf<typeof parkedReceipts> {}

export const parkedReceiptsOf = parkedReceipts.key("transport", "provider_message_id");
export const parkedReceiptsByExpiry = parkedReceipts.index("by_expires_at", ["expires_at"]);

/**
 * An inbound message of a carrier, so that the same one twice makes one message. It outlives the message, so that one that was erased is
 * not taken in again either, and has nothing but a keyed hash of the provider's id.
 */
export const inboundIds = scoped("inbound_ids", {
  id_hash: text(),
  message_id: text<MessageId>(),
});
export interface InboundIdRow extends RowOf<typeof inboundIds> {}

export const inboundByHash = inboundIds.key("id_hash");

/**
 * What happened to a message beside its creation and its attempts, which have rows of their own. `led_to` is the status that it
 * changed to, if it did.
 */
export const timeline = scoped("message_timeline", {
  message_id: text<MessageId>(),
  id: text<EntryId>(),
  at: time(),
  led_to: nullable(text<MessageStatus>()),
  /** The message's version after it: engines agree on versions, and not on the time. */
  message_version: integer(),
  entry: nullable(json<TimelineEntry>()),
});
export interface TimelineRow extends RowOf<typeof timeline> {}

export const timelineById = timeline.key("message_id", "id");
