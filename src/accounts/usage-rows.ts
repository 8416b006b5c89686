import { integer, type RowOf, scoped, text } from "../ports/index.ts";
import type { Channel } from "../kernel/index.ts";

/** How many messages of a channel entered a status on a day (UTC, `2026-01-31`). */
export const usage = scoped(
  "usage",
  {
    day: text(),
    channel: text<Channel>(),
    status: text(),
    messages: integer(),
    segments: integer(),
  },
  { kind: "counter" },
);
export interface UsageRow extends RowOf<typeof usage> {}

export const usageByDay = usage.key("day", "channel", "status");
