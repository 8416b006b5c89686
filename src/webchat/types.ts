import * as z from "zod";
import {
  authorSchema,
  ids,
  pageSchema,
  reference,
  text,
  timestamp,
  type Author,
  type Limits,
  type MessageId,
  type Page,
} from "../kernel/index.ts";
import { mediaSchema } from "../messages/index.ts";
import type { Media } from "../ports/index.ts";
import { webchatStateSchema, type WebchatState } from "./streams/signal-types.ts";

/** The part of a message that the visitor may see. */
export interface WebchatMessage {
  /** The id of the message. */
  readonly id: MessageId;
  /** Outbound messages go to the visitor. */
  readonly direction: "outbound" | "inbound";
  /** The text. Null after redaction. */
  readonly body: string | null;
  /** The files of the message, as URLs. Empty after redaction. */
  readonly media: Media[];
  /**
   * `api`: a program. `human`: a person of the host application. `agent`: an AI agent. `contact`:
   * the contact. `system`: the engine, for example its answer to a keyword.
   */
  readonly author: Author["type"];
  /** The name of the agent or of the operator. Null if it is not known, and for other authors. */
  readonly author_name: string | null;
  /** When the message was created. */
  readonly created_at: string;
  /**
   * When the message took its place in the chat: when it was created, or for a message that was
   * written for later when its time came. The list is in this order, and by `id` within the same
   * millisecond.
   */
  readonly placed_at: string;
}

export const webchatMessageSchema = z
  .strictObject({
    id: ids.message,
    direction: z.enum(["outbound", "inbound"]),
    body: z.string().nullable(),
    media: z.array(mediaSchema),
    author: authorSchema.shape.type,
    author_name: z.string().nullable(),
    created_at: timestamp,
    placed_at: timestamp,
  })
  .meta({ id: "WebchatMessage" });

/** A message from a visitor. */
export interface VisitorMessage {
  /** The text. */
  readonly body: string;
  /** An id that the browser chooses. A repeated id creates no second message. */
  readonly client_id?: string | undefined;
}

export const visitorMessageSchema = (limits: Limits) =>
  z
    .strictObject({
      body: text(limits.messageCharacters).min(1),
      client_id: z
        .string()
        .regex(/^[\x21-\x7e]{1,64}$/, { error: "must be 1 to 64 visible ASCII characters" })
        .optional(),
    })
    .meta({ id: "VisitorMessage" });

/** Reports that a message was delivered or read in the visitor's browser. */
export interface VisitorMark {
  /** The message to the visitor. */
  readonly message_id: string;
  /** `delivered`: the browser has the message. `read`: the visitor has read it. */
  readonly mark: "delivered" | "read";
}

export const visitorMarkSchema = z
  .strictObject({
    message_id: reference,
    mark: z.enum(["delivered", "read"]),
  })
  .meta({ id: "VisitorMark" });

/** A visitor's stream of messages. */
export interface VisitorStream {
  /**
   * Continues after this event. By default the stream starts with the messages since the session
   * was opened.
   */
  readonly last_event_id?: string | undefined;
}

export const visitorStreamSchema = z
  .strictObject({
    last_event_id: z
      .string()
      .regex(/^\d{1,15}$/, { error: "must be the id of an event of this stream" })
      .optional(),
  })
  .meta({ interface: "VisitorStream" });

/** One page of the messages to and from a visitor, newest first. */
export interface WebchatMessagePage extends Page<WebchatMessage> {
  /**
   * The place up to which the stream has no messages that this list lacks. A stream that is opened
   * with it as `last_event_id` continues the list. Null if nothing was sent to the visitor yet.
   */
  last_event_id: string | null;
  /** The state of the conversation, as the stream sends it. */
  state: WebchatState;
}

export const webchatMessagePageSchema = z
  .strictObject({
    ...pageSchema(webchatMessageSchema).shape,
    last_event_id: z.string().nullable(),
    state: webchatStateSchema,
  })
  .meta({ id: "WebchatMessagePage" });

/** A message in a visitor's stream. */
export interface StreamedWebchatMessage {
  /** The place of the message: its number in the visitor's mailbox. Use it as `last_event_id`. */
  readonly id: string;
  /** A message to the visitor, or a redacted message to or from the visitor: its `body` is null. */
  readonly message: WebchatMessage;
}
