import type { KeyId } from "../kernel/index.ts";
import { json, nullable, type RowOf, scoped, text, time } from "../ports/index.ts";
import type { KeyScope } from "./key-types.ts";

export const keys = scoped("api_keys", {
  id: text<KeyId>(),
  name: text(),
  scopes: json<readonly KeyScope[]>(),
  /** SHA-256 of the secret, in hexadecimal. The secret itself is kept nowhere. */
  secret_hash: text(),
  last_four: text(),
  /** The secret before the last rotation, valid until `previous_expires_at`. */
  previous_hash: nullable(text()),
  previous_expires_at: nullable(time()),
  created_at: time(),
  last_used_at: nullable(time()),
  expires_at: nullable(time()),
  revoked_at: nullable(time()),
});
export interface KeyRow extends RowOf<typeof keys> {}

export const keyById = keys.key("id");
export const keyBySecret = keys.acrossScopes.unique("by_secret_hash", ["secret_hash"]);
export const keyByPreviousSecret = keys.acrossScopes.unique("by_previous_hash", ["previous_hash"], {
  where: { column: "previous_hash", present: true },
});
