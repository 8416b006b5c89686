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
    day: day.describe("The day in UTC, such as `2026-01-31`."),
    channel: channelSchema.describe("The channel of the messages."),
    status: z
      .string()
      .describe(
        "A status that the messages entered. A message that is retried enters `queued` and " +
          "`sending` again.",
      ),
    messages: z.int().min(0).describe("How many messages entered the status on this day."),
    segments: z
      .int()
      .min(0)
      .describe("The number of SMS segments of these messages. 0 for other channels."),
  })
  .meta({
    id: "UsageCount",
    description: "How many messages of a channel entered a status on one day.",
  });

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
    from: day.describe("The first day that is counted."),
    to: day.describe("The last day that is counted."),
    data: z
      .array(usageCountSchema)
      .describe("The counts, oldest day first. Combinations without messages are left out."),
  })
  .meta({ id: "Usage", description: "Message counts by day, channel and status." });

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
    from: dayInput
      .optional()
      .describe(
        "The first day in UTC, such as `2026-01-31`. At most 365 days before the last. By default " +
          "30 days before it.",
      ),
    to: dayInput.optional().describe("The last day in UTC, which is included. By default today."),
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
    from: instant
      .optional()
      .describe(
        "The first hour contains this time. At most 31 days before `to`, and by default 24 hours " +
          "before.",
      ),
    to: instant.optional().describe("The last hour contains this time. By default now."),
    channel: channelSchema
      .optional()
      .describe("Only messages of this channel. All channels by default."),
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
    hour: timestamp.describe("When the hour begins."),
    channel: channelSchema.describe("The channel of the messages."),
    accepted: z.int().min(0).describe("How many messages to contacts the engine accepted."),
    delivered: z.int().min(0).describe("How many messages were delivered."),
    failed: z
      .int()
      .min(0)
      .describe(
        "How many messages failed, expired or were not delivered. If a later receipt reports " +
          "such a message as delivered, it counts as delivered too.",
      ),
    received: z.int().min(0).describe("How many messages came from contacts."),
    delivery_times: z
      .array(z.int().min(0))
      .describe(
        "The delivered messages by how long they took, from their acceptance or from the time " +
          "that they were scheduled for. Each number counts the messages that took at most the " +
          "seconds at the same index of `delivery_bounds`, and longer than the bound before. The " +
          "last number counts the messages that took longer than all bounds.",
      ),
  })
  .meta({ id: "HourCount", description: "The messages of a channel in one hour." });

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
    from: timestamp.describe("When the first hour begins."),
    to: timestamp.describe("When the last hour begins."),
    delivery_bounds: z.array(z.int()).describe("The bounds of `delivery_times`, in seconds."),
    data: z
      .array(hourCountSchema)
      .describe("The counts, oldest hour first. Hours and channels without messages are left out."),
  })
  .meta({ id: "HourlyUsage", description: "Message counts by hour and channel." });

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
    from: dayInput
      .optional()
      .describe(
        "The first day in UTC, such as `2026-01-31`. At most 30 days before the last. By default 6 " +
          "days before it.",
      ),
    to: dayInput.optional().describe("The last day in UTC, which is included. By default today."),
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
    sender: z.string().describe("The address of the sender."),
    code: z.string().describe("The code of the error, as in `error.code` of a message."),
    messages: z
      .int()
      .min(0)
      .describe("How many messages failed, expired or were not delivered with this code."),
  })
  .meta({ id: "ErrorCount", description: "How many messages of a sender failed with an error." });

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
    from: day.describe("The first day that is counted."),
    to: day.describe("The last day that is counted."),
    data: z
      .array(errorCountSchema)
      .describe("The 100 most frequent errors, or fewer. The most frequent one comes first."),
  })
  .meta({ id: "ErrorCounts", description: "The errors of messages by sender and code." });
