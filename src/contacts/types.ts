/** Contacts: the people that an account exchanges messages with. */
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
import { sentimentSchema } from "./sentiment.ts";
import { isLanguage, maxLabels } from "./rules.ts";

export const identitySchema = z
  .strictObject({ medium: mediumSchema, address: z.string() })
  .meta({ id: "Identity", description: "An address where the contact can be reached." });
export interface Identity extends z.infer<typeof identitySchema> {}

export const contactSchema = z
  .strictObject({
    id: ids.contact,
    name: z.string().nullable(),
    phone: z.string().nullable(),
    email: z.string().nullable(),
    time_zone: z.string().nullable().describe("IANA name."),
    language: z.string().nullable().describe("BCP 47 tag."),
    labels: z.array(z.string()),
    attributes: metadata,
    identities: z.array(identitySchema),
    opted_out: z
      .boolean()
      .describe(
        "Whether one of the contact's numbers has opted out of text messages (SMS and MMS).",
      ),
    sentiment: sentimentSchema.nullable(),
    merged_into: ids.contact
      .nullable()
      .describe("The contact that this one was merged into. A merged contact has no other data."),
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
    name: z.string().describe("The phone number when the name is unknown."),
    phone: z.string().nullable(),
  })
  .meta({
    id: "ContactReference",
    description: "A short form of a contact, as other resources show it.",
  });
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
      .max(maxLabels, { error: `must have at most ${maxLabels} labels` })
      .refine((list) => new Set(list).size === list.length, {
        error: "must not repeat a label",
      }),
    attributes: metadataInput(limits).describe(
      "Facts that the host application stores. An update replaces the whole map.",
    ),
  };
}

const atLeastOneFact = {
  path: ["phone"],
  error: "give at least one of phone, email and name",
  when: ({ value }: { value: unknown }): boolean => typeof value === "object" && value !== null,
};

export const createContactSchema = (limits: Limits) =>
  z
    .strictObject(factFields(limits))
    .partial()
    .refine(
      (facts) => [facts.phone, facts.name, facts.email].some((each) => each !== undefined),
      atLeastOneFact,
    )
    .meta({ id: "CreateContact" });
export interface CreateContact extends z.infer<ReturnType<typeof createContactSchema>> {}

/** An absent field stays as it is. Null clears the field. */
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

/** The phone number identifies the contact. */
export const importContactSchema = (limits: Limits) =>
  z
    .strictObject({
      ...changes(limits),
      phone: factFields(limits).phone,
      consent: z
        .strictObject({ status: z.enum(["opted_in", "opted_out"]), detail: text(500).optional() })
        .optional()
        .describe(
          "Consent to text messages. An import never lifts an opt-out. An opt-in counts only " +
            "when no consent is known.",
        ),
    })
    .meta({ id: "ImportContact" });
export interface ImportContact extends z.infer<ReturnType<typeof importContactSchema>> {}

/** Documents `schema` in OpenAPI but accepts any value, which is parsed later. */
function documentedAs(schema: z.ZodType): z.ZodType {
  const { id = "" } = schema.meta() ?? {};
  const { $defs } = z.toJSONSchema(schema, { io: "input" });
  return z.unknown().meta({ ...$defs?.[id], id });
}

/** Each item is parsed separately, so one invalid item does not affect the others. */
export const importContactsSchema = (limits: Limits) =>
  z
    .strictObject({
      contacts: z
        .array(documentedAs(importContactSchema(limits)))
        .min(1)
        .max(limits.batch_items, { error: `must have at most ${limits.batch_items} items` }),
    })
    .meta({ id: "ImportContacts" });
export interface ImportContacts extends z.infer<ReturnType<typeof importContactsSchema>> {}

/** The result of importing one contact. */
export interface ImportedContact {
  readonly status: "created" | "updated" | "unchanged";
  readonly contact_id: ContactId;
}

export const importReportSchema = z
  .strictObject({
    index: z.int().describe("The position in the import, from 0."),
    status: z.enum(["created", "updated", "unchanged", "failed"]),
    contact_id: ids.contact.nullable(),
    errors: z
      .array(fieldErrorSchema)
      .describe("The errors of each field when the status is `failed`."),
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
    contact_id: reference.describe("The other contact. Its history moves to this one."),
  })
  .meta({ id: "MergeContacts" });
export interface MergeContacts extends z.infer<typeof mergeContactsSchema> {}

export const listContactsSchema = z.strictObject({
  ...pageFields,
  phone: phone.optional(),
  label: reference.optional(),
  opted_out: queryBoolean.optional(),
  created_after: instant.optional().describe("Exclusive."),
  created_before: instant.optional().describe("Exclusive."),
});
export interface ListContacts extends z.infer<typeof listContactsSchema> {}

export const searchContactsSchema = z.strictObject({
  q: text(200).min(1).describe("Words, prefixes of words, or a prefix of a phone number."),
  limit: queryInteger(1, 100)
    .optional()
    .meta({ default: defaultPageSize, description: "The maximum number of contacts." }),
});
export interface SearchContacts extends z.infer<typeof searchContactsSchema> {}

/** A page of one contact's history. */
export const contactHistorySchema = z.strictObject({ id: reference, ...pageFields });
export interface ContactHistory extends z.infer<typeof contactHistorySchema> {}
