import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { currentLocale, dateTime, theme, timeZone } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import type { Plot } from "./plot.ts";

/** One line, with its name and the number that stands for all its points. */
export interface ChartLine {
  readonly name: string;
  readonly color: string;
  readonly values: readonly (number | null)[];
  readonly total: number | null;
}

interface ChartProps {
  readonly label: string;
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
  readonly format: (value: number) => string;
}

/** Lines over time. The legend has the numbers at the pointer, or else the totals. */
export function Chart({ label, times, lines, format }: ChartProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number>();
  const [isBroken, setBroken] = useState(false);
  const scheme = useScheme();
  const content = JSON.stringify([times, lines.map(({ values }) => values)]);
  useEffect(() => {
    let drawn: Plot | undefined;
    let isGone = false;
    giveLanguage();
    import("./plot.ts")
      .then(({ plot }) => {
        if (!isGone && box.current) drawn = plot(box.current, { times, lines, format }, setAt);
      })
      // The file cannot be loaded any more.
      .catch(() => setBroken(true));
    return () => {
      isGone = true;
      drawn?.destroy();
      setAt(undefined);
    };
  }, [content, scheme, timeZone.value]);
  const time = at === undefined ? undefined : times[at];
  const shown = lines.map((line) => ({
    ...line,
    value: (at === undefined ? line.total : line.values[at]) ?? null,
  }));
  const spoken = lines
    .map(({ name, total }) => `${name}: ${total === null ? "–" : format(total)}`)
    .join(", ");
  return (
    <figure class="chart">
      <figcaption class="chart-legend">
        <span class="muted">{time === undefined ? t("wholePeriod") : dateTime(time * 1000)}</span>
        {shown.map(({ name, color, value }) => (
          <span key={name} class="chart-entry">
            <span class="chart-swatch" style={{ background: `var(${color})` }} />
            {name} <strong>{value === null ? "–" : format(value)}</strong>
          </span>
        ))}
      </figcaption>
      {isBroken ? (
        <p class="muted">{t("noChart")}</p>
      ) : (
        <div class="chart-box" ref={box} role="img" aria-label={`${label}. ${spoken}`} />
      )}
    </figure>
  );
}

/**
 * The library formats in the browser's language. Some systems report one that `Intl` refuses, such
 * as `en-US@posix`. Then the library gets the page's language.
 */
function giveLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, "language", { value: currentLocale(), configurable: true });
  }
}

/** Changes whenever the colors of the theme do. */
function useScheme(): string {
  const [isDark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  useEffect(() => {
    const query = matchMedia("(prefers-color-scheme: dark)");
    const onChange = (): void => setDark(query.matches);
    query.addEventListener("change", onChange);
    return () => query.removeEventListener("change", onChange);
  }, []);
  return `${theme.value} ${isDark}`;
}
