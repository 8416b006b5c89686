/** Tenants. Single-tenant hosts never see them: there is a default one. */
import { z } from "zod";
import { ids, isTimeZone, name, text, timestamp } from "../kernel/index.ts";
import { createdKeySchema } from "./key-types.ts";

export const planSchema = z
  .strictObject({
    name: z.string(),
    requests_per_second: z.int().min(1).meta({ description: "For each API key." }),
  })
  .meta({ id: "Plan" });
export interface Plan extends z.infer<typeof planSchema> {}

export const standardPlan: Plan = { name: "standard", requests_per_second: 100 };

export const accountLimitsSchema = z
  .strictObject({
    body_bytes: z.int(),
    batch_body_bytes: z.int(),
    message_characters: z.int(),
    media_items: z.int(),
    batch_items: z.int(),
    import_rows: z.int(),
    metadata_keys: z.int(),
    metadata_characters: z.int(),
    json_depth: z.int(),
  })
  .meta({ id: "AccountLimits" });

export const accountSchema = z
  .strictObject({
    id: ids.account,
    name: z.string(),
    plan: planSchema,
    limits: accountLimitsSchema,
    time_zone: z.string().meta({ description: "IANA name." }),
    created_at: timestamp,
  })
  .meta({ id: "Account" });
export interface Account extends z.infer<typeof accountSchema> {}

export const createAccountSchema = z
  .strictObject({
    name: name(200),
    plan: z
      .strictObject({ name: name(64), requests_per_second: z.int().min(1).max(100_000) })
      .optional()
      .meta({ description: "By default standard: 100 requests a second." }),
    time_zone: text(64)
      .refine(isTimeZone, {
        error: "must be a time zone of the IANA database, such as Europe/Berlin",
      })
      .optional(),
  })
  .meta({ id: "CreateAccount" });
export interface CreateAccount extends z.infer<typeof createAccountSchema> {}

export const createdAccountSchema = z
  .strictObject({ account: accountSchema, key: createdKeySchema })
  .meta({ id: "CreatedAccount", description: "With its first key, a sandbox one." });
export interface CreatedAccount extends z.infer<typeof createdAccountSchema> {}
