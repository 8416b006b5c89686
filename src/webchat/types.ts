import { z } from "zod";
import {
  authorSchema,
  ids,
  type Limits,
  name,
  reference,
  senderAddress,
  text,
  timestamp,
} from "../kernel/index.ts";
import { mediaSchema, type Message } from "../messages/index.ts";

export const openWebchatSessionSchema = z
  .strictObject({
    contact_id: reference
      .optional()
      .describe("The visitor's contact, if you know it. By default a new contact is created."),
    name: name(200).optional().describe("The name of a new contact."),
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
  .meta({ id: "OpenWebchatSession" });
export interface OpenWebchatSession extends z.infer<typeof openWebchatSessionSchema> {}

export const webchatSessionSchema = z
  .strictObject({
    id: ids.webchatSession,
    token: z
      .string()
      .nullable()
      .describe(
        "Gives the visitor's browser access to this session until it expires. Returned only " +
          "once: a replay returns null.",
      ),
    contact_id: ids.contact,
    inbox: z.string(),
    expires_at: timestamp,
  })
  .meta({ id: "WebchatSession" });
export interface WebchatSession extends z.infer<typeof webchatSessionSchema> {}

/** The part of a message that the visitor may see. */
export const webchatMessageSchema = z
  .strictObject({
    id: ids.message,
    direction: z.enum(["outbound", "inbound"]).describe("Outbound messages go to the visitor."),
    body: z.string().nullable().describe("Null after redaction."),
    media: z.array(mediaSchema),
    author: authorSchema.shape.type,
    created_at: timestamp,
  })
  .meta({ id: "WebchatMessage" });
export interface WebchatMessage extends z.infer<typeof webchatMessageSchema> {}

/** A message from a visitor. */
export const visitorMessageSchema = (limits: Limits) =>
  z
    .strictObject({
      id: reference,
      body: text(limits.message_characters).min(1),
      client_id: z
        .string()
        .regex(/^[\x21-\x7e]{1,64}$/, { error: "must be 1 to 64 visible ASCII characters" })
        .optional()
        .describe("An id that the browser chooses. A repeated id creates no second message."),
    })
    .meta({ id: "VisitorMessage" });
export interface VisitorMessage extends z.infer<ReturnType<typeof visitorMessageSchema>> {}

export const visitorMarkSchema = z
  .strictObject({
    id: reference,
    message_id: reference,
    mark: z.enum(["delivered", "read"]),
  })
  .meta({
    id: "VisitorMark",
    description: "Reports that a message was delivered or read in the visitor's browser.",
  });
export interface VisitorMark extends z.infer<typeof visitorMarkSchema> {}

export const visitorStreamSchema = z.strictObject({
  id: reference,
  last_event_id: z
    .string()
    .regex(/^\d{1,15}$/, { error: "must be the id of an event of this stream" })
    .optional()
    .describe(
      "Continues after this event. By default the stream starts with the messages since the " +
        "session was opened.",
    ),
});
export interface VisitorStream extends z.infer<typeof visitorStreamSchema> {}

/** Leaves out the host application's metadata and the author's identity. */
export function webchatMessage({
  id,
  direction,
  body,
  media,
  author,
  created_at,
}: Message): WebchatMessage {
  return { id, direction, body, media, author: author.type, created_at };
}

export interface WebchatOptions {
  /**
   * Origins of the pages that may use visitor sessions, such as `https://shop.example`. At most
   * 100. By default there are none.
   */
  readonly origins?: readonly string[];
  /** How long a visitor's session lasts, 1 to 720 hours. The default is 24. */
  readonly sessionHours?: number;
}
