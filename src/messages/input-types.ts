/** The inputs of the operations on messages, except batches. */
import * as z from "zod";
import { person } from "../conversations/index.ts";
import {
  channelSchema,
  filterById,
  hourMs,
  instant,
  isObjectGiven,
  maxScheduleAheadMs,
  messageStatusSchema,
  metadataInput,
  pageFields,
  readonlyList,
  recipientSchema,
  reference,
  senderAddress,
  text,
  type Channel,
  type Limits,
  type MessageStatus,
  type Metadata,
  type PageQuery,
} from "../kernel/index.ts";
import type { Media } from "../ports/index.ts";
import { categorySchema, mediaSchema, type Category } from "./types.ts";

/** The default time to live of a message: four hours, in milliseconds. */
export const defaultTtlMs = 4 * hourMs;

/**
 * Unvalidated input. The rules about several fields read it before its fields are known to be valid
 * (`isObjectGiven`).
 */
interface UncheckedDraft {
  readonly body?: unknown;
  readonly media?: unknown;
  readonly channel?: unknown;
  readonly to?: unknown;
}

export const hasMedia = ({ media }: UncheckedDraft): boolean =>
  Array.isArray(media) && media.length > 0;

/** The rule of `needsContent`. */
export const hasContent = (draft: UncheckedDraft): boolean =>
  typeof draft.body !== "string" || draft.body !== "" || hasMedia(draft);

export const needsContent = {
  path: ["body"],
  error: "must not be empty unless there is media",
  when: isObjectGiven,
};
export const smsHasNoMedia = {
  path: ["media"],
  error: "needs channel mms or webchat",
  when: isObjectGiven,
};
const webchatNeedsContact = {
  path: ["to"],
  error: "must be a contact id when channel is webchat",
  when: isObjectGiven,
};

function contentFields(limits: Limits) {
  return {
    body: text(limits.messageCharacters),
    media: readonlyList(z.array(mediaSchema).max(limits.mediaItems)),
    metadata: metadataInput(limits),
  };
}

/** A message to send. */
export interface SendMessage {
  /**
   * A phone number in E.164 format, or the id of a contact. On webchat, always the id of a contact.
   */
  readonly to: string;
  /** The text, by default at most 1,600 characters. May be empty if there is media. */
  readonly body: string;
  /** The channel to send on. Defaults to `sms`, or to `mms` if there is media. */
  readonly channel?: Channel | undefined;
  /**
   * The sender's address. Defaults to the sender that the contact last used, then to one from the
   * account's pool for the channel, then to the account's default sender.
   */
  readonly from?: string | undefined;
  /** Files to send with the text, by default at most 10. Not allowed on `sms`. */
  readonly media?: readonly Media[] | undefined;
  /** When to send the message, at most 35 days ahead. A time in the past means now. */
  readonly send_at?: string | undefined;
  /**
   * Time to live in seconds, at most 35 days, counted from `send_at`, or from now. The message
   * expires if it is not handed over to a carrier in time.
   * @default 14400
   */
  readonly ttl_seconds?: number | undefined;
  /**
   * The purpose of the message. Quiet hours apply to `marketing` messages only, and messages that
   * are `transactional` go first.
   * @default "transactional"
   */
  readonly category?: Category | undefined;
  /**
   * The host application's data about the message. By default at most 50 keys of 64 characters,
   * with values of at most 500 characters. The engine does not read it.
   */
  readonly metadata?: Metadata | undefined;
}

function draftSchema(limits: Limits) {
  const { body, media, metadata } = contentFields(limits);
  return z
    .strictObject({
      to: recipientSchema,
      body,
      channel: channelSchema.optional(),
      from: senderAddress.optional(),
      media: media.optional(),
      send_at: instant.optional(),
      ttl_seconds: z
        .int()
        .min(1)
        .max(maxScheduleAheadMs / 1_000)
        .optional()
        .meta({ default: defaultTtlMs / 1_000 }),
      category: categorySchema.optional().meta({ default: "transactional" }),
      metadata: metadata.optional(),
    })
    .refine(hasContent, needsContent)
    .refine((draft: UncheckedDraft) => draft.channel !== "sms" || !hasMedia(draft), smsHasNoMedia)
    .refine(
      (draft: UncheckedDraft) =>
        draft.channel !== "webchat" || typeof draft.to !== "string" || !draft.to.startsWith("+"),
      webchatNeedsContact,
    );
}

/**
 * The host application sets the limits, so each engine builds these schemas from its own limits.
 */
