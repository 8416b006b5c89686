/** API keys: the schemas of the API. */
import * as z from "zod";
import {
  distinct,
  ids,
  instant,
  modeSchema,
  name,
  timestamp,
  type KeyId,
  type Mode,
} from "../../kernel/index.ts";
import { keyScopes, type KeyScope } from "../../operations/index.ts";

export const keyScopeSchema = z.enum(keyScopes).meta({ id: "KeyScope" });

const keyFields = {
  id: ids.key,
  name: z.string(),
  mode: modeSchema,
  scopes: z.array(keyScopeSchema),
  last_four: z.string(),
  created_at: timestamp,
  last_used_at: timestamp.nullable(),
  expires_at: timestamp.nullable(),
  revoked_at: timestamp.nullable(),
  previous_expires_at: timestamp.nullable(),
};

/** An API key without its secret. It gives access to one account in one mode. */
export interface ApiKey {
  /** The id of the key. */
  readonly id: KeyId;
  /** The name that people know the key by. */
  readonly name: string;
  /** The mode of the key. The key reaches only the data of this mode. */
  readonly mode: Mode;
  /** What the key may do. */
  readonly scopes: KeyScope[];
  /** The last four characters of the current secret. */
  readonly last_four: string;
  /** When the key was created. */
  readonly created_at: string;
  /** When the key was last used, to about a minute. Null if it was never used. */
  readonly last_used_at: string | null;
  /** When the key stops working. Null if it does not expire. */
  readonly expires_at: string | null;
  /** When the key was revoked. Null if it was not. A revoked key does not work. */
  readonly revoked_at: string | null;
  /**
   * When the secret before the last rotation stops working. Null if the key was never rotated, or
   * was last rotated without a grace period.
   */
  readonly previous_expires_at: string | null;
}

export const apiKeySchema = z.strictObject(keyFields).meta({ id: "ApiKey" });

/** An API key with its new secret, as creating or rotating it returns it. */
export interface ApiKeyWithSecret extends ApiKey {
  /**
   * The text to send as `Authorization: Bearer`. Returned once: a replay of the request returns
   * null.
   */
  readonly secret: string | null;
}

export const apiKeyWithSecretSchema = z
  .strictObject({
    ...keyFields,
    secret: z.string().nullable(),
  })
  .meta({ id: "ApiKeyWithSecret" });

/** A new API key. */
export interface CreateApiKey {
  /** A name for people, up to 200 characters. */
  readonly name: string;
  /** The mode of the key. It must be the caller's mode, which is also the default. */
  readonly mode?: Mode | undefined;
  /**
   * What the key may do: a subset of the caller's scopes. By default all of them. The host
   * application has all scopes.
   */
  readonly scopes?: readonly KeyScope[] | undefined;
  /**
   * When the key stops working. Null means never. At the latest, that is when the secret of the
   * request stops working. This is also the default.
   */
  readonly expires_at?: string | null | undefined;
}

export const createApiKeySchema = z
  .strictObject({
    name: name(200),
    mode: modeSchema.optional(),
    scopes: distinct(
      z.array(keyScopeSchema).min(1).max(keyScopes.length),
      "must not contain a scope twice",
    ).optional(),
    expires_at: instant.nullable().optional(),
  })
  .meta({ id: "CreateApiKey" });

/** How long a rotated key's old secret stays valid by default: one day. */
export const defaultGraceSeconds = 86_400;

/** The rotation of an API key. */
export interface RotateApiKey {
  /**
   * How long the old secret stays valid, in seconds: at most 604,800, which is 7 days. 0 ends it at
   * once.
   * @default 86400
   */
  readonly grace_seconds?: number | undefined;
}

export const rotateApiKeySchema = z
  .strictObject({
    grace_seconds: z.int().min(0).max(604_800).optional().meta({ default: defaultGraceSeconds }),
  })
  .meta({ id: "RotateApiKey" });
