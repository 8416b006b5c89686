import * as z from "zod";
import {
  type Author,
  authorSchema,
  type ContactId,
  ids,
  type Limits,
  type MessageId,
  name,
  type Page,
  pageFields,
  type PageQuery,
  pageSchema,
  reference,
  senderAddress,
  text,
  timestamp,
  type WebchatSessionId,
} from "../kernel/index.ts";
import { mediaSchema, type Message } from "../messages/index.ts";
import type { Media } from "../ports/index.ts";
import { type WebchatState, webchatStateSchema } from "./signal-types.ts";

/** A new session for a visitor. */
export interface OpenWebchatSession {
  /** The visitor's contact, if you know it. By default a new contact is created. */
  readonly contact_id?: string | undefined;
  /** The name of a new contact, up to 200 characters. It cannot be combined with `contact_id`. */
  readonly name?: string | undefined;
  /**
   * The `return_key` of an earlier session. The visitor's conversation continues, unless its
   * contact was erased meanwhile. It cannot be combined with `contact_id` or `name`.
   */
  readonly return_key?: string | undefined;
  /**
   * The address of the sender that the visitor writes to. The default is the account's default
   * webchat sender.
   */
  readonly inbox?: string | undefined;
}

export const openWebchatSessionSchema = z
  .strictObject({
    contact_id: reference
      .optional()
      .describe("The visitor's contact, if you know it. By default a new contact is created."),
    name: name(200)
      .optional()
      .describe(
        "The name of a new contact, up to 200 characters. It cannot be combined with `contact_id`.",
      ),
    return_key: reference
      .optional()
      .describe(
        "The `return_key` of an earlier session. The visitor's conversation continues, unless " +
          "its contact was erased meanwhile. It cannot be combined with `contact_id` or `name`.",
      ),
    inbox: senderAddress
      .optional()
      .describe(
        "The address of the sender that the visitor writes to. The default is the account's " +
          "default webchat sender.",
      ),
  })
  .refine(({ contact_id, name }) => contact_id === undefined || name === undefined, {
    path: ["name"],
    error: "names a new contact, so it cannot be combined with contact_id",
    when: ({ value }) => typeof value === "object" && value !== null,
  })
  .refine(
    ({ return_key, contact_id, name }) =>
      return_key === undefined || (contact_id === undefined && name === undefined),
    {
      path: ["return_key"],
      error: "names the visitor, so it cannot be combined with contact_id or name",
      when: ({ value }) => typeof value === "object" && value !== null,
    },
  )
  .meta({ id: "OpenWebchatSession", description: "A new session for a visitor." });

/** A visitor's permission to chat, with an expiry. */
export interface WebchatSession {
  /** The id of the session. The visitor's endpoints have it in their path. */
  readonly id: WebchatSessionId;
  /**
   * Gives the visitor's browser access to this session until it expires. Returned only once: a
   * replay returns null.
   */
  readonly token: string | null;
  /** The visitor's contact. */
  readonly contact_id: ContactId;
  /** The address of the sender that the visitor writes to. */
  readonly inbox: string;
  /** When the session ends. */
  readonly expires_at: string;
  /**
   * Opens later sessions for the same visitor. It does not expire. Keep it where only your server
   * can read it, such as in an `HttpOnly` cookie. Returned only once: a replay returns null.
   */
  readonly return_key: string | null;
}

export const webchatSessionSchema = z
  .strictObject({
    id: ids.webchatSession.describe(
      "The id of the session. The visitor's endpoints have it in their path.",
    ),
    token: z
      .string()
      .nullable()
      .describe(
        "Gives the visitor's browser access to this session until it expires. Returned only " +
          "once: a replay returns null.",
      ),
    contact_id: ids.contact.describe("The visitor's contact."),
    inbox: z.string().describe("The address of the sender that the visitor writes to."),
    expires_at: timestamp.describe("When the session ends."),
    return_key: z
      .string()
      .nullable()
      .describe(
        "Opens later sessions for the same visitor. It does not expire. Keep it where only your " +
          "server can read it, such as in an `HttpOnly` cookie. Returned only once: a replay " +
          "returns null.",
      ),
  })
  .meta({ id: "WebchatSession", description: "A visitor's permission to chat, with an expiry." });

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
}

