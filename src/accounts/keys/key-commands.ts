import {
  byIdSchema,
  invalid,
  millis,
  notFound,
  TidingsError,
  withId,
  type ById,
} from "../../kernel/index.ts";
import {
  keyScopes,
  missingScopes,
  scopesOf,
  showsNothing,
  type Caller,
  type Command,
  type KeyScope,
  type Services,
} from "../../operations/index.ts";
import type { Tx } from "../../store/index.ts";
import { checkKey, hasExpired, keyExpired, secretExpiry } from "./check-key.ts";
import { drawKey } from "./key-format.ts";
import {
  createApiKeySchema,
  defaultGraceSeconds,
  rotateApiKeySchema,
  type ApiKeyWithSecret,
  type CreateApiKey,
  type RotateApiKey,
} from "./key-types.ts";
import { keyById, keys, type KeyRow } from "./rows.ts";
import { keyResource } from "./show.ts";

/** Creates a key in the caller's mode. The key never grants more than the caller has. */
export const createKey: Command<CreateApiKey, ApiKeyWithSecret> = {
  kind: "command",
  name: "apiKeys.create",
  input: () => createApiKeySchema,
  status: 201,
  shows: showsNothing,
  survivesReset: true,
  async run(tx, { name, mode, scopes: requested, expires_at }, { scope, caller, services }) {
    if (mode !== undefined && mode !== scope.mode) {
      const message = `must be ${scope.mode}: a key has the mode of the caller that creates it`;
      throw invalid([{ pointer: "/mode", code: "other_mode", message }]);
    }
    const own = scopesOf(caller);
    const scopes = requested ?? keyScopes.filter((each) => own.includes(each));
    checkScopes(scopes, caller, "A new key cannot have scopes that its creator lacks.");
    const callerExpiry = await expiryOf(tx, caller);
    const expires =
      expires_at === undefined ? callerExpiry : expires_at === null ? null : millis(expires_at);
    if (expires !== null && expires <= tx.now) {
      throw invalid([{ pointer: "/expires_at", code: "past", message: "must be in the future" }]);
    }
    if (outlives(expires, callerExpiry)) {
      throw invalid([
        {
          pointer: "/expires_at",
          code: "too_late",
          message: "must not be later than the end of the secret of this request",
        },
      ]);
    }
    return mintKey(tx, { name, scopes, expires_at: expires }, services);
  },
  onReplay: (key) => ({ ...key, secret: null }),
};

/** @throws TidingsError `insufficient_scope` if the caller lacks one of the scopes */
function checkScopes(scopes: readonly KeyScope[], caller: Caller, rule: string): void {
  const missing = missingScopes(scopes, scopesOf(caller));
  if (missing.length > 0) {
    throw new TidingsError("insufficient_scope", `The caller lacks ${missing.join(", ")}. ${rule}`);
  }
}

/**
 * When the caller's secret stops working, in milliseconds. Null means never. Read and held in this
 * transaction: the secret may have been replaced since the request was authenticated, for example
 * while its body arrived.
 * @throws TidingsError `invalid_api_key` if the secret has stopped working since
 */
async function expiryOf(tx: Tx, caller: Caller): Promise<number | null> {
  if (caller.type !== "key") return null;
  const key = await tx.get(keyById, [caller.key_id], { hold: true });
  if (key === undefined || checkKey(key, caller.secret_hash, tx.now) !== "valid") {
    throw new TidingsError("invalid_api_key", "The API key was revoked or expired meanwhile.");
  }
  return secretExpiry(key, caller.secret_hash);
}

/** Inserts a new key. Only the result contains the secret. The row keeps its hash. */
export function mintKey(
  tx: Tx,
  { name, scopes, expires_at }: Pick<KeyRow, "name" | "scopes" | "expires_at">,
  { random }: Services,
): ApiKeyWithSecret {
  const { text: secret, hash, last_four } = drawKey(tx.scope.mode, random);
  const key = tx.insert(keys, {
    id: tx.drawId("key"),
    name,
    scopes,
    secret_hash: hash,
    last_four,
    previous_hash: null,
    previous_expires_at: null,
    created_at: tx.now,
    last_used_at: null,
    expires_at,
    revoked_at: null,
  });
  return { ...keyResource(key), secret };
}

/**
 * Gives a key a new secret. The old secret stays valid for the grace period. An older secret that
 * is still in its grace period ends now. An expired or revoked key stays so: it cannot be rotated.
 */
export const rotateKey: Command<RotateApiKey & ById, ApiKeyWithSecret> = {
  kind: "command",
  name: "apiKeys.rotate",
  input: () => withId(rotateApiKeySchema, "The id of the key."),
  status: 200,
  shows: showsNothing,
  survivesReset: true,
  async run(tx, { id, grace_seconds = defaultGraceSeconds }, { scope, caller, services }) {
    const key = await tx.get(keyById, [id]);
    if (key === undefined) throw notFound("API key", id);
    checkScopes(key.scopes, caller, "Rotating a key needs all of its scopes.");
    // The list still shows it.
    if (key.revoked_at !== null) {
      throw new TidingsError("conflict", "The API key was revoked. Create a new one.");
    }
    if (hasExpired(key, tx.now)) throw new TidingsError("conflict", keyExpired);
    if (outlives(key.expires_at, await expiryOf(tx, caller))) {
      throw new TidingsError(
        "insufficient_scope",
        "The key to rotate lasts longer than the secret of this request. Rotate it with a secret " +
          "that lasts as long.",
      );
    }
    const { text: secret, hash, last_four } = drawKey(scope.mode, services.random);
    const rotated = tx.update(keys, key, {
      secret_hash: hash,
      last_four,
      previous_hash: grace_seconds === 0 ? null : key.secret_hash,
      previous_expires_at: grace_seconds === 0 ? null : tx.now + grace_seconds * 1_000,
    });
    return { ...keyResource(rotated), secret };
  },
  onReplay: (key) => ({ ...key, secret: null }),
};

/**
 * Revokes a key at once and for good. The row stays, so that the key is still listed. A key
 * cannot revoke one with scopes that it lacks, so a limited key cannot lock out administrators.
 */
export const revokeKey: Command<ById, void> = {
  kind: "command",
  name: "apiKeys.revoke",
  input: () => byIdSchema,
  status: 204,
  shows: showsNothing,
  survivesReset: true,
  async run(tx, { id }, { caller }) {
    const key = await tx.get(keyById, [id]);
    if (key === undefined) throw notFound("API key", id);
    checkScopes(key.scopes, caller, "Revoking a key needs all of its scopes.");
    if (key.revoked_at === null) tx.update(keys, key, { revoked_at: tx.now });
  },
};

/** Whether a key would stay valid after the caller's secret has ended. Null means never. */
function outlives(expires_at: number | null, callerExpiry: number | null): boolean {
  return callerExpiry !== null && (expires_at === null || expires_at > callerExpiry);
}
