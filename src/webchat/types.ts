/** Webchat: a visitor's session in a browser, and what the two sides say there. */
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
import { mediaSchema } from "../messages/index.ts";

export const openWebchatSessionSchema = z
  .strictObject({
    contact_id: reference.optional().meta({
      description: "Who the visitor is, where you know it. By default a new contact is made.",
    }),
    name: name(200).optional().meta({ description: "What a new contact is called." }),
    inbox: senderAddress.optional().meta({
      description:
        "The address of the sender that the visitor writes to. By default the account's for webchat.",
    }),
  })
  .refine(({ contact_id, name }) => contact_id === undefined || name === undefined, {
    path: ["name"],
    error: "is for a new contact, and contact_id names one",
    when: ({ value }) => typeof value === "object" && value !== null,
  })
  .meta({ id: "OpenWebchatSession" });
export interface OpenWebchatSession extends z.infer<typeof openWebchatSessionSchema> {}

export const webchatSessionSchema = z
  .strictObject({
    id: ids.webchatSession,
    token: z.string().nullable().meta({
      description:
        "Lets the visitor's browser in, to this session alone, until it expires. Shown this once; a replay shows null.",
    }),
    contact_id: ids.contact,
    inbox: z.string(),
    expires_at: timestamp,
  })
  .meta({ id: "WebchatSession" });
export interface WebchatSession extends z.infer<typeof webchatSessionSchema> {}

/** As much of a message as its visitor may see. */
export const webchatMessageSchema = z
  .strictObject({
    id: ids.message,
    direction: z
      .enum(["outbound", "inbound"])
      .meta({ description: "As the host sees it: outbound is to the visitor." }),
    body: z.string().nullable().meta({ description: "Null once redacted." }),
    media: z.array(mediaSchema),
    author: authorSchema.shape.type,
    created_at: timestamp,
  })
  .meta({ id: "WebchatMessage" });
export interface WebchatMessage extends z.infer<typeof webchatMessageSchema> {}

/** What a visitor says. */
export const visitorMessageSchema = (limits: Limits) =>
  z
    .strictObject({
      id: reference,
      body: text(limits.message_characters).min(1),
      client_id: z
        .string()
        .regex(/^[\x21-\x7e]{1,64}$/, { error: "must be 1 to 64 visible ASCII characters" })
        .optional()
        .meta({
          description:
            "The browser's own name for the message: the same one twice makes one message.",
        }),
    })
    .meta({ id: "VisitorMessage" });
export interface VisitorMessage extends z.infer<ReturnType<typeof visitorMessageSchema>> {}

export const visitorMarkSchema = z
  .strictObject({
    id: reference,
    message_id: reference,
    mark: z.enum(["delivered", "read"]),
  })
  .meta({ id: "VisitorMark", description: "What became of a message in the visitor's browser." });
export interface VisitorMark extends z.infer<typeof visitorMarkSchema> {}

export const visitorStreamSchema = z.strictObject({
  id: reference,
  last_event_id: z
    .string()
    .regex(/^\d{1,15}$/, { error: "must be the id of an event of this stream" })
    .optional()
    .meta({
      description:
        "Goes on after this event. By default with what came since the session was opened.",
    }),
});
export interface VisitorStream extends z.infer<typeof visitorStreamSchema> {}
