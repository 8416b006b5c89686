import {
  authorSchema,
  channelSchema,
  fieldErrorSchema,
  ids,
  instant,
  type Limits,
  maxScheduleAhead,
  metadata,
  metadataInput,
  pageFields,
  recipientSchema,
  reference,
  senderAddress,
  text,
  timestamp,
  webUrl,
} from "../kernel/index.ts";
import { person } from "../conversations/index.ts";
import { z } from "zod";
import { carrierErrorCodes } from "../ports/index.ts";
import { policyVerdictSchema } from "../consents/index.ts";

/**
 * The status of a message. Before the hand-over to the carrier, an outbound message is `scheduled`,
 * `queued` and `sending`, and can end as `canceled`, `expired` or `failed`. `ambiguous` means that
 * the carrier was called and its answer was lost. After the hand-over, the message is `sent`,
 * `unconfirmed` (no receipt arrived in time), `undelivered`, `delivered` or `read`. An inbound
 * message is always `received`.
 */
export const messageStatuses = [
  "scheduled",
  "queued",
  "sending",
  "canceled",
  "expired",
  "failed",
  "ambiguous",
  "sent",
  "unconfirmed",
  "undelivered",
  "delivered",
  "read",
  "received",
] as const;
export const messageStatusSchema = z.enum(messageStatuses).meta({ id: "MessageStatus" });
export type MessageStatus = z.infer<typeof messageStatusSchema>;

export const categorySchema = z.enum(["transactional", "marketing"]);
export type Category = z.infer<typeof categorySchema>;

const mimeType = z
  .string()
  .regex(/^[\w.+-]{1,127}\/[\w.+-]{1,127}$/, { error: "must be a media type, like image/png" });

export const mediaSchema = z.strictObject({ url: webUrl, content_type: mimeType.optional() }).meta({
  id: "Media",
  description: "An image, sound or file. The carrier fetches it from the URL.",
});

export const segmentsSchema = z
  .strictObject({ count: z.int().min(1), encoding: z.enum(["GSM-7", "UCS-2"]) })
  .meta({
    id: "Segments",
    description:
      "The number of parts that an SMS is billed as. A single part holds 160 GSM-7 or 70 UCS-2 " +
      "units; each of several parts holds 153 or 67.",
  });
export interface Segments extends z.infer<typeof segmentsSchema> {}

/** The carrier error codes, and the codes that the engine adds. */
export const messageErrorCodes = [
  ...carrierErrorCodes,
  "recipient_opted_out",
  "policy_denied",
  "no_sender",
  "no_transport",
  "ttl_elapsed",
] as const;
export const messageErrorSchema = z
  .strictObject({
    code: z.enum(messageErrorCodes),
    message: z.string(),
    permanent: z.boolean().describe("True if the same message would fail again."),
    stage: z.enum(["request", "policy", "queue", "carrier", "handset"]),
    provider_code: z
      .string()
      .nullable()
      .describe(
        "The carrier's own code. At stage `policy`, the code of the host application's policy.",
      ),
  })
  .meta({ id: "MessageError", description: "The reason why a message did not arrive." });
export interface MessageError extends z.infer<typeof messageErrorSchema> {}

export const messageSchema = z
  .strictObject({
    id: ids.message,
    direction: z.enum(["outbound", "inbound"]),
    channel: channelSchema,
    status: messageStatusSchema,
    from: z.string(),
    to: z.string(),
    body: z.string().nullable().describe("Null after redaction."),
    media: z.array(mediaSchema),
    author: authorSchema,
    contact_id: ids.contact,
    conversation_id: ids.conversation,
    category: categorySchema,
    segments: segmentsSchema.nullable().describe("Null unless the channel is `sms`."),
    send_at: timestamp.nullable(),
    expires_at: timestamp
      .nullable()
      .describe(
        "The message is not handed over to a carrier after this time. Null for an inbound message.",
      ),
    error: messageErrorSchema.nullable(),
    transport: z
      .string()
      .nullable()
      .describe(
        "The transport that carries the message. After a fallback, the transport that took over.",
      ),
    provider_message_id: z.string().nullable(),
    metadata,
    idempotency_key: z.string().nullable(),
    opt_out_suspected: z
      .boolean()
      .describe("True if the body resembles an opt-out keyword but is not one."),
    created_at: timestamp,
    updated_at: timestamp,
    sent_at: timestamp.nullable(),
    delivered_at: timestamp.nullable(),
    read_at: timestamp.nullable(),
  })
  .meta({ id: "Message", description: "One outbound or inbound SMS, MMS or webchat message." });