export const webchatMessageSchema = z
  .strictObject({
    id: ids.message.describe("The id of the message."),
    direction: z.enum(["outbound", "inbound"]).describe("Outbound messages go to the visitor."),
    body: z.string().nullable().describe("The text. Null after redaction."),
    media: z
      .array(mediaSchema)
      .describe("The files of the message, as URLs. Empty after redaction."),
    author: authorSchema.shape.type,
    author_name: z
      .string()
      .nullable()
      .describe(
        "The name of the agent or of the operator. Null if it is not known, and for other authors.",
      ),
    created_at: timestamp.describe("When the message was created."),
  })
  .meta({
    id: "WebchatMessage",
    description: "The part of a message that the visitor may see.",
  });

/** A message from a visitor. */
export interface VisitorMessage {
  /** The id of the session. */
  readonly id: string;
  /** The text. */
  readonly body: string;
  /** An id that the browser chooses. A repeated id creates no second message. */
  readonly client_id?: string | undefined;
}

export const visitorMessageSchema = (limits: Limits) =>
  z
    .strictObject({
      id: reference.describe("The id of the session."),
      body: text(limits.messageCharacters).min(1).describe("The text."),
      client_id: z
        .string()
        .regex(/^[\x21-\x7e]{1,64}$/, { error: "must be 1 to 64 visible ASCII characters" })
        .optional()
        .describe("An id that the browser chooses. A repeated id creates no second message."),
    })
    .meta({ id: "VisitorMessage", description: "A message from a visitor." });

/** Reports that a message was delivered or read in the visitor's browser. */
export interface VisitorMark {
  /** The id of the session. */
  readonly id: string;
  /** The message to the visitor. */
  readonly message_id: string;
  /** `delivered`: the browser has the message. `read`: the visitor has read it. */
  readonly mark: "delivered" | "read";
}

export const visitorMarkSchema = z
  .strictObject({
    id: reference.describe("The id of the session."),
    message_id: reference.describe("The message to the visitor."),
    mark: z
      .enum(["delivered", "read"])
      .describe("`delivered`: the browser has the message. `read`: the visitor has read it."),
  })
  .meta({
    id: "VisitorMark",
    description: "Reports that a message was delivered or read in the visitor's browser.",
  });

/** A visitor's stream of messages. */
export interface VisitorStream {
  /** The id of the session. */
  readonly id: string;
  /**
   * Continues after this event. By default the stream starts with the messages since the session
   * was opened.
   */
  readonly last_event_id?: string | undefined;
}

export const visitorStreamSchema = z.strictObject({
  id: reference.describe("The id of the session."),
  last_event_id: z
    .string()
    .regex(/^\d{1,15}$/, { error: "must be the id of an event of this stream" })
    .optional()
    .describe(
      "Continues after this event. By default the stream starts with the messages since the " +
        "session was opened.",
    ),
});

/** A page of the messages of a visitor. */
export interface VisitorHistory extends PageQuery {
  /** The id of the session. */
  readonly id: string;
}

export const visitorHistorySchema = z
  .strictObject({ id: reference.describe("The id of the session."), ...pageFields })
  .describe("A page of the messages of a visitor.");

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
    last_event_id: z
      .string()
      .nullable()
      .describe(
        "The place up to which the stream has no messages that this list lacks. A stream that is " +
          "opened with it as `last_event_id` continues the list. Null if nothing was sent to the " +
          "visitor yet.",
      ),
    state: webchatStateSchema.describe("The state of the conversation, as the stream sends it."),
  })
  .meta({
    id: "WebchatMessagePage",
    description: "One page of the messages to and from a visitor, newest first.",
  });

/** A message in a visitor's stream. */
export interface StreamedWebchatMessage {
  /** The place of the message: its number in the visitor's mailbox. Use it as `last_event_id`. */
  readonly id: string;
  /** A message to the visitor, or a redacted message to or from the visitor: its `body` is null. */
  readonly message: WebchatMessage;
}

/** Leaves out the host application's metadata and the author's id. */
export function webchatMessage(
  { id, direction, body, media, author, created_at }: Message,
  author_name: string | null,
): WebchatMessage {
  return { id, direction, body, media, author: author.type, author_name, created_at };
}

/** Options of webchat. */
export interface WebchatOptions {
  /**
   * Origins of the pages that may use visitor sessions, such as `https://shop.example`. At most
   * 100. By default there are none.
   */
  readonly origins?: readonly string[] | undefined;
  /** How long a visitor's session lasts, 1 to 720 hours. The default is 24. */
  readonly sessionHours?: number | undefined;
}
