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
    medium: mediumSchema,
    address: z.string(),
  })
  .meta({ id: "Identity" });

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
    id: ids.contact,
    name: z.string().nullable(),
    phone: z.string().nullable(),
    email: z.string().nullable(),
    time_zone: z.string().nullable(),
    language: z.string().nullable(),
    labels: z.array(z.string()),
    attributes: metadata,
    identities: z.array(identitySchema),
    opted_out: z.boolean(),
    sentiment: sentimentSchema.nullable(),
    merged_into: ids.contact.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    last_message_at: timestamp.nullable(),
  })
  .meta({ id: "Contact" });

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
    id: ids.contact,
    name: z.string(),
    phone: z.string().nullable(),
  })
  .meta({ id: "ContactReference" });
