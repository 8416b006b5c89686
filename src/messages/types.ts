/** Messages, as the API shows them. */
import * as z from "zod";
import {
  authorSchema,
  channelSchema,
  ids,
  messageStatusSchema,
  metadata,
  timestamp,
  webUrl,
  type Author,
  type Channel,
  type ContactId,
  type ConversationId,
  type MessageId,
  type MessageStatus,
  type Metadata,
} from "../kernel/index.ts";
import { carrierErrorCodes, type Media } from "../ports/index.ts";

/**
 * The purpose of a message. Quiet hours apply to `marketing` messages only, and messages that are
 * `transactional` go first.
 */
export type Category = "transactional" | "marketing";

export const categorySchema = z.enum(["transactional", "marketing"]);

const mimeType = z
  .string()
  .regex(/^[\w.+-]{1,127}\/[\w.+-]{1,127}$/, { error: "must be a media type, like image/png" });

export const mediaSchema = z
  .strictObject({
    url: webUrl,
    content_type: mimeType.optional(),
  })
  .meta({ id: "Media" });

/**
 * The number of parts that an SMS is billed as. A single part holds 160 GSM-7 or 70 UCS-2 units;
 * each of several parts holds 153 or 67.
 */
export interface Segments {
  /** The number of parts. */
  readonly count: number;
  /** `GSM-7` if the GSM 03.38 alphabet has every character of the text, otherwise `UCS-2`. */
  readonly encoding: "GSM-7" | "UCS-2";
}

export const segmentsSchema = z
  .strictObject({
    count: z.int().min(1),
    encoding: z.enum(["GSM-7", "UCS-2"]),
  })
  .meta({ id: "Segments" });

/** The carrier error codes, and the codes that the engine adds. */
const messageErrorCodes = [
  ...carrierErrorCodes,
  "recipient_opted_out",
  "policy_denied",
  "no_sender",
  "no_transport",
  "ttl_elapsed",
] as const;

/** The reason why a message did not arrive. */
export interface MessageError {
  /** The reason, for programs. The codes are the same for all carriers. */
  readonly code: (typeof messageErrorCodes)[number];
  /** The reason, for people. */
  readonly message: string;
  /** True if the same message would fail again. */
  readonly permanent: boolean;
  /**
   * Where the message failed. `policy`: a policy denied it. `queue`: its time to live ended.
   * `carrier`: the carrier refused it, or its answer was lost. `handset`: the phone could not be
   * reached. `request` is reserved.
   */
  readonly stage: "request" | "policy" | "queue" | "carrier" | "handset";
  /**
   * The carrier's own code. At stage `policy`, the code of the host application's policy. Null if
   * there is none.
   */
  readonly provider_code: string | null;
}

export const messageErrorSchema = z
  .strictObject({
    code: z.enum(messageErrorCodes),
    message: z.string(),
    permanent: z.boolean(),
    stage: z.enum(["request", "policy", "queue", "carrier", "handset"]),
    provider_code: z.string().nullable(),
  })
  .meta({ id: "MessageError" });

/** One outbound or inbound SMS, MMS or webchat message. */
export interface Message {
  /** The id of the message. */
  readonly id: MessageId;
  /** `outbound`: to the contact. `inbound`: from the contact. */
  readonly direction: "outbound" | "inbound";
  /** The channel that carries the message. */
  readonly channel: Channel;
  /**
   * The current status. `sent` means that the carrier accepted the message. The event
   * `message.sent` is published later, when the message is `delivered` or `read`.
   */
  readonly status: MessageStatus;
  /** The address that the message is from: a sender's, or the contact's if it is inbound. */
  readonly from: string;
  /** The address that the message is to: the contact's, or a sender's if it is inbound. */
  readonly to: string;
  /** The text. Null after redaction. */
  readonly body: string | null;
  /** The files of the message. Empty after redaction. */
  readonly media: Media[];
  /** Who wrote the message. */
  readonly author: Author;
  /** The contact that the message is from or to. */
  readonly contact_id: ContactId;
  /** The conversation that the message belongs to. */
  readonly conversation_id: ConversationId;
  /**
   * The purpose of the message. Quiet hours apply to `marketing` messages only, and messages that
   * are `transactional` go first.
   */
  readonly category: Category;
  /** The parts that the SMS is billed as. Null unless the channel is `sms`. */
  readonly segments: Segments | null;
  /** When the message is due, if it was scheduled or a policy deferred it. Otherwise null. */
  readonly send_at: string | null;
  /**
   * From this time on, the message is no longer handed over to a carrier. Null for an inbound
   * message.
   */
  readonly expires_at: string | null;
  /** Why the message failed, expired, was not delivered or is ambiguous. Otherwise null. */
  readonly error: MessageError | null;
  /**
   * The transport that carries the message. After a fallback, the transport that took over.
   */
  readonly transport: string | null;
  /** The carrier's id of the message. Null while it is not known. */
  readonly provider_message_id: string | null;
  /** The host application's data about the message. The engine does not read it. */
  readonly metadata: Metadata;
  /**
   * The idempotency key that the message was sent with, or null. A message of a batch has the
   * batch's key, a space and its position in the batch, from 0.
   */
  readonly idempotency_key: string | null;
  /** True if the body resembles an opt-out keyword but is not one. */
  readonly opt_out_suspected: boolean;
  /** When the message was created. */
  readonly created_at: string;
  /**
   * When the message took its place in the thread of its conversation: at once, or for a message
   * for later when its time came or it was canceled. Null while it waits for its time.
   */
  readonly placed_at: string | null;
  /** When the message last changed. */
  readonly updated_at: string;
  /**
   * When the message was sent: the earliest time that the carrier's answer or a receipt proves.
   * Null while there is no proof.
   */
  readonly sent_at: string | null;
  /**
   * When the message was delivered: the earliest time that the carrier's answer or a receipt
   * proves. Null while there is no proof.
   */
  readonly delivered_at: string | null;
  /**
   * When the message was read: the earliest time that the carrier's answer or a receipt proves.
   * Null while there is no proof.
   */
  readonly read_at: string | null;
}

export const messageSchema = z
  .strictObject({
    id: ids.message,
    direction: z.enum(["outbound", "inbound"]),
    channel: channelSchema,
    status: messageStatusSchema,
    from: z.string(),
    to: z.string(),
    body: z.string().nullable(),
    media: z.array(mediaSchema),
    author: authorSchema,
    contact_id: ids.contact,
    conversation_id: ids.conversation,
    category: categorySchema,
    segments: segmentsSchema.nullable(),
    send_at: timestamp.nullable(),
    expires_at: timestamp.nullable(),
    error: messageErrorSchema.nullable(),
    transport: z.string().nullable(),
    provider_message_id: z.string().nullable(),
    metadata,
    idempotency_key: z.string().nullable(),
    opt_out_suspected: z.boolean(),
    created_at: timestamp,
    placed_at: timestamp.nullable(),
    updated_at: timestamp,
    sent_at: timestamp.nullable(),
    delivered_at: timestamp.nullable(),
    read_at: timestamp.nullable(),
  })
  .meta({ id: "Message" });
