import type { Keyword } from "../contacts/index.ts";
import type {
  AttemptId,
  Author,
  Channel,
  ContactId,
  ConversationId,
  EntryId,
  MessageId,
  MessageStatus,
} from "../kernel/index.ts";
import {
  boolean,
  collection,
  integer,
  json,
  nullable,
  scoped,
  text,
  time,
  type Media,
  type Receipt,
  type RowOf,
} from "../ports/index.ts";
import type { CarrierState } from "./attempts/evidence.ts";
import type { EndStatus } from "./rules.ts";
import type { TimelineEntry } from "./timeline/timeline-types.ts";
import type { Category, MessageError, Segments } from "./types.ts";

export const messages = scoped("messages", {
  id: text<MessageId>(),
  conversation_id: text<ConversationId>(),
  contact_id: text<ContactId>(),
  /** The place in the thread of the conversation: see `Place`, also for the next two columns. */
  sequence: integer(),
  first_sequence: nullable(integer()),
  placed_at: time(),
  direction: text<"outbound" | "inbound">(),
  channel: text<Channel>(),
  status: text<MessageStatus>(),
  from: text(),
  to: text(),
  /** Null after redaction. */
  body: nullable(text()),
  media: json<readonly Media[]>(),
  author_type: text<Author["type"]>(),
  author_id: nullable(text()),
  category: text<Category>(),
  /** Whether it is an item of a batch. Such messages let others go first. */
  in_batch: boolean(),
  segments: nullable(integer()),
  encoding: nullable(text<Segments["encoding"]>()),
  send_at: nullable(time()),
  /** When an edit last changed `send_at`. Null if none did. */
  rescheduled_at: nullable(time()),
  /** True if a policy was about to defer the message when it was accepted. */
  deferred: nullable(boolean<true>()),
  expires_at: nullable(time()),
  error: nullable(json<MessageError>()),
  transport: nullable(text()),
  provider_message_id: nullable(text()),
  metadata: json<Readonly<Record<string, string>>>(),
  idempotency_key: nullable(text()),
  opt_out_suspected: boolean(),
  /**
   * The consent keyword in a contact's message, or the keyword that an outbound message answers.
   * Agents do not answer a message that has a keyword.
   */
  keyword: nullable(text<Keyword>()),
  /** The number of attempts so far. */
  attempts: integer(),
  /** The earliest time of the next attempt. Null unless the message waits for a retry. */
  retry_at: nullable(time()),
  /**
   * The first status in which the message had ended without arriving. Null if it never had. A
   * receipt may change the status later.
   */
  ended_as: nullable(text<EndStatus>()),
  /** The number of the attempt that the status is based on. Null if no carrier has the message. */
  basis: nullable(integer()),
  created_at: time(),
  updated_at: time(),
  sent_at: nullable(time()),
  delivered_at: nullable(time()),
  read_at: nullable(time()),
});
export interface MessageRow extends RowOf<typeof messages> {}

/**
 * The search words of what people and agents write (`search-words.ts`), in rows of their own.
 * Messages of programs, which are most messages, have none and pay nothing for the search.
 */
export const messageWords = scoped("message_words", {
  /** The id of the message. */
  id: text<MessageId>(),
  words: nullable(text()),
});
export const messageWordsById = messageWords.key("id");
export const messagesByWords = messageWords.words("words", "words");

/** The columns that every new message starts with. */
export const initialColumns = {
  in_batch: false,
  first_sequence: null,
  rescheduled_at: null,
  deferred: null,
  error: null,
  provider_message_id: null,
  opt_out_suspected: false,
  keyword: null,
  attempts: 0,
  retry_at: null,
  ended_as: null,
  basis: null,
  sent_at: null,
  delivered_at: null,
  read_at: null,
} as const satisfies Partial<MessageRow>;

export const messageById = messages.key("id");
export const messagesOfConversation = messages.byId.index("by_conversation", [
  "conversation_id",
  "sequence",
]);
/**
 * What the contact and people have written in a conversation. With the keyword null, it finds no
 * keywords and no answers to them. The host application and agents write most messages, which cost
 * this index nothing.
 */
