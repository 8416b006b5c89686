import type {
  AccountId,
  AttemptId,
  ContactId,
  ConversationId,
  EntryId,
  MessageId,
} from "../kernel/ids.ts";
import { boolean, collection, integer, json, nullable, text, time } from "../ports/collection.ts";
import type { Channel, Author } from "../kernel/fields.ts";
import type { Media, Receipt } from "../ports/transport.ts";
import type { Mode } from "../kernel/scope.ts";
import type { Keyword } from "../contacts/consent-types.ts";
import type { TimelineEntry } from "./timeline-types.ts";
import type { Carriage } from "./carriage.ts";
import type { Category, MessageError, MessageStatus, Segments } from "./types.ts";

export interface MessageRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly id: MessageId;
  readonly conversation_id: ConversationId;
  readonly contact_id: ContactId;
  /** Its place in the conversation: 1, 2, 3 … without gaps. */
  readonly sequence: number;
  readonly direction: "outbound" | "inbound";
  readonly channel: Channel;
  readonly status: MessageStatus;
  readonly from: string;
  readonly to: string;
  /** Null once redacted. */
  readonly body: string | null;
  readonly media: readonly Media[];
  readonly author_type: Author["type"];
  readonly author_id: string | null;
  readonly category: Category;
  readonly segments: number | null;
  readonly encoding: Segments["encoding"] | null;
  readonly send_at: number | null;
  readonly expires_at: number | null;
  readonly error: MessageError | null;
  readonly transport: string | null;
  readonly provider_message_id: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly idempotency_key: string | null;
  readonly opt_out_suspected: boolean;
  /** What a contact's words ask for, where they are a keyword or taken for one: nobody else answers them. Of the answer, which it answers. */
  readonly keyword: Keyword | null;
  /** Hand-overs that were tried. */
  readonly attempts: number;
  /** Not handed over again before this. */
  readonly retry_at: number | null;
  /** What the evidence of its carriage comes to; null until there is some. */
  readonly carriage: Carriage | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly sent_at: number | null;
  readonly delivered_at: number | null;
  readonly read_at: number | null;
}

export const messages = collection<MessageRow>("messages", {
  account_id: text,
  mode: text,
  id: text,
  conversation_id: text,
  contact_id: text,
  sequence: integer,
  direction: text,
  channel: text,
  status: text,
  from: text,
  to: text,
  body: nullable(text),
  media: json,
  author_type: text,
  author_id: nullable(text),
  category: text,
  segments: nullable(integer),
  encoding: nullable(text),
  send_at: nullable(time),
  expires_at: nullable(time),
  error: nullable(json),
  transport: nullable(text),
  provider_message_id: nullable(text),
  metadata: json,
  idempotency_key: nullable(text),
  opt_out_suspected: boolean,
  keyword: nullable(text),
  attempts: integer,
  retry_at: nullable(time),
  carriage: nullable(json),
  created_at: time,
  updated_at: time,
  sent_at: nullable(time),
  delivered_at: nullable(time),
  read_at: nullable(time),
});
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

export const messageById = messages.key("account_id", "mode", "id");
export const messagesOfConversation = messages.index("by_conversation", [
  "conversation_id",
  "sequence",
]);
export const messagesOfContact = messages.index("by_contact", ["contact_id", "id"]);
/** What waits for its hand-over, in order, beside what is being handed over. Small, however long the thread. */
export const outbox = messages.index("outbox", ["conversation_id", "sequence"], {
  where: { column: "status", in: ["queued", "sending"] },
});

/** One call to a carrier, committed before it is made. */
export interface AttemptRow {
  readonly id: AttemptId;
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly message_id: MessageId;
  readonly number: number;
  readonly transport: string;
  readonly started_at: number;
  /** Until when its caller may be at it. What is unanswered after that was lost. */
  readonly leased_until: number;
  readonly outcome: "pending" | "accepted" | "rejected" | "ambiguous";
  readonly answered_at: number | null;
  /** Says where the answer stands in the timeline. */
  readonly answer_id: EntryId | null;
  readonly provider_message_id: string | null;
  readonly error: MessageError | null;
  /** The carrier asked not to be called with this message again before this. */
  readonly not_before: number | null;
  /** When the message is tried again, where the answer said so; of one that was accepted, when a receipt that it came to nothing did. */
  readonly next_attempt_at: number | null;
  /** The status that the answer led to. */
  readonly led_to: MessageStatus | null;
  /** The message's version when it began, and when it was answered: their place in the timeline. */
  readonly message_version: number;
  readonly answer_version: number | null;
  /** Look-ups that were made. */
  readonly lookups: number;
}

export const attempts = collection<AttemptRow>("message_attempts", {
  id: text,
  account_id: text,
  mode: text,
  message_id: text,
  number: integer,
  transport: text,
  started_at: time,
  leased_until: time,
  outcome: text,
  answered_at: nullable(time),
  answer_id: nullable(text),
  provider_message_id: nullable(text),
  error: nullable(json),
  not_before: nullable(time),
  next_attempt_at: nullable(time),
  led_to: nullable(text),
  message_version: integer,
  answer_version: nullable(integer),
  lookups: integer,
});
export const attemptById = attempts.key("id");
export const attemptsOfMessage = attempts.unique("by_message", ["message_id", "number"]);
export const attemptByProviderId = attempts.unique(
  "by_provider_id",
  ["transport", "provider_message_id"],
  {
    where: { column: "provider_message_id", present: true },
  },
);

/** A receipt that came before anybody knew what it belongs to. */
export interface ParkedReceiptRow {
  readonly transport: string;
  readonly provider_message_id: string;
  readonly receipts: readonly Receipt[];
  readonly expires_at: number;
}

export const parkedReceipts = collection<ParkedReceiptRow>("parked_receipts", {
  transport: text,
  provider_message_id: text,
  receipts: json,
  expires_at: time,
});
export const parkedReceiptsOf = parkedReceipts.key("transport", "provider_message_id");
export const parkedReceiptsByExpiry = parkedReceipts.index("by_expires_at", ["expires_at"]);

/**
 * An inbound message of a carrier, so that the same one twice makes one message. It outlives the message, so that one that was erased is
 * not taken in again either, and has nothing but a keyed hash of the provider's id.
 */
export interface InboundIdRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly id_hash: string;
  readonly message_id: MessageId;
}

export const inboundIds = collection<InboundIdRow>("inbound_ids", {
  account_id: text,
  mode: text,
  id_hash: text,
  message_id: text,
});
export const inboundByHash = inboundIds.key("account_id", "mode", "id_hash");

/**
 * What happened to a message beside its creation and its attempts, which have rows of their own. `led_to` is the status that it
 * changed to, if it did.
 */
export interface TimelineRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly message_id: MessageId;
  readonly id: EntryId;
  readonly at: number;
  readonly led_to: MessageStatus | null;
  /** The message's version after it: engines agree on versions, and not on the time. */
  readonly message_version: number;
  readonly entry: TimelineEntry | null;
}

export const timeline = collection<TimelineRow>("message_timeline", {
  account_id: text,
  mode: text,
  message_id: text,
  id: text,
  at: time,
  led_to: nullable(text),
  message_version: integer,
  entry: nullable(json),
});
export const timelineById = timeline.key("account_id", "mode", "message_id", "id");
