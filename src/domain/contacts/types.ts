/** People at the other end, whatever address they write from. */
import { z } from "zod";
import { ids, mediumSchema, metadata, timestamp } from "../../fields.ts";
import { sentimentSchema } from "../sentiment/types.ts";

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
    opted_out: z.boolean().meta({ description: "From text messages: sms and mms." }),
    sentiment: sentimentSchema.nullable(),
    merged_into: ids.contact.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    last_message_at: timestamp.nullable(),
  })
  .meta({ id: "Contact" });
export interface Contact extends z.infer<typeof contactSchema> {}

export const contactReferenceSchema = z
  .strictObject({
    id: ids.contact,
    name: z.string().meta({ description: "The phone number where no name is known." }),
    phone: z.string().nullable(),
  })
  .meta({ id: "ContactReference", description: "Who it is about, as far as others show it." });
export interface ContactReference extends z.infer<typeof contactReferenceSchema> {}
