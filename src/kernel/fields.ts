/** The kinds of field that resources are made of, each said once: ids, times, phone numbers, texts, lists. */
import { z } from "zod";
import type { Limits } from "./limits.ts";

const ulid = z.string().regex(/[0-7][0-9A-HJKMNP-TV-Z]{25}/);

/** Ids in answers. Those in inputs are `reference`: one of another shape is as unknown as one that never was. */
export const ids = {
  account: z.templateLiteral(["acct_", ulid]),
  key: z.templateLiteral(["key_", ulid]),
  sender: z.templateLiteral(["snd_", ulid]),
  message: z.templateLiteral(["msg_", ulid]),
  contact: z.templateLiteral(["ct_", ulid]),
  conversation: z.templateLiteral(["conv_", ulid]),
  note: z.templateLiteral(["note_", ulid]),
  agent: z.templateLiteral(["agt_", ulid]),
  playbook: z.templateLiteral(["pb_", ulid]),
  run: z.templateLiteral(["run_", ulid]),
  observation: z.templateLiteral(["obs_", ulid]),
  webhook: z.templateLiteral(["wh_", ulid]),
  delivery: z.templateLiteral(["dlv_", ulid]),
  attempt: z.templateLiteral(["att_", ulid]),
  event: z.templateLiteral(["evt_", ulid]),
  webchatSession: z.templateLiteral(["wcs_", ulid]),
};

/** A name or id that is looked up. Bounded, and free of what no database keeps. */
export const reference = z
  .string()
  .min(1)
  .max(200)
  .refine(isStorable, { error: "must not contain NUL or half a surrogate pair" });

/** In answers: ISO 8601 in UTC with milliseconds and `Z`. */
export const timestamp = z.iso.datetime({ precision: 3 });

/** In inputs: ISO 8601 with seconds and `Z` or an offset; digits past the millisecond don't count. */
export const instant = z.iso.datetime({ offset: true });

export const modeSchema = z.enum(["sandbox", "live"]);
export const channels = ["sms", "mms", "webchat"] as const;
export type Channel = (typeof channels)[number];
export const channelSchema = z.enum(channels);
/** What a consent and a conversation belong to: sms and mms together are `text`. */
export const mediumSchema = z.enum(["text", "webchat"]);
export type Medium = z.infer<typeof mediumSchema>;

/** Sms and mms go to the same address and are one conversation. */
export function mediumOf(channel: Channel): Medium {
  return channel === "webchat" ? "webchat" : "text";
}

/** E.164 (ITU-T): `+` and 7 to 15 digits, the first not 0. */
export const phonePattern = /^\+[1-9]\d{6,14}$/;
export const phone = z
  .string()
  .regex(phonePattern, { error: "must be a phone number: + and 7 to 15 digits (E.164)" });

/** What a sender is called at its carrier: a phone number, short code, name or webchat inbox. */
export const senderAddress = z.string().regex(/^[+A-Za-z0-9][A-Za-z0-9 ._:@-]{0,63}$/, {
  error: "must be a phone number, short code, name or inbox",
});

/** NUL and lone surrogates have no place in a database's text. */
export function isStorable(text: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(text);
}

/** What is left of a text that nobody has checked: what is storable of its first `max` Unicode code points. */
export function storable(text: string, max: number): string {
  const first = Array.from(text.slice(0, 2 * max))
    .slice(0, max)
    .join("");
  return first.toWellFormed().replaceAll("\0", "");
}

/** Text of up to `max` Unicode code points, as JSON Schema counts them. */
export function text(max: number): z.ZodString {
  return z
    .string()
    .refine(
      (value) => value.length <= max || (value.length <= 2 * max && [...value].length <= max),
      {
        error: `must have at most ${max} characters`,
      },
    )
    .refine(isStorable, { error: "must not contain NUL or half a surrogate pair" })
    .meta({ maxLength: max });
}

/** Text that says something. */
export function name(max: number): z.ZodString {
  return text(max).refine((value) => value.trim() !== "", { error: "must not be blank" });
}

export const webUrl = z
  .url({ protocol: /^https?$/, error: "must be an http or https URL" })
  .max(2_048, { error: "must have at most 2048 characters" });

/** The host's own facts about a resource, never read by the engine. */
export type Metadata = Record<string, string>;
export const metadata: z.ZodType<Metadata> = z.record(z.string(), z.string());

export function metadataInput(limits: Limits): z.ZodType<Metadata> {
  const entries = z
    .record(text(64).min(1), text(limits.metadata_characters))
    .refine((value) => Object.keys(value).length <= limits.metadata_keys, {
      error: `must have at most ${limits.metadata_keys} keys`,
    })
    .meta({ maxProperties: limits.metadata_keys });
  return wholeRecord(entries);
}

/** A record drops this key in silence, and what is not kept must be refused. */
export function wholeRecord<T>(record: z.ZodType<T>): z.ZodType<T> {
  return z.preprocess((value, context) => {
    if (typeof value === "object" && value !== null && Object.hasOwn(value, "__proto__")) {
      context.addIssue({
        code: "custom",
        message: "must not have the key __proto__",
        path: ["__proto__"],
      });
    }
    return value;
  }, record);
}

/** A whole number in a query, where HTTP knows only strings. */
export function queryInteger(min: number, max: number): z.ZodType<number> {
  return z.preprocess(
    (value) => (typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value),
    z.int().min(min).max(max),
  );
}

/** A yes or no in a query. */
export const queryBoolean: z.ZodType<boolean> = z.preprocess(
  (value) => (value === "true" ? true : value === "false" ? false : value),
  z.boolean(),
);

/**
 * One page of a list. `next_cursor` is null on the last. A page can have fewer rows than were asked for, or none, and yet not be the
 * last: where a filter lets few rows pass, each page looks at 1,000 of them at the most.
 */
export interface Page<T> {
  data: T[];
  has_more: boolean;
  next_cursor: string | null;
}

export const defaultPageSize = 20;

/** What every list takes. */
export const pageFields = {
  limit: queryInteger(1, 100).optional().meta({
    default: defaultPageSize,
    description: "At most. Fewer come where a filter lets few pass: go on while `has_more`.",
  }),
  cursor: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: "`next_cursor` of the page before." }),
};

export const pageQuerySchema = z.strictObject(pageFields);
export interface PageQuery extends z.infer<typeof pageQuerySchema> {}

export function pageSchema<T>(item: z.ZodType<T>): z.ZodType<Page<T>> {
  return z.strictObject({
    data: z.array(item),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
  });
}

/** What a path with one id takes. */
export const byIdSchema = z.strictObject({ id: reference });
export interface ById extends z.infer<typeof byIdSchema> {}

/** Who wrote a message or a note. */
export const authorSchema = z
  .strictObject({
    type: z.enum(["api", "human", "agent", "contact", "system"]),
    id: z.string().optional(),
  })
  .meta({ id: "Author" });
export interface Author extends z.infer<typeof authorSchema> {}

export const recipientSchema = z
  .string()
  .refine((value) => phonePattern.test(value) || /^ct_[0-9A-Za-z]{1,64}$/.test(value), {
    error: "must be a phone number (E.164: + and 7 to 15 digits) or a contact's id",
  })
  .meta({
    description: "A phone number, or a contact's id on any channel.",
    examples: ["+15005550001"],
  });
