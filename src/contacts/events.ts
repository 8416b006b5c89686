import * as z from "zod";
import { defineEvent } from "../events/index.ts";
import { type ContactId, ids, type Medium, mediumSchema, type MessageId } from "../kernel/index.ts";
import { consentChangeFields, type ConsentSource } from "./consent/consent-types.ts";
import {
  type Contact,
  type ContactReference,
  contactReferenceSchema,
  contactSchema,
} from "./types.ts";

/**
 * A contact was created: by the API, an import, a webchat session, or the first message from or to
 * a new address.
 */
export interface ContactCreatedData {
  /** The new contact. */
  readonly contact: Contact;
}

export const contactCreatedDataSchema = z
  .strictObject({ contact: contactSchema.describe("The new contact.") })
  .describe(
    "A contact was created: by the API, an import, a webchat session, or the first message from " +
      "or to a new address.",
  );

export const contactCreated = defineEvent("contact.created", contactCreatedDataSchema);

/** A contact's data or addresses changed. */
export interface ContactUpdatedData {
  /** The contact after the change. */
  readonly contact: Contact;
}

export const contactUpdatedDataSchema = z
  .strictObject({ contact: contactSchema.describe("The contact after the change.") })
  .describe("A contact's data or addresses changed.");

export const contactUpdated = defineEvent("contact.updated", contactUpdatedDataSchema);

/** The history of an erased contact has been removed. Erase the contact from your copies, too. */
export interface ContactErasedData {
  /** The contact. It no longer exists. */
  readonly contact_id: ContactId;
}

export const contactErasedDataSchema = z
  .strictObject({ contact_id: ids.contact.describe("The contact. It no longer exists.") })
  .describe(
    "The history of an erased contact has been removed. Erase the contact from your copies, too.",
  );

export const contactErased = defineEvent("contact.erased", contactErasedDataSchema);

/** The consent of an address changed: an opt-out or an opt-in. */
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
    contact: contactReferenceSchema.describe("The contact that has the address."),
    medium: mediumSchema.describe("The medium of the address. `text` is SMS and MMS."),
    address: z.string().describe("The contact's phone number or webchat address."),
    sender: consentChangeFields.sender,
    source: consentChangeFields.source,
    message_id: ids.message
      .nullable()
      .describe(
        "The contact's message with the keyword, or the message that the carrier refused. Null " +
          "for other sources.",
      ),
  })
  .describe("The consent of an address changed: an opt-out or an opt-in.");

export const contactOptedOut = defineEvent("contact.opted_out", consentChangedDataSchema);

export const contactOptedIn = defineEvent("contact.opted_in", consentChangedDataSchema);
