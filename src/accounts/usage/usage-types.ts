/** Counts of messages by day, by hour and by error. */
import * as z from "zod";
import {
  channelSchema,
  day,
  dayInput,
  instant,
  timestamp,
  type Channel,
} from "../../kernel/index.ts";

/** How many messages of a channel entered a status on one day. */
export interface UsageCount {
  /** The day in UTC, such as `2026-01-31`. */
  readonly day: string;
  /** The channel of the messages. */
  readonly channel: Channel;
  /**
   * A status that the messages entered. A message that is retried enters `queued` and `sending`
   * again.
   */
  readonly status: string;
  /** How many messages entered the status on this day. */
  readonly messages: number;
  /** The number of SMS segments of these messages. 0 for other channels. */
  readonly segments: number;
}

export const usageCountSchema = z
  .strictObject({
    day,
    channel: channelSchema,
    status: z.string(),
    messages: z.int().min(0),
    segments: z.int().min(0),
  })
  .meta({ id: "UsageCount" });

/** Message counts by day, channel and status. */
export interface Usage {
  /** The first day that is counted. */
  readonly from: string;
  /** The last day that is counted. */
  readonly to: string;
  /** The counts, oldest day first. Combinations without messages are left out. */
  readonly data: UsageCount[];
}

export const usageSchema = z
  .strictObject({
    from: day,
    to: day,
    data: z.array(usageCountSchema),
  })
  .meta({ id: "Usage" });

/** The days to count. */
export interface GetUsage {
  /**
   * The first day in UTC, such as `2026-01-31`. At most 365 days before the last. By default 30
   * days before it.
   */
  readonly from?: string | undefined;
  /** The last day in UTC, which is included. By default today. */
  readonly to?: string | undefined;
}

export const getUsageSchema = z
  .strictObject({
    from: dayInput.optional(),
    to: dayInput.optional(),
  })
  .meta({ interface: "GetUsage" });

/** The hours to count. */
export interface GetHourlyUsage {
  /**
   * The first hour contains this time. At most 31 days before `to`, and by default 24 hours before.
   */
  readonly from?: string | undefined;
  /** The last hour contains this time. By default now. */
  readonly to?: string | undefined;
  /** Only messages of this channel. All channels by default. */
  readonly channel?: Channel | undefined;
}

export const getHourlyUsageSchema = z
  .strictObject({
    from: instant.optional(),
    to: instant.optional(),
    channel: channelSchema.optional(),
  })
  .meta({ interface: "GetHourlyUsage" });

/** The messages of a channel in one hour. */
export interface HourCount {
  /** When the hour begins. */
  readonly hour: string;
  /** The channel of the messages. */
  readonly channel: Channel;
  /** How many messages to contacts the engine accepted. */
  readonly accepted: number;
  /** How many messages were delivered. */
  readonly delivered: number;
  /**
   * How many messages failed, expired or were not delivered. If a later receipt reports such a
   * message as delivered, it counts as delivered too.
   */
  readonly failed: number;
  /** How many messages came from contacts. */
  readonly received: number;
  /**
   * The delivered messages by how long they took, from their acceptance or from the time that they
   * were scheduled for. Each number counts the messages that took at most the seconds at the same
   * index of `delivery_bounds`, and longer than the bound before. The last number counts the
   * messages that took longer than all bounds.
   */
  readonly delivery_times: number[];
}

const hourCountSchema = z
  .strictObject({
    hour: timestamp,
    channel: channelSchema,
    accepted: z.int().min(0),
    delivered: z.int().min(0),
    failed: z.int().min(0),
    received: z.int().min(0),
    delivery_times: z.array(z.int().min(0)),
  })
  .meta({ id: "HourCount" });

/** Message counts by hour and channel. */
export interface HourlyUsage {
  /** When the first hour begins. */
  readonly from: string;
  /** When the last hour begins. */
  readonly to: string;
  /** The bounds of `delivery_times`, in seconds. */
  readonly delivery_bounds: number[];
  /** The counts, oldest hour first. Hours and channels without messages are left out. */
  readonly data: HourCount[];
}

export const hourlyUsageSchema = z
  .strictObject({
    from: timestamp,
    to: timestamp,
    delivery_bounds: z.array(z.int()),
    data: z.array(hourCountSchema),
  })
  .meta({ id: "HourlyUsage" });

/** The days of the errors to count. */
export interface GetErrorCounts {
  /**
   * The first day in UTC, such as `2026-01-31`. At most 30 days before the last. By default 6 days
   * before it.
   */
  readonly from?: string | undefined;
  /** The last day in UTC, which is included. By default today. */
  readonly to?: string | undefined;
}

export const getErrorCountsSchema = z
  .strictObject({
    from: dayInput.optional(),
    to: dayInput.optional(),
  })
  .meta({ interface: "GetErrorCounts" });

/** How many messages of a sender failed with an error. */
export interface ErrorCount {
  /** The address of the sender. */
  readonly sender: string;
  /** The code of the error, as in `error.code` of a message. */
  readonly code: string;
  /** How many messages failed, expired or were not delivered with this code. */
  readonly messages: number;
}

const errorCountSchema = z
  .strictObject({
    sender: z.string(),
    code: z.string(),
    messages: z.int().min(0),
  })
  .meta({ id: "ErrorCount" });

/** The errors of messages by sender and code. */
export interface ErrorCounts {
  /** The first day that is counted. */
  readonly from: string;
  /** The last day that is counted. */
  readonly to: string;
  /** The 100 most frequent errors, or fewer. The most frequent one comes first. */
  readonly data: ErrorCount[];
}

export const errorCountsSchema = z
  .strictObject({
    from: day,
    to: day,
    data: z.array(errorCountSchema),
  })
  .meta({ id: "ErrorCounts" });
