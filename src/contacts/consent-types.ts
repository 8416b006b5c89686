/** Who may be written to. A consent belongs to an address, so nothing done to a contact lifts it. */
import { z } from "zod";
import { mediumSchema, reference, text, timestamp } from "../kernel/index.ts";

export const consentMediumSchema = z.enum(["text", "webchat", "all"]);
export type ConsentMedium = z.infer<typeof consentMediumSchema>;

export const consentStatusSchema = z.enum(["opted_in", "opted_out", "unknown"]);
export type ConsentStatus = z.infer<typeof consentStatusSchema>;

export const consentSourceSchema = z.enum(["keyword", "api", "import", "carrier", "human"]);
export type ConsentSource = z.infer<typeof consentSourceSchema>;

/** What a keyword asks for. */
export type Keyword = "opt_out" | "opt_in" | "help";

export const consentSchema = z
  .strictObject({
    medium: mediumSchema,
    address: z.string(),
    status: consentStatusSchema,
    opted_out_of: z
      .array(z.string())
      .meta({ description: "Senders that it opted out of one by one, whatever the status." }),
    opted_in_to: z
      .array(z.string())
      .meta({ description: "Senders that it opted in to one by one, whatever the status." }),
    evidence: z.array(
      z.strictObject({
        status: z.enum(["opted_in", "opted_out"]),
        source: consentSourceSchema,
        sender: z
          .string()
          .nullable()
          .meta({ description: "The sender that it is about; null: all." }),
        message_id: z.string().nullable().meta({ description: "The inbound that said so." }),
        detail: z.string().nullable(),
        at: timestamp,
      }),
    ),
    updated_at: timestamp.nullable(),
  })
  .meta({
    id: "Consent",
    description: "What an address allows, and how that is known. Newest evidence first.",
  });
export interface Consent extends z.infer<typeof consentSchema> {}

export const consentsSchema = z
  .strictObject({ data: z.array(consentSchema) })
  .meta({ id: "Consents" });
export interface Consents extends z.infer<typeof consentsSchema> {}

export const setConsentSchema = z
  .strictObject({
    id: reference,
    medium: consentMediumSchema,
    status: z.enum(["opted_in", "opted_out"]),
    detail: text(500).optional().meta({
      description:
        "How that is known; kept as evidence for as long as the contact has the address.",
    }),
  })
  .meta({ id: "SetConsent" });
export interface SetConsent extends z.infer<typeof setConsentSchema> {}
