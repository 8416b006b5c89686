import type { Limits } from "../../options.ts";
import { iso } from "../time.ts";
import type { AccountRow } from "./rows.ts";
import type { Account } from "./types.ts";

export function accountResource(row: AccountRow, limits: Limits): Account {
  const { id, name, plan, requests_per_second, time_zone, created_at } = row;
  return { id, name, plan: { name: plan, requests_per_second }, limits, time_zone, created_at: iso(created_at) };
}
