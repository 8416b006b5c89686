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
/** Messages as everybody sees them, and what the operations on them take. */
import { z } from "zod";
import { carrierErrorCodes } from "../ports/index.ts";
import { policyVerdictSchema } from "../consents/index.ts";

/**
 * Before the hand-over: `scheduled → queued → sending`, and the ends `canceled`, `expired`, `failed`. `ambiguous`: it was
 * handed over, and the carrier's answer was lost. After it: `sent`, `unconfirmed` (no receipt came in time),
 * `undelivered`, `delivered`, `read`. Inbound: `received`.
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

export const mediaSchema = z
  .strictObject({ url: webUrl, content_type: mimeType.optional() })
  .meta({ id: "Media", description: "A picture, sound or file, fetched by the carrier." });

export const segmentsSchema = z
  .strictObject({ count: z.int().min(1), encoding: z.enum(["GSM-7", "UCS-2"]) })
  .meta({
    id: "Segments",
    description: "What an SMS is billed as: parts of 160 or 153 GSM-7 or 70 or 67 UCS-2 units.",
  });
export interface Segments extends z.infer<typeof segmentsSchema> {}

/** Reasons of the engine's own, beside the carrier's. */
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
    permanent: z.boolean().meta({ description: "The same message would fail again." }),
    stage: z.enum(["request", "policy", "queue", "carrier", "handset"]),
    provider_code: z
      .string()
      .nullable()
      .meta({ description: "The carrier's own code; at stage `policy` that of the host's rule." }),
  })
  .meta({ id: "MessageError", description: "Why a message didn't arrive." });
export interface MessageError extends z.infer<typeof messageErrorSchema> {}

export const messageSchema = z
  .strictObject({
    id: ids.message,
    direction: z.enum(["outbound", "inbound"]),
    channel: channelSchema,
    status: messageStatusSchema,
    from: z.string(),
    to: z.string(),
    body: z.string().nullable().meta({ description: "Null once redacted." }),
    media: z.array(mediaSchema),
    author: authorSchema,
    contact_id: ids.contact,
    conversation_id: ids.conversation,
    category: categorySchema,
    segments: segmentsSchema.nullable().meta({ description: "Of an SMS; else null." }),
    send_at: timestamp.nullable(),
    expires_at: timestamp
      .nullable()
      .meta({ description: "Not handed over from then on. Null for an inbound." }),
    error: messageErrorSchema.nullable(),
    transport: z
      .string()
      .nullable()
      .meta({ description: "Who carries it; after a fallback, who it went on to." }),
    provider_message_id: z.string().nullable(),
    metadata,
    idempotency_key: z.string().nullable(),
    opt_out_suspected: z
      .boolean()
      .meta({ description: "The contact's words come close to an opt-out keyword and are none." }),
    created_at: timestamp,
    updated_at: timestamp,
    sent_at: timestamp.nullable(),
    delivered_at: timestamp.nullable(),
    read_at: timestamp.nullable(),
  })
  .meta({ id: "Message", description: "One SMS, MMS or webchat message, out or in." });
export interface Message extends z.infer<typeof messageSchema> {}

/** Four hours, in milliseconds: how long a message may wait for its hand-over unless it says otherwise. */
export const defaultTtl = 4 * 3_600_000;

function contentFields(limits: Limits) {
  return {
    body: text(limits.message_characters),
    media: z
      .array(mediaSchema)
      .max(limits.media_items, { error: `must have at most ${limits.media_items} items` }),
    send_at: instant.meta({
      description: "When to send, at most 35 days ahead. A time that has passed means now.",
    }),
    metadata: metadataInput(limits),
  };
}

/** A message while it is judged: nothing is known of its fields yet. */
export interface Draft {
  readonly body?: unknown;
  readonly media?: unknown;
  readonly channel?: unknown;
  readonly to?: unknown;
}

const isDraft = ({ value }: { value: unknown }): boolean =>
  typeof value === "object" && value !== null;
export const hasMedia = ({ media }: Draft): boolean => Array.isArray(media) && media.length > 0;

