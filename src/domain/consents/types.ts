/** Who may be written to. A consent belongs to an address, so nothing done to a contact lifts it. */
import { z } from "zod";
import { mediumSchema, timestamp } from "../../fields.ts";

export const consentMediumSchema = z.enum(["text", "webchat", "all"]);
export type ConsentMedium = z.infer<typeof consentMediumSchema>;

export const consentStatusSchema = z.enum(["opted_in", "opted_out", "unknown"]);
export type ConsentStatus = z.infer<typeof consentStatusSchema>;

export const consentSourceSchema = z.enum(["keyword", "api", "import", "carrier", "human"]);
export type ConsentSource = z.infer<typeof consentSourceSchema>;

export const consentSchema = z
  .strictObject({
    medium: mediumSchema,
    address: z.string(),
    status: consentStatusSchema,
    evidence: z.array(
      z.strictObject({
        status: z.enum(["opted_in", "opted_out"]),
        source: consentSourceSchema,
        message_id: z.string().nullable().meta({ description: "The inbound that said so." }),
        detail: z.string().nullable(),
        at: timestamp,
      }),
    ),
    updated_at: timestamp.nullable(),
  })
  .meta({ id: "Consent", description: "What an address allows, and how that is known. Newest evidence first." });
export interface Consent extends z.infer<typeof consentSchema> {}
