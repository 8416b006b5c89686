import { iso, type Limits } from "../kernel/index.ts";
import type { Services } from "../operations/index.ts";
import type { AccountRow } from "./rows.ts";
import type { Account, AccountLimits } from "./types.ts";

export function accountResource(
  row: AccountRow,
  { limits, timeZone }: Pick<Services, "limits" | "timeZone">,
): Account {
  const { id, name, plan, requests_per_second, created_at } = row;
  const { opt_out_text, opt_in_text, help_text, quiet_hours } = row;
  const time_zone = row.time_zone ?? timeZone;
  return {
    id,
    name,
    plan: { name: plan, requests_per_second },
    limits: accountLimits(limits),
    time_zone,
    opt_out_text,
    opt_in_text,
    help_text,
    quiet_hours,
    created_at: iso(created_at),
  };
}

function accountLimits(limits: Limits): AccountLimits {
  return {
    body_bytes: limits.bodyBytes,
    batch_body_bytes: limits.batchBodyBytes,
    message_characters: limits.messageCharacters,
    media_items: limits.mediaItems,
    batch_items: limits.batchItems,
    import_rows: limits.importRows,
    metadata_keys: limits.metadataKeys,
    metadata_characters: limits.metadataCharacters,
    json_depth: limits.jsonDepth,
  };
}