export interface Message extends z.infer<typeof messageSchema> {}

/** The default time to live of a message: four hours, in milliseconds. */
export const defaultTtl = 4 * 3_600_000;

function contentFields(limits: Limits) {
  return {
    body: text(limits.message_characters),
    media: z
      .array(mediaSchema)
      .max(limits.media_items, { error: `must have at most ${limits.media_items} items` }),
    send_at: instant.describe(
      "When to send the message, at most 35 days ahead. A time in the past means now.",
    ),
    metadata: metadataInput(limits),
  };
}

/**
 * Unvalidated input. The cross-field rules below read it before its fields are known to be valid.
 */
export interface Draft {
  readonly body?: unknown;
  readonly media?: unknown;
  readonly channel?: unknown;
  readonly to?: unknown;
}

const isDraft = ({ value }: { value: unknown }): boolean =>
  typeof value === "object" && value !== null;
export const hasMedia = ({ media }: Draft): boolean => Array.isArray(media) && media.length > 0;

/**
 * Cross-field rules run even if other fields are invalid, so that one response lists all errors.
 */
export const needsContent = {
  path: ["body"],
  error: "must not be empty unless there is media",
  when: isDraft,
};
const smsHasNoMedia = { path: ["media"], error: "needs channel mms or webchat", when: isDraft };
const webchatNeedsContact = {
  path: ["to"],
  error: "must be a contact id when channel is webchat",
  when: isDraft,
};

function draftSchema(limits: Limits) {
  const { body, media, send_at, metadata: facts } = contentFields(limits);
  return z
    .strictObject({
      to: recipientSchema,
      body: body.describe("May be empty if there is media."),
      channel: channelSchema
        .optional()
        .describe("Defaults to `sms`, or to `mms` if there is media."),
      from: senderAddress
        .optional()
        .describe(
          "The sender's address. Defaults to the sender that the contact last used, then to one " +
            "from the account's pool for the channel, then to the account's default sender.",
        ),
      media: media.optional(),
      send_at: send_at.optional(),
      ttl_seconds: z
        .int()
        .min(1)
        .max(maxScheduleAhead / 1_000)
        .optional()
        .meta({
          default: defaultTtl / 1_000,
          description:
            "Time to live in seconds, counted from `send_at`, or from now. The message expires " +
            "if it is not handed over to a carrier in time.",
        }),
      category: categorySchema.optional().meta({ default: "transactional" }),
      metadata: facts.optional(),
    })
    .refine(
      (draft: Draft) => typeof draft.body !== "string" || draft.body !== "" || hasMedia(draft),
      needsContent,
    )
    .refine((draft: Draft) => draft.channel !== "sms" || !hasMedia(draft), smsHasNoMedia)
    .refine(
      (draft: Draft) =>
        draft.channel !== "webchat" || typeof draft.to !== "string" || !draft.to.startsWith("+"),
      webchatNeedsContact,
    );
}

/**
 * The host application sets the limits, so each engine builds these schemas from its own limits.
 */
export const sendMessageSchema = (limits: Limits) =>
  draftSchema(limits).meta({ id: "SendMessage" });
export interface SendMessage extends z.infer<ReturnType<typeof sendMessageSchema>> {}

/** Takes the same input as a send, so that a previewed draft can be sent unchanged. */
export const previewMessageSchema = (limits: Limits) =>
  draftSchema(limits).meta({ id: "PreviewMessage" });
