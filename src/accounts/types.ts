/** API keys, usage and accounts: the schemas of the API. */
import { z } from "zod";
import {
  channelSchema,
  ids,
  instant,
  isTimeZone,
  modeSchema,
  name,
  pageFields,
  reference,
  text,
  timestamp,
} from "../kernel/index.ts";

/** The scopes of API keys. No scope includes another. */
export const scopes = [
  "messages:read",
  "messages:write",
  "contacts:read",
  "contacts:write",
  "conversations:read",
  "conversations:write",
  "agents:read",
  "agents:write",
  "agents:trigger",
  "webhooks:read",
  "webhooks:write",
  "events:read",
  "keys:manage",
  "senders:manage",
  "sandbox:write",
] as const;
export const keyScopeSchema = z.enum(scopes).meta({ id: "KeyScope" });
export type KeyScope = z.infer<typeof keyScopeSchema>;

const keyFields = {
  id: ids.key,
  name: z.string(),
  mode: modeSchema,
  scopes: z.array(keyScopeSchema),
  last_four: z.string().describe("The last four characters of the current secret."),
  created_at: timestamp,
  last_used_at: timestamp.nullable().describe("When the key was last used, to about a minute."),
  expires_at: timestamp.nullable(),
  revoked_at: timestamp.nullable(),
  previous_expires_at: timestamp
    .nullable()
    .describe("When the secret before the last rotation stops working."),
};

export const keySchema = z.strictObject(keyFields).meta({ id: "ApiKey" });
export interface ApiKey extends z.infer<typeof keySchema> {}

export const createdKeySchema = z
  .strictObject({
    ...keyFields,
    secret: z.string().nullable().describe("Returned once. A replay of the request returns null."),
  })
  .meta({ id: "ApiKeyWithSecret" });
export interface CreatedKey extends z.infer<typeof createdKeySchema> {}

export const createKeySchema = z
  .strictObject({
    name: name(200),
    mode: modeSchema.optional().describe("The mode of the calling key, which is also the default."),
    scopes: z
      .array(keyScopeSchema)
      .min(1)
      .refine((list) => new Set(list).size === list.length, {
        error: "must not contain a scope twice",
      })
      .optional()
      .describe("A subset of the calling key's scopes. By default all of them."),
    expires_at: instant
      .nullable()
      .optional()
      .describe("Not later than the calling key expires, which is also the default."),
  })
  .meta({ id: "CreateApiKey" });
export interface CreateKey extends z.infer<typeof createKeySchema> {}

/** How long a rotated key's old secret stays valid by default: one day. */
export const defaultGraceSeconds = 86_400;

export const rotateKeySchema = z
  .strictObject({
    id: reference,
    grace_seconds: z.int().min(0).max(604_800).optional().meta({
      default: defaultGraceSeconds,
      description: "How long the old secret stays valid, in seconds.",
    }),
  })
  .meta({ id: "RotateApiKey" });
export interface RotateKey extends z.infer<typeof rotateKeySchema> {}

export const listKeysSchema = z.strictObject(pageFields);
export interface ListKeys extends z.infer<typeof listKeysSchema> {}

export const planSchema = z
  .strictObject({
    name: z.string(),
    requests_per_second: z.int().min(1).describe("The limit of each API key."),
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

/** An account is a tenant. A host application with a single tenant uses the default account. */
export const accountSchema = z
  .strictObject({
    id: ids.account,
    name: z.string(),
    plan: planSchema,
    limits: accountLimitsSchema,
    time_zone: z.string().describe("An IANA time zone name."),
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
      .describe("By default the plan `standard` with 100 requests per second."),
    time_zone: text(64)
      .refine(isTimeZone, {
        error: "must be an IANA time zone name, such as Europe/Berlin",
      })
      .optional(),
  })
  .meta({ id: "CreateAccount" });
export interface CreateAccount extends z.infer<typeof createAccountSchema> {}

export const createdAccountSchema = z
  .strictObject({ account: accountSchema, key: createdKeySchema })
  .meta({
    id: "CreatedAccount",
    description: "The account and its first API key, which is for its sandbox.",
  });
export interface CreatedAccount extends z.infer<typeof createdAccountSchema> {}

const day = z.iso.date();

export const usageCountSchema = z
  .strictObject({
    day: day.describe("The day in UTC."),
    channel: channelSchema,
    status: z
      .string()
      .describe(
        "A status that the messages entered. A message that is retried enters `queued` and " +
          "`sending` again.",
      ),
    messages: z.int().min(0),
    segments: z.int().min(0),
  })
  .meta({ id: "UsageCount" });
export interface UsageCount extends z.infer<typeof usageCountSchema> {}

export const usageSchema = z
  .strictObject({ from: day, to: day, data: z.array(usageCountSchema) })
  .meta({ id: "Usage" });
export interface Usage extends z.infer<typeof usageSchema> {}

export const getUsageSchema = z.strictObject({
  from: day.optional().describe("First day, inclusive. By default 30 days before the last."),
  to: day.optional().describe("Last day, inclusive. By default today."),
});
export interface GetUsage extends z.infer<typeof getUsageSchema> {}
