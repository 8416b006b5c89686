import type { KeyId } from "../../kernel/index.ts";
import type { KeyScope } from "../../operations/index.ts";
import { json, nullable, scoped, text, time, type RowOf } from "../../ports/index.ts";

export const keys = scoped("api_keys", {
  id: text<KeyId>(),
  name: text(),
  scopes: json<readonly KeyScope[]>(),
  /** SHA-256 of the secret, in hexadecimal. The secret itself is never stored. */
  secret_hash: text(),
  last_four: text(),
  /** Hash of the secret before the last rotation, valid until `previous_expires_at`. */
  previous_hash: nullable(text()),
  previous_expires_at: nullable(time()),
  created_at: time(),
  last_used_at: nullable(time()),
  expires_at: nullable(time()),
  revoked_at: nullable(time()),
});
export interface KeyRow extends RowOf<typeof keys> {}

export const keyById = keys.key("id");
export const keyBySecretHash = keys.acrossScopes.unique("by_secret_hash", ["secret_hash"]);
export const keyByPreviousHash = keys.acrossScopes.unique("by_previous_hash", ["previous_hash"], {
  where: { column: "previous_hash", present: true },
});
