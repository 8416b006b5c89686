/** Draws lines over time. This file is loaded with the first chart. */
import uPlot from "uplot";
import { dateTime, shortTime, time } from "../../../shared/browser/index.ts";

/** One line of a chart. */
export interface PlottedLine {
  /** The name of a color of the theme: `--color-accent`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
}

/** What a chart shows. */
export interface Plotted {
  /** In seconds since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly PlottedLine[];
  readonly format: (value: number) => string;
}

/** A drawn chart. */
export interface Plot {
  readonly destroy: () => void;
}

const height = 220;
/** The space between a label and the lines, in pixels. */
const labelGap = 5;
/** Charts that stand side by side begin alike unless their labels are wider. */
const minLabelWidth = 39;
/** A chart of less shows times of day only. */
const maxShortSeconds = 2 * 86_400;

/** Draws into `box`, which has a width, and tells which point the pointer is at. */
export function plot(
  box: HTMLElement,
  { times, lines, format }: Plotted,
  onHover: (index: number | undefined) => void,
): Plot {
  const isShort = (times.at(-1) ?? 0) - (times[0] ?? 0) < maxShortSeconds;
  const color = (name: string): string => resolved(box, name);
  const font = `11px ${getComputedStyle(box).fontFamily}`;
  const axis: uPlot.Axis = {
    stroke: color("--color-muted"),
    font,
    gap: labelGap,
    grid: { stroke: color("--color-border"), width: 1 },
    ticks: { show: false },
  };
  const chart = new uPlot(
    {
      width: Math.max(1, box.clientWidth),
      height,
      legend: { show: false },
      // At the top and the right, half of a label.
      padding: [8, 30, 0, 0],
      cursor: { y: false, points: { size: 7 }, drag: { x: false, y: false } },
      scales: { y: { range: (_self, _min, max) => [0, Math.max(1, max * 1.1)] } },
      axes: [
        {
          ...axis,
          grid: { show: false },
          space: 70,
          size: 28,
          values: (_self, splits) => splits.map((at) => (isShort ? time : shortTime)(at * 1000)),
        },
        {
          ...axis,
          size: ({ ctx }, labels) => {
            ctx.font = font;
            const widths = (labels ?? []).map((label) => ctx.measureText(label).width);
            return Math.ceil(Math.max(minLabelWidth, ...widths)) + labelGap;
          },
          space: 40,
          values: (_self, splits) => splits.map((each) => format(each)),
        },
      ],
      series: [
        { value: (_self, at) => dateTime(at * 1000) },
        ...lines.map((line) => ({
          stroke: color(line.color),
          width: 2,
          spanGaps: true,
          points: { show: times.length < 40, size: 4, fill: color(line.color) },
        })),
      ],
      hooks: {
        setCursor: [({ cursor }) => onHover(cursor.idx ?? undefined)],
      },
    },
    [[...times], ...lines.map(({ values }) => [...values])],
    box,
  );
  const observer = new ResizeObserver(() => {
    chart.setSize({ width: Math.max(1, box.clientWidth), height });
  });
  observer.observe(box);
  return {
    destroy: () => {
      observer.disconnect();
      chart.destroy();
    },
  };
}

/** The color of the theme that applies now. A canvas does not know the theme's variables. */
function resolved(box: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  box.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
