import { channels, dayMs, hourMs, invalid, iso, millis, utcDay } from "../../kernel/index.ts";
import type { Query } from "../../operations/index.ts";
import { deliveryBounds } from "./count-usage.ts";
import { deliveryTimesByHour, errorsByDay, usageByDay, usageByHour } from "./rows.ts";
import {
  getErrorCountsSchema,
  getHourlyUsageSchema,
  getUsageSchema,
  type ErrorCount,
  type ErrorCounts,
  type GetErrorCounts,
  type GetHourlyUsage,
  type GetUsage,
  type HourCount,
  type HourlyUsage,
  type Usage,
} from "./usage-types.ts";

/** How far apart the first and the last day of the counts by day may be. */
const maxUsageDays = 365;
/** A day has at most 39 counts: three channels times thirteen statuses. */
const maxCounts = (maxUsageDays + 1) * 39;

/** Counts messages by day, channel and status. The oldest day comes first. */
export const getUsage: Query<GetUsage, Usage> = {
  kind: "query",
  name: "account.usage",
  input: () => getUsageSchema,
  async run(reads, input, _call, now) {
    const { from, to } = daysOf(input, now, 30, maxUsageDays);
    const counts = await reads.range({
      index: usageByDay,
      prefix: [],
      order: "ascending",
      // An empty channel sorts before every channel. `~` sorts after the last day and before the
      // next.
      after: [from, "", ""],
      until: [`${to}~`],
      limit: maxCounts,
    });
    return {
      from,
      to,
      data: counts.map(({ day, channel, status, messages, segments }) => ({
        day,
        channel,
        status,
        messages,
        segments,
      })),
    };
  },
};

const maxHourDays = 31;
const maxHours = maxHourDays * 24 + 1;

/** Returns when the hour of a time began. */
const hourOf = (ms: number): number => Math.floor(ms / hourMs) * hourMs;

/** Counts messages by hour and channel. The oldest hour comes first. */
export const getHourlyUsage: Query<GetHourlyUsage, HourlyUsage> = {
  kind: "query",
  name: "account.usageByHour",
  input: () => getHourlyUsageSchema,
  async run(reads, input, _call, now) {
    const end = input.to === undefined ? now : millis(input.to);
    const start = input.from === undefined ? end - dayMs : millis(input.from);
    checkRange(start, end, maxHourDays);
    const [from, to] = [hourOf(start), hourOf(end)];
    const range = {
      prefix: [],
      order: "ascending",
      // An empty channel sorts before every channel.
      after: [from, ""],
      until: [to + hourMs],
      ...(input.channel === undefined ? {} : { where: { channel: input.channel } }),
    } as const;
    const limit = maxHours * channels.length;
    const [counts, times] = await Promise.all([
      reads.range({ ...range, index: usageByHour, limit }),
      reads.range({
        ...range,
        index: deliveryTimesByHour,
        limit: limit * (deliveryBounds.length + 1),
      }),
    ]);
    const data = hourCounts(counts, times);
    return { from: iso(from), to: iso(to), delivery_bounds: [...deliveryBounds], data };
  },
};

interface HourAndChannel {
  readonly hour: number;
  readonly channel: HourCount["channel"];
}
type Counts = HourAndChannel & Pick<HourCount, "accepted" | "received" | "failed">;
type Times = HourAndChannel & { readonly bound: number; readonly messages: number };

/** Joins the counts and the delivery times of each hour and channel. */
function hourCounts(counts: readonly Counts[], times: readonly Times[]): HourCount[] {
  const keyOf = ({ hour, channel }: HourAndChannel): string => `${hour} ${channel}`;
  const countsOf = new Map(counts.map((each) => [keyOf(each), each]));
  const timesOf = Map.groupBy(times, keyOf);
  const all = new Map<string, HourAndChannel>(
    [...counts, ...times].map((each) => [keyOf(each), each]),
  );
  return [...all]
    .toSorted(([, a], [, b]) => a.hour - b.hour || (a.channel < b.channel ? -1 : 1))
    .map(([key, { hour, channel }]) => {
      const { accepted = 0, failed = 0, received = 0 } = countsOf.get(key) ?? {};
      const delivery_times = Array.from({ length: deliveryBounds.length + 1 }, () => 0);
      for (const { bound, messages } of timesOf.get(key) ?? []) delivery_times[bound] = messages;
      const delivered = delivery_times.reduce((sum, each) => sum + each, 0);
      return { hour: iso(hour), channel, accepted, delivered, failed, received, delivery_times };
    });
}

/** The maximum number of rows that one request reads. A row is one code of one sender and day. */
const maxErrorRows = 10_000;
const maxErrors = 100;
const maxErrorDays = 30;

/** Counts the errors of messages by sender and code. The most frequent one comes first. */
export const getErrorCounts: Query<GetErrorCounts, ErrorCounts> = {
  kind: "query",
  name: "account.errorCounts",
  input: () => getErrorCountsSchema,
  async run(reads, input, _call, now) {
    const { from, to } = daysOf(input, now, 6, maxErrorDays);
    const rows = await reads.range({
      index: errorsByDay,
      prefix: [],
      // If there are too many rows, the oldest are left out.
      order: "descending",
      // `~` sorts after the last day and before the next.
      after: [`${to}~`],
      until: [from, ""],
      limit: maxErrorRows,
    });
    const sums = new Map<string, ErrorCount>();
    for (const { sender, code, messages } of rows) {
      const key = JSON.stringify([sender, code]);
      const before = sums.get(key)?.messages ?? 0;
      sums.set(key, { sender, code, messages: before + messages });
    }
    const data = [...sums.values()].toSorted((a, b) => b.messages - a.messages);
    return { from, to, data: data.slice(0, maxErrors) };
  },
};

interface Days {
  readonly from: string;
  readonly to: string;
}

/** The days to count. `to` is today by default, and `from` is `usual` days before it. */
function daysOf(input: GetUsage, now: number, usual: number, maxDays: number): Days {
  const to = input.to ?? utcDay(now);
  const from = input.from ?? utcDay(Date.parse(to) - usual * dayMs);
  checkRange(Date.parse(from), Date.parse(to), maxDays);
  return { from, to };
}

/** Refuses a range that is reversed or longer than `maxDays`. */
function checkRange(from: number, to: number, maxDays: number): void {
  const field = { pointer: "/from" } as const;
  if (from > to) throw invalid([{ ...field, code: "order", message: "must not be after to" }]);
  if (to - from > maxDays * dayMs) {
    const message = `must be at most ${maxDays} days before to`;
    throw invalid([{ ...field, code: "too_long", message }]);
  }
}