export const sendMessageSchema = (limits: Limits) =>
  draftSchema(limits).meta({ id: "SendMessage" });

/** A message to preview. It is the same input as for sending it. */
export interface PreviewMessage extends SendMessage {}

export const previewMessageSchema = (limits: Limits) =>
  draftSchema(limits).meta({ id: "PreviewMessage" });

/** A message of a batch. It is the same input as for sending it, without an idempotency key. */
export interface BatchMessage extends SendMessage {}

export const batchMessageSchema = (limits: Limits) =>
  draftSchema(limits).meta({ id: "BatchMessage" });

/** Changes to a scheduled message. An absent field keeps its value. */
export interface EditMessage {
  /** The new text, by default at most 1,600 characters. May be empty if there is media. */
  readonly body?: string | undefined;
  /** The new files, by default at most 10. They replace all existing files. */
  readonly media?: readonly Media[] | undefined;
  /**
   * When to send the message, at most 35 days ahead. A time in the past means now. The time to live
   * moves along.
   */
  readonly send_at?: string | undefined;
  /** Replaces all existing metadata. */
  readonly metadata?: Metadata | undefined;
}

export const editMessageSchema = (limits: Limits) => {
  const { body, media, metadata } = contentFields(limits);
  return z
    .strictObject({
      body: body.optional(),
      media: media.optional(),
      send_at: instant.optional(),
      metadata: metadata.optional(),
    })
    .meta({ id: "EditMessage" });
};

/** Filters of a list of messages. */
export interface ListMessages extends PageQuery {
  /** Only messages with this status. */
  readonly status?: MessageStatus | undefined;
  /** Only messages to contacts (`outbound`) or from contacts (`inbound`). */
  readonly direction?: "outbound" | "inbound" | undefined;
  /** Only messages on this channel. */
  readonly channel?: Channel | undefined;
  /** Only messages from or to this contact. */
  readonly contact_id?: string | undefined;
  /** Only messages of this conversation, in the order of its thread. */
  readonly conversation_id?: string | undefined;
  /**
   * Only messages to exactly this address: a phone number, a short code, or a visitor's webchat
   * address. With `direction` `inbound`, the address of a sender.
   */
  readonly to?: string | undefined;
  /** Only messages created later than this time. */
  readonly created_after?: string | undefined;
  /** Only messages created earlier than this time. */
  readonly created_before?: string | undefined;
}

export const listMessagesSchema = z
  .strictObject({
    ...pageFields,
    status: messageStatusSchema.optional(),
    direction: z.enum(["outbound", "inbound"]).optional(),
    channel: channelSchema.optional(),
    contact_id: filterById("contact").optional(),
    conversation_id: filterById("conversation").optional(),
    to: reference.optional(),
    created_after: instant.optional(),
    created_before: instant.optional(),
  })
  // A number without `+` would silently match nothing.
  .refine(
    ({ direction, to }) =>
      typeof to !== "string" || direction === "inbound" || recipientAddress.test(to),
    {
      path: ["to"],
      error:
        "must be a phone number (E.164: + and 7 to 15 digits), a short code or a visitor's " +
        "address; add direction=inbound to filter by a sender",
      when: isObjectGiven,
    },
  )
  .meta({ interface: "ListMessages" });

/** A phone number, a short code or a visitor's webchat address. */
const recipientAddress = /^(?:\+[1-9]\d{6,14}|\d{3,8}|visitor:[0-9A-Z]{26})$/;

/**
 * A person's message in a conversation. It goes to the address of the last message, apart from
 * opt-outs and scheduled messages.
 */
export interface Reply {
  /** The text, by default at most 1,600 characters. May be empty if there is media. */
  readonly body: string;
  /** Files to send with the text, by default at most 10. On `text`, it is then sent as MMS. */
  readonly media?: readonly Media[] | undefined;
  /**
   * The sender's address. Defaults to the sender that the contact last used, then to one from the
   * account's pool for the channel, then to the account's default sender.
   */
  readonly from?: string | undefined;
  /**
   * The id of the person who writes, as the host application knows it. The conversation is then
   * assigned to this person, unless another person is assigned.
   */
  readonly author_id?: string | undefined;
}

export const replySchema = (limits: Limits) => {
  const { body, media } = contentFields(limits);
  return z
    .strictObject({
      body,
      media: media.optional(),
      from: senderAddress.optional(),
      author_id: person.optional(),
    })
    .refine(hasContent, needsContent)
    .meta({ id: "Reply" });
};
