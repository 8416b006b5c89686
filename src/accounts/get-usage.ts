import { invalid, iso } from "../kernel/index.ts";
import type { Query } from "../operations/index.ts";
import { usageByDay } from "./usage-rows.ts";
import { type GetUsage, getUsageSchema, type Usage } from "./usage-types.ts";

const dayMs = 86_400_000;
const mostDays = 366;
/** Three channels and thirteen statuses a day at the most. */
const mostCounts = mostDays * 39;

/** How many messages entered which status, by day and channel; oldest day first. */
export const getUsage: Query<GetUsage, Usage> = {
  kind: "query",
  name: "usage.get",
  input: () => getUsageSchema,
  async run(reads, input, _call, now) {
    const to = input.to ?? iso(now).slice(0, 10);
    const from = input.from ?? iso(Date.parse(to) - 30 * dayMs).slice(0, 10);
    const days = (Date.parse(to) - Date.parse(from)) / dayMs + 1;
    if (days < 1) {
      throw invalid([{ parameter: "from", code: "order", message: "from must not be after to" }]);
    }
    if (days > mostDays) {
      throw invalid([
        { parameter: "from", code: "too_long", message: `must span at most ${mostDays} days` },
      ]);
    }
    const counts = await reads.range({
      index: usageByDay,
      prefix: [],
      order: "ascending",
      // Every channel sorts after the empty text, and no day after `to` comes before `~`.
      after: [from, "", ""],
      until: [`${to}~`],
      limit: mostCounts,
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
