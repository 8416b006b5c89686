import type { AccountId } from "../kernel/ids.ts";
import { collection, integer, text } from "../ports/collection.ts";
import type { Channel } from "../kernel/fields.ts";
import type { Mode } from "../kernel/scope.ts";

/** How many messages of a channel entered a status on a day (UTC, `2026-01-31`). */
export interface UsageRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly day: string;
  readonly channel: Channel;
  /** A status of messages. */
  readonly status: string;
  readonly messages: number;
  readonly segments: number;
}

export const usage = collection<UsageRow>(
  "usage",
  {
    account_id: text,
    mode: text,
    day: text,
    channel: text,
    status: text,
    messages: integer,
    segments: integer,
  },
  { kind: "counter" },
);
export const usageByDay = usage.key("account_id", "mode", "day", "channel", "status");
