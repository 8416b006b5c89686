import type { JSX } from "preact";
import { useId } from "preact/hooks";
import type { TimelineEntry } from "../../../../../src/index.ts";
import { Badge, dateTime, exactDuration, Icon } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { shownStatus } from "../words.ts";
import { describe } from "./timeline-words.ts";
import type { Diagram, Lane, Mark, PlannedEntry } from "./timeline.ts";

const lanes: readonly Lane[] = ["status", "attempt", "receipt", "other"];

const laneName = (lane: Lane): string =>
  ({
    status: t("laneStatus"),
    attempt: t("laneAttempts"),
    receipt: t("laneReceipts"),
    other: t("laneOther"),
  })[lane];

/** The diagram of a message's timeline. The list below it has the same for screen readers. */
export function TimelineDiagram({ diagram }: { readonly diagram: Diagram }): JSX.Element {
  const { marks, place, ticks, start } = diagram;
  const percent = (at: number): string => `${place(at) * 100}%`;
  const hint = useId();
  return (
    <div class="timeline">
      <div class="timeline-scroll" role="group" aria-label={t("timelineLabel")} tabIndex={0}>
        <div
          class="timeline-lanes"
          role="img"
          aria-label={t("timelineLabel")}
          aria-describedby={hint}
        >
          {lanes.map((lane) => {
            const own = marks.filter((mark) => mark.lane === lane);
            if (own.length === 0) return null;
            return (
              <div key={lane} class="timeline-lane">
                <span class="timeline-lane-name">{laneName(lane)}</span>
                <div class="timeline-track">
                  {ticks.map((at) => (
                    <span
                      key={at}
                      class="timeline-line"
                      style={{ insetInlineStart: percent(at) }}
                    />
                  ))}
                  {own.map((mark, index) => (
                    <MarkView
                      key={index}
                      mark={mark}
                      place={place}
                      isLastOfLane={index === own.length - 1}
                    />
                  ))}
                </div>
              </div>
            );
          })}
          <div class="timeline-lane timeline-axis">
            <span class="timeline-lane-name" />
            <div class="timeline-track">
              {ticks.map((at) => (
                <span
                  key={at}
                  class={`timeline-tick ${place(at) > 0.95 ? "is-last" : ""}`}
                  style={{ insetInlineStart: percent(at) }}
                >
                  {at === start ? "0" : `+${exactDuration(at - start)}`}
                </span>
              ))}
            </div>
          </div>
        </div>
      </div>
      <p class="timeline-hint muted" id={hint}>
        {t("timelineHint")}
      </p>
    </div>
  );
}

/** A bar that is shorter, as a share of the axis, has no room for its text. */
const minShareOfText = 0.1;

interface MarkViewProps {
  readonly mark: Mark;
  readonly place: (at: number) => number;
  /** Whether nothing follows it in its lane, so that its text has room. */
  readonly isLastOfLane: boolean;
}

function MarkView({ mark, place, isLastOfLane }: MarkViewProps): JSX.Element {
  const { lane, at, end, tone, entry, isIgnored } = mark;
  const { title, icon } = describe(entry);
  const shape = [
    entry.type === "planned" && "is-planned",
    isIgnored === true && "is-ignored",
    isLastOfLane && "is-last",
  ]
    .filter(Boolean)
    .join(" ");
  const tip = `${title} · ${dateTime(entry.at)}`;
  const insetInlineStart = `${place(at) * 100}%`;
  if (lane === "status" || lane === "attempt") {
    const share = place(end ?? at) - place(at);
    const hasRoom = lane === "attempt" || share >= minShareOfText || isLastOfLane;
    return (
      <span
        class={`timeline-bar tone-${tone} ${shape}`}
        style={{ insetInlineStart, inlineSize: `${share * 100}%` }}
        data-tooltip={tip}
      >
        {lane === "attempt" && <Icon name={icon} />}
        {hasRoom && <span>{barText(entry)}</span>}
      </span>
    );
  }
  return (
    <span
      class={`timeline-dot tone-${tone} ${shape}`}
      style={{ insetInlineStart }}
      data-tooltip={tip}
    >
      <Icon name={icon} />
    </span>
  );
}

function barText(entry: TimelineEntry | PlannedEntry): string {
  if (entry.type === "transition") return shownStatus(entry.to).label;
  if (entry.type === "attempt") return String(entry.number);
  return "";
}

/** Everything that happened, and what is to come, in order. */
export function TimelineList({ diagram }: { readonly diagram: Diagram }): JSX.Element {
  const rows = diagram.marks.toSorted((a, b) => a.at - b.at);
  return (
    <ol class="timeline-list">
      {rows.map(({ entry, at, tone, isIgnored }, index) => {
        const { title, icon, details: all } = describe(entry);
        // The status that follows an attempt has the attempt's error.
        const before = rows[index - 1];
        const known = before === undefined ? [] : describe(before.entry).details;
        const details = all.filter((detail) => !known.includes(detail));
        return (
          <li
            key={index}
            class={entry.type === "planned" ? "timeline-row is-planned" : "timeline-row"}
          >
            <span class={`timeline-row-icon tone-${tone}`}>
              <Icon name={icon} />
            </span>
            <div class="grow">
              <p class="timeline-row-title">
                {title}
                {isIgnored === true && <Badge>{t("receiptIgnored")}</Badge>}
              </p>
              {details.map((detail) => (
                <p key={detail} class="muted">
                  <bdi>{detail}</bdi>
                </p>
              ))}
            </div>
            <time
              class="timeline-row-time muted"
              dateTime={entry.at}
              data-tooltip={dateTime(entry.at)}
            >
              {at === diagram.start ? dateTime(entry.at) : `+${exactDuration(at - diagram.start)}`}
            </time>
          </li>
        );
      })}
    </ol>
  );
}
