import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import {
  channelName,
  channels,
  dateTime,
  go,
  linkTo,
  placeNow,
  Select,
  timeNow,
} from "../../../shared/browser/index.ts";
import { SearchField } from "../parts/search-field.tsx";
import { t } from "../texts.ts";
import { shownStatus, statusNames } from "../words.ts";

const filterNames = [
  "status",
  "direction",
  "channel",
  "to",
  "contact_id",
  "created_after",
] as const;

/** The filters that are set. */
export type Filters = Readonly<Partial<Record<(typeof filterNames)[number], string>>>;

/** The filters in the address of the page. */
export function filtersOf(query: Readonly<Record<string, string>>): Filters {
  const given = filterNames.map((name) => [name, query[name]] as const);
  return Object.fromEntries(
    given.filter(
      ([name, value = ""]) => value !== "" && (name !== "created_after" || isTime(value)),
    ),
  );
}

const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text));

const typingPauseMs = 350;
const spans = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 } as const;

/** The filters of the messages. They are in the address of the page. */
export function MessageFilters({ filters }: { readonly filters: Filters }): JSX.Element {
  const set = (name: keyof Filters, value: string): void =>
    go(linkTo(["messages"], { ...filters, [name]: value }), true);
  /** What is typed and not applied. Undefined once it is. */
  const [typed, setTyped] = useState<string>();
  // An effect that waits for the next frame could apply an older text meanwhile, and lose the rest.
  useLayoutEffect(() => {
    if (typed === undefined) return;
    const timer = setTimeout(() => {
      const { query } = placeNow();
      go(linkTo(["messages"], { ...query, to: typed.replaceAll(/[\s().-]/g, "") }), true);
      setTyped(undefined);
    }, typingPauseMs);
    return () => clearTimeout(timer);
  }, [typed]);
  const any = { value: "", label: t("any") };
  return (
    <div class="filters" role="search" aria-label={t("filters")}>
      <Select
        label={t("columnStatus")}
        value={filters.status ?? ""}
        options={[any, ...statusNames.map((value) => ({ value, label: shownStatus(value).label }))]}
        onChange={(value) => set("status", value)}
      />
      <Select
        label={t("columnDirection")}
        value={filters.direction ?? ""}
        options={[
          any,
          { value: "outbound", label: t("outbound") },
          { value: "inbound", label: t("inbound") },
        ]}
        onChange={(value) => set("direction", value)}
      />
      <Select
        label={t("columnChannel")}
        value={filters.channel ?? ""}
        options={[any, ...channels.map((value) => ({ value, label: channelName(value) }))]}
        onChange={(value) => set("channel", value)}
      />
      <Select
        label={t("filterSince")}
        value={filters.created_after ?? ""}
        options={[
          any,
          ...sinceOptions(),
          ...(filters.created_after === undefined
            ? []
            : [{ value: filters.created_after, label: dateTime(filters.created_after) }]),
        ]}
        onChange={(value) => set("created_after", value)}
      />
      <SearchField
        label={t("filterTo")}
        placeholder="+15005550001"
        value={typed ?? filters.to ?? ""}
        onChange={setTyped}
      />
    </div>
  );
}

/** The beginning of the last hour, day and week, to the minute. */
function sinceOptions(): { value: string; label: string }[] {
  const now = Math.floor(timeNow() / 60_000) * 60_000;
  return (["hour", "day", "week"] as const).map((name) => ({
    value: new Date(now - spans[name]).toISOString(),
    label: t(name === "hour" ? "sinceHour" : name === "day" ? "sinceDay" : "sinceWeek"),
  }));
}
