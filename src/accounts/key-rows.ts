import type { AccountId, KeyId } from "../kernel/ids.ts";
import { collection, json, nullable, text, time } from "../ports/collection.ts";
import type { Mode } from "../kernel/scope.ts";
import type { KeyScope } from "./key-types.ts";

export interface KeyRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly id: KeyId;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  /** SHA-256 of the secret, in hexadecimal. The secret itself is kept nowhere. */
  readonly secret_hash: string;
  readonly last_four: string;
  /** The secret before the last rotation, valid until `previous_expires_at`. */
  readonly previous_hash: string | null;
  readonly previous_expires_at: number | null;
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
}

export const keys = collection<KeyRow>("api_keys", {
  account_id: text,
  mode: text,
  id: text,
  name: text,
  scopes: json,
  secret_hash: text,
  last_four: text,
  previous_hash: nullable(text),
  previous_expires_at: nullable(time),
  created_at: time,
  last_used_at: nullable(time),
  expires_at: nullable(time),
  revoked_at: nullable(time),
});
export const keyById = keys.key("account_id", "mode", "id");
export const keyBySecret = keys.unique("by_secret_hash", ["secret_hash"]);
export const keyByPreviousSecret = keys.unique("by_previous_hash", ["previous_hash"], {
  where: { column: "previous_hash", present: true },
});
