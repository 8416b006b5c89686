import { z } from "zod";
import { defineEvent } from "../events/index.ts";
import { ids, mediumSchema } from "../kernel/index.ts";
import { consentSourceSchema } from "./consent.ts";
import { contactReferenceSchema, contactSchema } from "./types.ts";

export const contactCreated = defineEvent(
  "contact.created",
  z.strictObject({ contact: contactSchema }),
);

export const contactUpdated = defineEvent(
  "contact.updated",
  z.strictObject({ contact: contactSchema }),
);

const consentChange = z.strictObject({
  contact: contactReferenceSchema,
  medium: mediumSchema,
  address: z.string(),
  sender: z
    .string()
    .nullable()
    .describe("The sender that the change applies to. Null means all senders."),
  source: consentSourceSchema,
  message_id: ids.message.nullable(),
});

export const contactOptedOut = defineEvent("contact.opted_out", consentChange);

export const contactOptedIn = defineEvent("contact.opted_in", consentChange);