export const messagesByAuthor = messages.byId.index(
  "by_author",
  ["conversation_id", "author_type", "keyword", "sequence"],
  { where: { column: "author_type", in: ["contact", "human"] } },
);
export const messagesOfContact = messages.byId.index("by_contact", ["contact_id", "id"]);
/**
 * The messages that a visitor sees, as they took their places. The texts of the same contact are
 * not in this index.
 */
export const webchatMessagesOfContact = messages.byId.index(
  "webchat_by_place",
  ["contact_id", "placed_at", "id"],
  { where: { column: "channel", in: ["webchat"] } },
);
/**
 * The statuses that few messages have. Most messages pass only through the others, so an index of
 * these costs a usual message nothing.
 */
export const rareStatuses = [
  "scheduled",
  "canceled",
  "expired",
  "failed",
  "ambiguous",
  "unconfirmed",
  "undelivered",
] as const satisfies readonly MessageStatus[];
export const messagesByRareStatus = messages.index("by_rare_status", ["status", "id"], {
  where: { column: "status", in: rareStatuses },
});
/**
 * The queued messages of a conversation and the one being sent, in order. Sent messages leave the
 * index, so it stays small in a conversation of any length.
 */
export const outbox = messages.byId.index("outbox", ["conversation_id", "sequence"], {
  where: { column: "status", in: ["queued", "sending"] },
});

/** The scheduled messages of a conversation, in the order in which they are due. */
export const scheduledInConversation = messages.byId.index(
  "scheduled_in_conversation",
  ["conversation_id", "send_at", "sequence"],
  { where: { column: "status", in: ["scheduled"] } },
);

/** One call to a carrier. The row is committed before the call is made. */
export const attempts = scoped("message_attempts", {
  id: text<AttemptId>(),
  message_id: text<MessageId>(),
  number: integer(),
  transport: text(),
  started_at: time(),
  /** When the caller's lease ends. An attempt without an answer by then has lost its answer. */
  leased_until: time(),
  /**
   * What is known of the call. Receipts and look-ups outrank the answer. `undelivered`: the carrier
   * had the message and reported that it gave it up.
   */
  outcome: text<"pending" | "accepted" | "rejected" | "ambiguous" | "undelivered">(),
  /** What proves that the carrier had the message. Null without proof. */
  evidence: nullable(json<CarrierState>()),
  answered_at: nullable(time()),
  /** The position of the answer in the timeline. */
  answer_id: nullable(text<EntryId>()),
  provider_message_id: nullable(text()),
  error: nullable(json<MessageError>()),
  /** Why the carrier gave the attempt up, as its receipt said. */
  reported_error: nullable(json<MessageError>()),
  /** The carrier asked not to be called with this message before this time. */
  not_before: nullable(time()),
  /** When the next attempt is due. Null if the attempt led to no other. */
  next_attempt_at: nullable(time()),
  /** The status that the answer led to. */
  led_to: nullable(text<MessageStatus>()),
  /** The message's versions at the start and at the answer. They order the timeline. */
  message_version: integer(),
  answer_version: nullable(integer()),
  /** The number of look-ups so far. */
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

/** Receipts that came before their message's provider id was known. */
export const earlyReceipts = collection("early_receipts", {
  transport: text(),
  provider_message_id: text(),
  receipts: json<readonly Receipt[]>(),
  expires_at: time(),
});

export const earlyReceiptsOf = earlyReceipts.key("transport", "provider_message_id");
export const earlyReceiptsByExpiry = earlyReceipts.index("by_expires_at", ["expires_at"]);

/**
 * The provider ids of received messages, so that a repeated delivery makes one message. A row
 * outlives its message, so that an erased message is not received again. It holds only a keyed hash
 * of the provider's id.
 */
export const inboundIds = scoped("inbound_ids", {
  id_hash: text(),
  message_id: text<MessageId>(),
});

export const inboundByHash = inboundIds.key("id_hash");

/**
 * The timeline entries of a message, except its creation and its attempts, which have their own
 * rows. `led_to` is the new status if the entry changed the status.
 */
export const timeline = scoped("message_timeline", {
  message_id: text<MessageId>(),
  id: text<EntryId>(),
  at: time(),
  led_to: nullable(text<MessageStatus>()),
  /**
   * The message's version after the entry. Versions order entries, because engine clocks differ.
   */
  message_version: integer(),
  entry: nullable(json<TimelineEntry>()),
});

export const timelineById = timeline.key("message_id", "id");
