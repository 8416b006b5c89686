import type { Services } from "../operations/index.ts";
import { iso } from "../kernel/index.ts";
import type { AccountRow } from "./rows.ts";
import type { Account } from "./types.ts";

export function accountResource(
  row: AccountRow,
  { limits, timeZone }: Pick<Services, "limits" | "timeZone">,
): Account {
  const { id, name, plan, requests_per_second, created_at } = row;
  const time_zone = row.time_zone ?? timeZone;
  return {
    id,
    name,
    plan: { name: plan, requests_per_second },
    limits,
    time_zone,
    created_at: iso(created_at),
  };
}
