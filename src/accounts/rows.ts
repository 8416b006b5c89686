import type { AccountId } from "../kernel/ids.ts";
import { collection, integer, nullable, text, time } from "../ports/collection.ts";

export interface AccountRow {
  readonly id: AccountId;
  readonly name: string;
  readonly plan: string;
  /** Requests in any one second for each of its keys. */
  readonly requests_per_second: number;
  /** Null: the one that the host gave the engine. */
  readonly time_zone: string | null;
  readonly created_at: number;
}

export const accounts = collection<AccountRow>("accounts", {
  id: text,
  name: text,
  plan: text,
  requests_per_second: integer,
  time_zone: nullable(text),
  created_at: time,
});
export const accountById = accounts.key("id");
