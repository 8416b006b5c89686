import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { HourlyUsage } from "../../../../../src/index.ts";
import {
  api,
  channelName,
  channels,
  exactDuration,
  go,
  linkTo,
  LoadState,
  number,
  place,
  Select,
  timeNow,
  useResource,
} from "../../../shared/browser/index.ts";
import { useCoalesced, useLive } from "../live.ts";
import { Card, PageView } from "../parts/layout.tsx";
import { Figure } from "../parts/values.tsx";
import { t } from "../texts.ts";
import { Errors, Waiting } from "./backlog.tsx";
import { Chart } from "./chart.tsx";
import { measures, seriesOf, type Measure, type Series } from "./counts.ts";

/** The time ranges, and how many hours each point of their charts sums. */
const ranges = {
  day: { hours: 24, bucket: 1 },
  week: { hours: 7 * 24, bucket: 6 },
  month: { hours: 30 * 24, bucket: 24 },
} as const;
type RangeName = keyof typeof ranges;

const isRange = (name: string | undefined): name is RangeName =>
  name !== undefined && Object.hasOwn(ranges, name);

const hourMs = 3_600_000;
const refreshMs = 60_000;
const liveDelayMs = 3000;

const colors: { readonly [measure in Measure]: string } = {
  accepted: "--color-accent",
  delivered: "--color-good",
  failed: "--color-bad",
  received: "--color-warn",
};

const measureName = (measure: Measure): string =>
  ({
    accepted: t("measureAccepted"),
    delivered: t("statusDelivered"),
    failed: t("statusFailed"),
    received: t("statusReceived"),
  })[measure];

/** How the account's messages go, over time and now. */
export function OverviewPage(): JSX.Element {
  const { query } = place.value;
  const range: RangeName = isRange(query["range"]) ? query["range"] : "day";
  const channel = query["channel"];
  const usage = useResource<HourlyUsage>(
    (signal) => {
      const from = new Date(timeNow() - (ranges[range].hours - 1) * hourMs).toISOString();
      return api.get("v1/usage/hours", { query: { from, channel }, signal });
    },
    [range, channel],
  );
  const [version, setVersion] = useState(0);
  const refresh = useCoalesced(async () => {
    setVersion((before) => before + 1);
    await usage.reload();
  }, liveDelayMs);
  useEffect(() => {
    const timer = setInterval(refresh, refreshMs);
    return () => clearInterval(timer);
  }, []);
  useLive({
    onEvent: ({ type }) => {
      if (type.startsWith("message.")) refresh();
    },
    onGap: refresh,
  });
  const { data } = usage;
  const series = useMemo(() => data && seriesOf(data, ranges[range].bucket), [data]);
  return (
    <PageView
      title={t("overview")}
      about={t("overviewAbout")}
      actions={<Choice range={range} channel={channel} />}
    >
      {series === undefined && <LoadState of={usage} rows={8} />}
      {series && <Figures of={series} />}
      {series && <Charts of={series} />}
      <div class="overview-tables">
        <Waiting version={version} />
        <Errors version={version} />
      </div>
    </PageView>
  );
}

interface ChoiceProps {
  readonly range: RangeName;
  readonly channel: string | undefined;
}

function Choice({ range, channel }: ChoiceProps): JSX.Element {
  return (
    <>
      <Select
        label={t("columnChannel")}
        isLabelHidden
        value={channel ?? ""}
        options={[
          { value: "", label: t("channelsAll") },
          ...channels.map((value) => ({ value, label: channelName(value) })),
        ]}
        onChange={(chosen) => go(linkTo(["overview"], { range, channel: chosen }), true)}
      />
      <Select
        label={t("range")}
        isLabelHidden
        value={range}
        options={[
          { value: "day", label: t("rangeDay") },
          { value: "week", label: t("rangeWeek") },
          { value: "month", label: t("rangeMonth") },
        ]}
        onChange={(chosen) => go(linkTo(["overview"], { range: chosen, channel }), true)}
      />
    </>
  );
}

function Figures({ of: { totals, totalMedian } }: { readonly of: Series }): JSX.Element {
  const ended = totals.delivered + totals.failed;
  const rate = ended === 0 ? undefined : totals.delivered / ended;
  const isPoor = rate !== undefined && rate < 0.9;
  return (
    <dl class="figures">
      <Figure name={t("measureAccepted")} value={number(totals.accepted)} />
      <Figure
        name={t("statusDelivered")}
        value={number(totals.delivered)}
        {...(rate !== undefined && {
          note: t("deliveredShare", {
            share: number(rate, { style: "percent", maximumFractionDigits: 1 }),
          }),
        })}
      />
      <Figure
        name={t("statusFailed")}
        value={number(totals.failed)}
        tone={isPoor ? "bad" : "neutral"}
      />
      <Figure name={t("statusReceived")} value={number(totals.received)} />
      <Figure
        name={t("deliveryMedian")}
        value={totalMedian === null ? "–" : exactDuration(totalMedian * 1000)}
      />
    </dl>
  );
}

function Charts({ of }: { readonly of: Series }): JSX.Element {
  const { times, counts, median, slow, totals, totalMedian, totalSlow } = of;
  return (
    <div class="overview-charts">
      <Card title={t("messages")}>
        <Chart
          label={t("messages")}
          times={times}
          format={(value) => (Number.isInteger(value) ? number(value) : "")}
          lines={measures.map((measure) => ({
            name: measureName(measure),
            color: colors[measure],
            values: counts[measure],
            total: totals[measure],
          }))}
        />
      </Card>
      <Card title={t("deliveryTime")}>
        <Chart
          label={t("deliveryTime")}
          times={times}
          format={(value) => exactDuration(value * 1000)}
          lines={[
            { name: t("median"), color: "--color-accent", values: median, total: totalMedian },
            { name: t("percentile95"), color: "--color-warn", values: slow, total: totalSlow },
          ]}
        />
      </Card>
    </div>
  );
}
