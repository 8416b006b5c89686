/** People at the other end, whatever address they write from. */
import { z } from "zod";
import {
  type ContactId,
  defaultPageSize,
  fieldErrorSchema,
  ids,
  instant,
  isTimeZone,
  type Limits,
  mediumSchema,
  metadata,
  metadataInput,
  name,
  pageFields,
  pageSchema,
  phone,
  queryBoolean,
  queryInteger,
  reference,
  text,
  timestamp,
} from "../kernel/index.ts";
import { sentimentSchema } from "./sentiment-types.ts";
import { isLanguage, mostLabels } from "./rules.ts";

export const identitySchema = z
  .strictObject({ medium: mediumSchema, address: z.string() })
  .meta({ id: "Identity", description: "An address that a contact is reached at." });
export interface Identity extends z.infer<typeof identitySchema> {}

export const contactSchema = z
  .strictObject({
    id: ids.contact,
    name: z.string().nullable(),
    phone: z.string().nullable(),
    email: z.string().nullable(),
    time_zone: z.string().nullable().meta({ description: "IANA name." }),
    language: z.string().nullable().meta({ description: "BCP 47 tag." }),
    labels: z.array(z.string()),
    attributes: metadata,
    identities: z.array(identitySchema),
    opted_out: z
      .boolean()
      .meta({ description: "From text messages, at one of its numbers: sms and mms." }),
    sentiment: sentimentSchema.nullable(),
    merged_into: ids.contact.nullable().meta({
      description:
        "The contact that has all that this one had: it was merged into it, and has nothing of its own any more.",
    }),
    created_at: timestamp,
    updated_at: timestamp,
    last_message_at: timestamp.nullable(),
  })
  .meta({ id: "Contact" });
export interface Contact extends z.infer<typeof contactSchema> {}

export const contactPageSchema = pageSchema(contactSchema).meta({ id: "ContactPage" });

export const contactReferenceSchema = z
  .strictObject({
    id: ids.contact,
    name: z.string().meta({ description: "The phone number where no name is known." }),
    phone: z.string().nullable(),
  })
  .meta({ id: "ContactReference", description: "Who it is about, as far as others show it." });
export interface ContactReference extends z.infer<typeof contactReferenceSchema> {}

/** A label of a contact or a conversation. */
export const label = name(64);

function factFields(limits: Limits) {
  return {
    phone: phone.meta({ examples: ["+15005550001"] }),
    name: name(200),
    email: z
      .email({ error: "must be an email address" })
      .max(254, { error: "must have at most 254 characters" }),
    time_zone: text(64)
      .refine(isTimeZone, {
        error: "must be a time zone of the IANA database, such as Europe/Berlin",
      })
      .meta({ description: "IANA name.", examples: ["Europe/Berlin"] }),
    language: text(64)
      .refine(isLanguage, { error: "must be a language tag (BCP 47), such as pt-BR" })
      .meta({ description: "BCP 47 tag.", examples: ["pt-BR"] }),
    labels: z
      .array(label)
      .max(mostLabels, { error: `must have at most ${mostLabels} labels` })
      .refine((list) => new Set(list).size === list.length, {
        error: "must not name a label twice",
      }),
    attributes: metadataInput(limits).meta({
      description: "The host's own facts. Replaced as a whole.",
    }),
  };
}

const someone = {
  path: ["phone"],
  error: "phone, email or name: one of them must be given",
  when: ({ value }: { value: unknown }): boolean => typeof value === "object" && value !== null,
};

export const createContactSchema = (limits: Limits) =>
  z
    .strictObject(factFields(limits))
    .partial()
    .refine(
      (facts) => [facts.phone, facts.name, facts.email].some((each) => each !== undefined),
      someone,
    )
    .meta({ id: "CreateContact" });
export interface CreateContact extends z.infer<ReturnType<typeof createContactSchema>> {}

/** What is absent stays as it is, and null takes away. */
const changes = (limits: Limits) => {
  const {
    phone: number,
    name: called,
    email,
    time_zone,
    language,
    labels,
    attributes,
  } = factFields(limits);
  return {
    phone: number.nullable().optional(),
    name: called.nullable().optional(),
    email: email.nullable().optional(),
    time_zone: time_zone.nullable().optional(),
    language: language.nullable().optional(),
    labels: labels.optional(),
    attributes: attributes.optional(),
  };
};

