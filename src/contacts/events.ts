import * as z from "zod";
import { defineEvent } from "../events/index.ts";
import { ids, mediumSchema, type ContactId, type Medium, type MessageId } from "../kernel/index.ts";
import { consentChangeFields, type ConsentSource } from "./consent/consent-types.ts";
import {
  contactReferenceSchema,
  contactSchema,
  type Contact,
  type ContactReference,
} from "./types.ts";

/** The data of `contact.created`. */
export interface ContactCreatedData {
  /** The new contact. */
  readonly contact: Contact;
}

export const contactCreated = defineEvent("contact.created", { contact: contactSchema });

/** The data of `contact.updated`. */
export interface ContactUpdatedData {
  /** The contact after the change. */
  readonly contact: Contact;
}

export const contactUpdated = defineEvent("contact.updated", { contact: contactSchema });

/** The data of `contact.erased`. */
export interface ContactErasedData {
  /** The contact. It no longer exists. */
  readonly contact_id: ContactId;
}

export const contactErased = defineEvent("contact.erased", { contact_id: ids.contact });

/** The data of `contact.opted_out` and `contact.opted_in`. */
export interface ConsentChangedData {
  /** The contact that has the address. */
  readonly contact: ContactReference;
  /** The medium of the address. `text` is SMS and MMS. */
  readonly medium: Medium;
  /** The contact's phone number or webchat address. */
  readonly address: string;
  /** The address of the sender that the change applies to. Null means all senders. */
  readonly sender: string | null;
  /**
   * Where the change came from. `keyword`: a message such as STOP. `api`: a call of
   * `contacts.setConsent`. `import`: an import of contacts. `carrier`: the carrier refused a
   * message because of an opt-out.
   */
  readonly source: ConsentSource;
  /**
   * The contact's message with the keyword, or the message that the carrier refused. Null for other
   * sources.
   */
  readonly message_id: MessageId | null;
}

export const consentChangedDataSchema = z
  .strictObject({
    contact: contactReferenceSchema,
    medium: mediumSchema,
    address: z.string(),
    sender: consentChangeFields.sender,
    source: consentChangeFields.source,
    message_id: ids.message.nullable(),
  })
  .meta({ id: "ConsentChangedData" });

export const contactOptedOut = {
  type: "contact.opted_out",
  data: consentChangedDataSchema,
} as const;

export const contactOptedIn = {
  type: "contact.opted_in",
  data: consentChangedDataSchema,
} as const;