export interface PreviewMessage extends z.infer<ReturnType<typeof previewMessageSchema>> {}

export const messagePreviewSchema = z
  .strictObject({
    channel: channelSchema,
    from: z
      .string()
      .nullable()
      .describe("The address of the sender that would be used. Null if there is none."),
    to: z.string(),
    segments: segmentsSchema.nullable(),
    consent: z.enum(["allowed", "opted_out"]),
    quiet_until: timestamp
      .nullable()
      .describe("When quiet hours would let the message out. Null if they would not delay it."),
    sendable: z.boolean().describe("True if there is a sender and no policy denies the message."),
    verdicts: z
      .array(policyVerdictSchema)
      .describe(
        "The verdict of each policy at the time when the message would be sent. Empty if there " +
          "is no sender.",
      ),
  })
  .meta({
    id: "MessagePreview",
    description: "The outcome that sending a message would have. Nothing is sent or stored.",
  });
export interface MessagePreview extends z.infer<typeof messagePreviewSchema> {}

/** Changes to a scheduled message. An absent field keeps its value. */
export const editMessageSchema = (limits: Limits) => {
  const { body, media, send_at, metadata: facts } = contentFields(limits);
  return z
    .strictObject({
      id: reference,
      body: body.optional(),
      media: media.optional(),
      send_at: send_at.optional(),
      metadata: facts.optional().describe("Replaces all existing metadata."),
    })
    .meta({ id: "EditMessage" });
};
export interface EditMessage extends z.infer<ReturnType<typeof editMessageSchema>> {}

/** Each item is validated by itself, so that an invalid item does not affect the others. */
export const batchMessagesSchema = (limits: Limits) =>
  z
    .strictObject({
      messages: z
        .array(z.unknown().describe("A `SendMessage` object."))
        .min(1)
        .max(limits.batch_items, { error: `must have at most ${limits.batch_items} items` }),
    })
    .meta({ id: "BatchMessages" });
export interface BatchMessages extends z.infer<ReturnType<typeof batchMessagesSchema>> {}

export const batchResultSchema = z
  .discriminatedUnion("ok", [
    z.strictObject({ ok: z.literal(true), index: z.int(), message: messageSchema }),
    z.strictObject({
      ok: z.literal(false),
      index: z.int(),
      code: z.string(),
      status: z.int(),
      detail: z.string(),
      errors: z.array(fieldErrorSchema),
    }),
  ])
  .meta({
    id: "BatchResult",
    description: "The result of one batch item. `index` is its position in the request.",
  });
export type BatchResult = z.infer<typeof batchResultSchema>;

export const batchResultsSchema = z
  .strictObject({ data: z.array(batchResultSchema) })
  .meta({ id: "BatchResults" });
export interface BatchResults extends z.infer<typeof batchResultsSchema> {}

export const listMessagesSchema = z.strictObject({
  ...pageFields,
  status: messageStatusSchema.optional(),
  direction: z.enum(["outbound", "inbound"]).optional(),
  channel: channelSchema.optional(),
  contact_id: reference.optional(),
  conversation_id: reference.optional(),
  to: reference.optional(),
  created_after: instant.optional().describe("Exclusive."),
  created_before: instant.optional().describe("Exclusive."),
});
export interface ListMessages extends z.infer<typeof listMessagesSchema> {}

export const replySchema = (limits: Limits) =>
  z
    .strictObject({
      id: reference,
      body: text(limits.message_characters).describe("May be empty if there is media."),
      media: z.array(mediaSchema).max(limits.media_items).optional(),
      author_id: person
        .optional()
        .describe("The id of the person who writes, as the host application knows it."),
    })
    .refine(
      (draft: Draft) => typeof draft.body !== "string" || draft.body !== "" || hasMedia(draft),
      needsContent,
    )
    .meta({ id: "Reply" });
export interface Reply extends z.infer<ReturnType<typeof replySchema>> {}
