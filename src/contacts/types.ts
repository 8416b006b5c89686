/** Contacts: the people that an account exchanges messages with. */
import * as z from "zod";
import {
  ids,
  mediumSchema,
  metadata,
  pageSchema,
  timestamp,
  type ContactId,
  type Medium,
  type Metadata,
} from "../kernel/index.ts";
import { sentimentSchema, type Sentiment } from "./sentiment/sentiment-types.ts";

/** An address where the contact can be reached. */
export interface Identity {
  /** The medium of the address. `text` is SMS and MMS. */
  readonly medium: Medium;
  /** A phone number (E.164), or the webchat address that the engine chose. */
  readonly address: string;
}

export const identitySchema = z
  .strictObject({
    medium: mediumSchema.describe("The medium of the address. `text` is SMS and MMS."),
    address: z
      .string()
      .describe("A phone number (E.164), or the webchat address that the engine chose."),
  })
  .meta({ id: "Identity", description: "An address where the contact can be reached." });

/** A person or company that you exchange messages with. */
export interface Contact {
  /** The id of the contact. */
  readonly id: ContactId;
  /** The contact's name. Null if it is unknown. */
  readonly name: string | null;
  /**
   * The contact's phone number (E.164). Null if it is unknown. Other numbers of the contact, after
   * a merge, are in `identities`.
   */
  readonly phone: string | null;
  /** The contact's email address. Null if it is unknown. */
  readonly email: string | null;
  /**
   * The IANA name of the contact's time zone, such as `Europe/Berlin`. Quiet hours use it, and
   * playbooks to read dates. Null if it is unknown.
   */
  readonly time_zone: string | null;
  /**
   * The contact's language as a BCP 47 tag, such as `pt-BR`. Agents pass it to their model. Null if
   * it is unknown.
   */
  readonly language: string | null;
  /** The labels that you gave the contact, at most 50. */
  readonly labels: string[];
  /** Facts that the host application stores. Policies get them, and searches find their values. */
  readonly attributes: Metadata;
  /** The addresses where the contact can be reached, at most 100. */
  readonly identities: Identity[];
  /** Whether one of the contact's numbers has opted out of text messages (SMS and MMS). */
  readonly opted_out: boolean;
  /** How positive or negative the contact's recent messages are. Null before the first score. */
  readonly sentiment: Sentiment | null;
  /** The contact that this one was merged into. A merged contact has no other data. */
  readonly merged_into: ContactId | null;
  /** When the contact was created. */
  readonly created_at: string;
  /** When the contact's data or addresses last changed. */
  readonly updated_at: string;
  /** The time of the last message in either direction. Null if there was none. */
  readonly last_message_at: string | null;
}

export const contactSchema = z
  .strictObject({
    id: ids.contact.describe("The id of the contact."),
    name: z.string().nullable().describe("The contact's name. Null if it is unknown."),
    phone: z
      .string()
      .nullable()
      .describe(
        "The contact's phone number (E.164). Null if it is unknown. Other numbers of the " +
          "contact, after a merge, are in `identities`.",
      ),
    email: z.string().nullable().describe("The contact's email address. Null if it is unknown."),
    time_zone: z
      .string()
      .nullable()
      .describe(
        "The IANA name of the contact's time zone, such as `Europe/Berlin`. Quiet hours use it, " +
          "and playbooks to read dates. Null if it is unknown.",
      ),
    language: z
      .string()
      .nullable()
      .describe(
        "The contact's language as a BCP 47 tag, such as `pt-BR`. Agents pass it to their model. " +
          "Null if it is unknown.",
      ),
    labels: z.array(z.string()).describe("The labels that you gave the contact, at most 50."),
    attributes: metadata.describe(
      "Facts that the host application stores. Policies get them, and searches find their values.",
    ),
    identities: z
      .array(identitySchema)
      .describe("The addresses where the contact can be reached, at most 100."),
    opted_out: z
      .boolean()
      .describe(
        "Whether one of the contact's numbers has opted out of text messages (SMS and MMS).",
      ),
    sentiment: sentimentSchema
      .nullable()
      .describe(
        "How positive or negative the contact's recent messages are. Null before the first score.",
      ),
    merged_into: ids.contact
      .nullable()
      .describe("The contact that this one was merged into. A merged contact has no other data."),
    created_at: timestamp.describe("When the contact was created."),
    updated_at: timestamp.describe("When the contact's data or addresses last changed."),
    last_message_at: timestamp
      .nullable()
      .describe("The time of the last message in either direction. Null if there was none."),
  })
  .meta({ id: "Contact", description: "A person or company that you exchange messages with." });

export const contactPageSchema = pageSchema(contactSchema).meta({ id: "ContactPage" });

/** A short form of a contact, as other resources show it. */
export interface ContactReference {
  /** The id of the contact. */
  readonly id: ContactId;
  /**
   * The contact's name, or its phone number or address if the name is unknown. Empty after an
   * erasure.
   */
  readonly name: string;
  /**
   * The contact's phone number. Null if it is unknown, which is usual on webchat: a visitor has
   * only a webchat address, which is among the contact's `identities`. Use `id` to identify the
   * contact.
   */
  readonly phone: string | null;
}

export const contactReferenceSchema = z
  .strictObject({
    id: ids.contact.describe("The id of the contact."),
    name: z
      .string()
      .describe(
        "The contact's name, or its phone number or address if the name is unknown. Empty after " +
          "an erasure.",
      ),
    phone: z
      .string()
      .nullable()
      .describe(
        "The contact's phone number. Null if it is unknown, which is usual on webchat: a visitor " +
          "has only a webchat address, which is among the contact's `identities`. Use `id` to " +
          "identify the contact.",
      ),
  })
  .meta({
    id: "ContactReference",
    description: "A short form of a contact, as other resources show it.",
  });
