import { drawKey } from "./key-format.ts";
import { keyResource } from "./key-resource.ts";
import { keys, type KeyRow } from "./key-rows.ts";
import { widerThan } from "./key-rules.ts";
import type { CreatedKey, KeyScope } from "./key-types.ts";
import { TidingsError } from "../kernel/index.ts";
import type { Caller, Services } from "../operations/index.ts";
import type { Tx } from "../store/index.ts";

/** @throws TidingsError `insufficient_scope` when a key would hand out more than it has */
export function refuseWider(scopes: readonly KeyScope[], caller: Caller): void {
  const wider = caller.type === "key" ? widerThan(scopes, caller.scopes) : [];
  if (wider.length > 0) {
    throw new TidingsError("insufficient_scope", `This key has no ${wider.join(", ")} to give.`);
  }
}

/** When the caller's own right ends, in milliseconds; null: never. */
export function endOf(caller: Caller): number | null {
  return caller.type === "key" ? caller.expires_at : null;
}

/** Writes a new key. Its secret is in the answer and nowhere else. */
export function mintKey(
  tx: Tx,
  { name, scopes, expires_at }: Pick<KeyRow, "name" | "scopes" | "expires_at">,
  { drawId, random }: Services,
): CreatedKey {
  const { text: secret, hash, last_four } = drawKey(tx.scope.mode, random);
  const key = tx.insert(keys, {
    id: drawId("key"),
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