export const updateContactSchema = (limits: Limits) =>
  z.strictObject({ id: reference, ...changes(limits) }).meta({ id: "UpdateContact" });
export interface UpdateContact extends z.infer<ReturnType<typeof updateContactSchema>> {}

/** By its phone number. */
export const importContactSchema = (limits: Limits) =>
  z
    .strictObject({
      ...changes(limits),
      phone: factFields(limits).phone,
      consent: z
        .strictObject({ status: z.enum(["opted_in", "opted_out"]), detail: text(500).optional() })
        .optional()
        .meta({
          description:
            "To text messages. It never lifts an opt-out, and an opt-in counts only where nothing is known.",
        }),
    })
    .meta({ id: "ImportContact" });
export interface ImportContact extends z.infer<ReturnType<typeof importContactSchema>> {}

/** What is parsed later, shown as what it is to be. */
function shown(schema: z.ZodType): z.ZodType {
  const { id = "" } = schema.meta() ?? {};
  const { $defs } = z.toJSONSchema(schema, { io: "input" });
  return z.unknown().meta({ ...$defs?.[id], id });
}

/** Parsed one by one, so that a bad one harms no other. */
export const importContactsSchema = (limits: Limits) =>
  z
    .strictObject({
      contacts: z
        .array(shown(importContactSchema(limits)))
        .min(1)
        .max(limits.batch_items, { error: `must have at most ${limits.batch_items} items` }),
    })
    .meta({ id: "ImportContacts" });
export interface ImportContacts extends z.infer<ReturnType<typeof importContactsSchema>> {}

/** What became of one. */
export interface ImportedContact {
  readonly status: "created" | "updated" | "unchanged";
  readonly contact_id: ContactId;
}

export const importReportSchema = z
  .strictObject({
    index: z.int().meta({ description: "Its place in the import, from 0." }),
    status: z.enum(["created", "updated", "unchanged", "failed"]),
    contact_id: ids.contact.nullable(),
    errors: z
      .array(fieldErrorSchema)
      .meta({ description: "What is wrong with it, field by field, where it failed." }),
  })
  .meta({ id: "ImportReport" });
export interface ImportReport extends z.infer<typeof importReportSchema> {}

const counts = { created: z.int(), updated: z.int(), unchanged: z.int(), failed: z.int() };
export const importCountsSchema = z.strictObject(counts).meta({ id: "ImportCounts" });
export interface ImportCounts extends z.infer<typeof importCountsSchema> {}

export const importResultSchema = z
  .strictObject({ data: z.array(importReportSchema), ...counts })
  .meta({ id: "ImportResult" });
export interface ImportResult extends z.infer<typeof importResultSchema> {}

export const mergeContactsSchema = z
  .strictObject({
    id: reference,
    contact_id: reference.meta({ description: "The other contact, whose history moves here." }),
  })
  .meta({ id: "MergeContacts" });
export interface MergeContacts extends z.infer<typeof mergeContactsSchema> {}

export const listContactsSchema = z.strictObject({
  ...pageFields,
  phone: phone.optional(),
  label: reference.optional(),
  opted_out: queryBoolean.optional(),
  created_after: instant.optional().meta({ description: "Exclusive." }),
  created_before: instant.optional().meta({ description: "Exclusive." }),
});
export interface ListContacts extends z.infer<typeof listContactsSchema> {}

export const searchContactsSchema = z.strictObject({
  q: text(200)
    .min(1)
    .meta({ description: "Words, beginnings of words, or the beginning of a phone number." }),
  limit: queryInteger(1, 100)
    .optional()
    .meta({ default: defaultPageSize, description: "At most." }),
});
export interface SearchContacts extends z.infer<typeof searchContactsSchema> {}

/** One contact's history, page by page. */
export const contactHistorySchema = z.strictObject({ id: reference, ...pageFields });
export interface ContactHistory extends z.infer<typeof contactHistorySchema> {}