/** These rules look at two fields and are judged whatever else is wrong, so that all errors are answered at once. */
export const needsContent = {
  path: ["body"],
  error: "must not be empty unless there is media",
  when: isDraft,
};
const smsHasNoMedia = { path: ["media"], error: "needs channel mms or webchat", when: isDraft };
const webchatNeedsContact = {
  path: ["to"],
  error: "must be a contact's id on webchat",
  when: isDraft,
};

function draftSchema(limits: Limits) {
  const { body, media, send_at, metadata: facts } = contentFields(limits);
  return z
    .strictObject({
      to: recipientSchema,
      body: body.meta({ description: "May be empty when there is media." }),
      channel: channelSchema
        .optional()
        .meta({ description: "By default sms, or mms when there is media." }),
      from: senderAddress.optional().meta({
        description:
          "By default the contact's last sender, then one of the account's pool for the channel, then its default.",
      }),
      media: media.optional(),
      send_at: send_at.optional(),
      ttl_seconds: z
        .int()
        .min(1)
        .max(maxScheduleAhead / 1_000)
        .optional()
        .meta({
          default: defaultTtl / 1_000,
          description: "How long after `send_at`, or now, it may still be handed over.",
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

/** The limits are the host's, so an engine makes these schemas once from its own. */
export const sendMessageSchema = (limits: Limits) =>
  draftSchema(limits).meta({ id: "SendMessage" });
export interface SendMessage extends z.infer<ReturnType<typeof sendMessageSchema>> {}

/** The same input as a send, so that what was looked at can be sent as it is. */
export const previewMessageSchema = (limits: Limits) =>
  draftSchema(limits).meta({ id: "PreviewMessage" });
export interface PreviewMessage extends z.infer<ReturnType<typeof previewMessageSchema>> {}

export const messagePreviewSchema = z
  .strictObject({
    channel: channelSchema,
    from: z
      .string()
      .nullable()
      .meta({ description: "The sender that would be used; null when there is none." }),
    to: z.string(),
    segments: segmentsSchema.nullable(),
    consent: z.enum(["allowed", "opted_out"]),
    quiet_until: timestamp
      .nullable()
      .meta({ description: "When quiet hours would let it out; null when at once." }),
    sendable: z.boolean().meta({ description: "There is a sender, and no policy denies it." }),
    verdicts: z.array(policyVerdictSchema).meta({
      description: "What each policy says of it, for when it would go out. None without a sender.",
    }),
  })
  .meta({
    id: "MessagePreview",
    description: "What would become of a message. Nothing is sent or kept.",
  });
export interface MessagePreview extends z.infer<typeof messagePreviewSchema> {}

/** While scheduled. What is absent stays as it is. */
export const editMessageSchema = (limits: Limits) => {
  const { body, media, send_at, metadata: facts } = contentFields(limits);
  return z
    .strictObject({
      id: reference,
      body: body.optional(),
      media: media.optional(),
      send_at: send_at.optional(),
      metadata: facts.optional().meta({ description: "Replaces what was there." }),
    })
    .meta({ id: "EditMessage" });
};
export interface EditMessage extends z.infer<ReturnType<typeof editMessageSchema>> {}

/** Items are parsed one by one, so that a bad one harms no other. */
export const batchMessagesSchema = (limits: Limits) =>
  z
    .strictObject({
      messages: z
        .array(z.unknown().meta({ description: "A `SendMessage`." }))
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
    description: "How one item of a batch came out, by its place in the request.",
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
  created_after: instant.optional().meta({ description: "Exclusive." }),
  created_before: instant.optional().meta({ description: "Exclusive." }),
});
export interface ListMessages extends z.infer<typeof listMessagesSchema> {}

export const replySchema = (limits: Limits) =>
  z
    .strictObject({
      id: reference,
      body: text(limits.message_characters).meta({
        description: "May be empty when there is media.",
      }),
      media: z.array(mediaSchema).max(limits.media_items).optional(),
      author_id: person.optional().meta({ description: "Who of the host's people writes." }),
    })
    .refine(
      (draft: Draft) => typeof draft.body !== "string" || draft.body !== "" || hasMedia(draft),
      needsContent,
    )
    .meta({ id: "Reply" });
export interface Reply extends z.infer<ReturnType<typeof replySchema>> {}
