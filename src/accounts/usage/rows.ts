import type { Channel } from "../../kernel/index.ts";
import { integer, scoped, text, time } from "../../ports/index.ts";

/** How many messages of a channel entered a status on a day in UTC (`2026-01-31`). */
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

export const usageByDay = usage.key("day", "channel", "status");

/** The messages of a channel in one hour. */
export const hourlyUsage = scoped(
  "hourly_usage",
  {
    /** When the hour began. */
    hour: time(),
    channel: text<Channel>(),
    accepted: integer(),
    received: integer(),
    failed: integer(),
  },
  { kind: "counter" },
);

export const usageByHour = hourlyUsage.key("hour", "channel");

/** The deliveries of an hour by the time that they took. A narrow row is cheap to add to. */
export const deliveryTimes = scoped(
  "delivery_times",
  {
    hour: time(),
    channel: text<Channel>(),
    /** The place of the lowest bound that is not below the time. */
    bound: integer(),
    messages: integer(),
  },
  { kind: "counter" },
);

export const deliveryTimesByHour = deliveryTimes.key("hour", "channel", "bound");

/** How many messages of a sender failed with a code on a day in UTC. */
export const errorCounts = scoped(
  "error_counts",
  { day: text(), sender: text(), code: text(), messages: integer() },
  { kind: "counter" },
);

export const errorsByDay = errorCounts.key("day", "sender", "code");
