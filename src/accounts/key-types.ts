/** API keys: who may ask for what, and in which mode. */
import { z } from "zod";
import {
  ids,
  instant,
  modeSchema,
  name,
  pageFields,
  reference,
  timestamp,
} from "../kernel/index.ts";

/** None is implied by another. */
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
  last_four: z.string().meta({ description: "Of the current secret." }),
  created_at: timestamp,
  last_used_at: timestamp.nullable().meta({ description: "To the minute or so." }),
  expires_at: timestamp.nullable(),
  revoked_at: timestamp.nullable(),
  previous_expires_at: timestamp
    .nullable()
    .meta({ description: "Until when the secret before the last rotation still works." }),
};

export const keySchema = z.strictObject(keyFields).meta({ id: "ApiKey" });
export interface ApiKey extends z.infer<typeof keySchema> {}

export const createdKeySchema = z
  .strictObject({
    ...keyFields,
    secret: z
      .string()
      .nullable()
      .meta({ description: "Shown this once: a replay of the request answers null." }),
  })
  .meta({ id: "ApiKeyWithSecret" });
export interface CreatedKey extends z.infer<typeof createdKeySchema> {}

export const createKeySchema = z
  .strictObject({
    name: name(200),
    mode: modeSchema.optional().meta({ description: "By default the caller's." }),
    scopes: z
      .array(keyScopeSchema)
      .min(1)
      .refine((list) => new Set(list).size === list.length, {
        error: "must not name a scope twice",
      })
      .optional()
      .meta({ description: "By default the caller's; never wider than those." }),
    expires_at: instant
      .nullable()
      .optional()
      .meta({ description: "By default when the caller's key does, and never later than that." }),
  })
  .meta({ id: "CreateApiKey" });
export interface CreateKey extends z.infer<typeof createKeySchema> {}

/** A day, in seconds. */
export const defaultGraceSeconds = 86_400;

export const rotateKeySchema = z
  .strictObject({
    id: reference,
    grace_seconds: z.int().min(0).max(604_800).optional().meta({
      default: defaultGraceSeconds,
      description: "How long the old secret still works.",
    }),
  })
  .meta({ id: "RotateApiKey" });
export interface RotateKey extends z.infer<typeof rotateKeySchema> {}

export const listKeysSchema = z.strictObject(pageFields);
export interface ListKeys extends z.infer<typeof listKeysSchema> {}
