import { iso, isoOrNull } from "../../kernel/index.ts";
import type { ApiKey } from "./key-types.ts";
import type { KeyRow } from "./rows.ts";

export function keyResource(row: KeyRow): ApiKey {
  const { id, name, mode, scopes, last_four } = row;
  return {
    id,
    name,
    mode,
    scopes: [...scopes],
    last_four,
    created_at: iso(row.created_at),
    last_used_at: isoOrNull(row.last_used_at),
    expires_at: isoOrNull(row.expires_at),
    revoked_at: isoOrNull(row.revoked_at),
    previous_expires_at: isoOrNull(row.previous_expires_at),
  };
}
