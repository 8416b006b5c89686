/** Inputs of the operations on contacts. */
import * as z from "zod";
import {
  distinct,
  instant,
  isLanguageTag,
  isObjectGiven,
  isTimeZone,
  metadataInput,
  name,
  pageFields,
  pageQuerySchema,
  phone,
  queryBoolean,
  queryInteger,
  reference,
  text,
  withId,
  type ById,
  type Limits,
  type Metadata,
  type PageQuery,
} from "../kernel/index.ts";

/** The maximum number of labels of a contact or a conversation. */
export const maxLabels = 50;

/** All labels of a contact or a conversation. */
export const labelList = distinct(z.array(name(64)).max(maxLabels), "must not repeat a label");

export function factFields(limits: Limits) {
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
      .meta({ examples: ["Europe/Berlin"], pattern: "^[A-Za-z]" }),
    language: text(64)
      .refine(isLanguageTag, { error: "must be a language tag (BCP 47), such as pt-BR" })
      .meta({ examples: ["pt-BR"], pattern: "^[A-Za-z]" }),
    labels: labelList,
    attributes: metadataInput(limits),
  };
}

const atLeastOneFact = {
  path: ["phone"],
  error: "give at least one of phone, email and name",
  when: isObjectGiven,
};

/** A new contact. It needs a phone number, an email address or a name. */
export interface CreateContact {
  /** The phone number: `+` and 7 to 15 digits (E.164). Only one contact can have it. */
  readonly phone?: string | undefined;
  /** The name, up to 200 characters. */
  readonly name?: string | undefined;
  /** The email address, up to 254 characters. */
  readonly email?: string | undefined;
  /**
   * The IANA name of the time zone, such as `Europe/Berlin`. Quiet hours use it, and playbooks to
   * read dates.
   */
  readonly time_zone?: string | undefined;
  /** The language as a BCP 47 tag, such as `pt-BR`. Agents pass it to their model. */
  readonly language?: string | undefined;
  /** Labels of up to 64 characters, at most 50. An update replaces all of them. */
  readonly labels?: readonly string[] | undefined;
  /** Facts that the host application stores. An update replaces the whole map. */
  readonly attributes?: Metadata | undefined;
}

export const createContactSchema = (limits: Limits) =>
  z
    .strictObject(factFields(limits))
    .partial()
    .refine(
      (facts) => [facts.phone, facts.name, facts.email].some((each) => each !== undefined),
      atLeastOneFact,
    )
    .meta({ id: "CreateContact" });

/** An absent field stays as it is. */
export const changeFields = (limits: Limits) => {
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

/** The facts of a contact that an update and an import can change. */
export interface ContactChanges {
  /** The name, up to 200 characters. Null clears the field. */
  readonly name?: string | null | undefined;
  /** The email address, up to 254 characters. Null clears the field. */
  readonly email?: string | null | undefined;
  /**
   * The IANA name of the time zone, such as `Europe/Berlin`. Quiet hours use it, and playbooks to
   * read dates. Null clears the field.
   */
  readonly time_zone?: string | null | undefined;
  /**
   * The language as a BCP 47 tag, such as `pt-BR`. Agents pass it to their model. Null clears the
   * field.
   */
  readonly language?: string | null | undefined;
  /** Labels of up to 64 characters, at most 50. An update replaces all of them. */
  readonly labels?: readonly string[] | undefined;
  /** Facts that the host application stores. An update replaces the whole map. */
  readonly attributes?: Metadata | undefined;
}

/** Changes to a contact. An absent field keeps its value. */
export interface UpdateContact extends ContactChanges {
  /**
   * The phone number: `+` and 7 to 15 digits (E.164). Only one contact can have it. The number that
   * it replaces belongs to no contact, and messages that wait to go there fail. Null clears the
   * field.
   */
  readonly phone?: string | null | undefined;
}

export const updateContactSchema = (limits: Limits) =>
  z.strictObject({ ...changeFields(limits) }).meta({ id: "UpdateContact" });

/** The filters that lists and searches of contacts share. A contact must pass all of them. */
export interface ContactFilters {
  /** Only contacts with this label. */
  readonly label?: string | undefined;
  /** Only contacts that have opted out of text messages, or only those that have not. */
  readonly opted_out?: boolean | undefined;
  /** Only contacts created after this time, exclusive. */
  readonly created_after?: string | undefined;
  /** Only contacts created before this time, exclusive. */
  readonly created_before?: string | undefined;
}

const contactFilterFields = {
  label: reference.optional(),
  opted_out: queryBoolean.optional(),
  created_after: instant.optional(),
  created_before: instant.optional(),
};

/** Filters of a list of contacts. A contact is listed if it passes all of them. */
export interface ListContacts extends ContactFilters, PageQuery {
  /** Only the contact that has this phone number (E.164). */
  readonly phone?: string | undefined;
}

export const listContactsSchema = z
  .strictObject({
    ...pageFields,
    phone: phone.optional(),
    ...contactFilterFields,
  })
  .meta({ interface: "ListContacts" });

/** A search in all contacts, or in those that pass the filters. */
export interface SearchContacts extends ContactFilters {
  /**
   * Words, prefixes of words, or a prefix of a phone number. Up to 200 characters, of which the
   * first 8 words count.
   */
  readonly q: string;
  /** The maximum number of contacts, up to 100. By default 20. */
  readonly limit?: number | undefined;
}

export const searchContactsSchema = z
  .strictObject({
    q: text(200).min(1),
    limit: queryInteger(1, 100).optional(),
    ...contactFilterFields,
  })
  .meta({ interface: "SearchContacts" });

/** The input of a list of one contact's history. */
export const contactHistorySchema: z.ZodType<PageQuery & ById> = withId(
  pageQuerySchema,
  "The id of the contact.",
);
