/** Draws: a live board in a terminal, a line for each thing that happens elsewhere. */
import { stripVTControlCharacters, styleText } from "node:util";
import type { Tone, Word } from "./story.ts";

export interface Row {
  readonly to: string;
  readonly label: string;
  readonly words: readonly Word[];
  /** Since it was accepted. */
  readonly seconds: number;
  /** Whether it ended as it was to; undefined while it hasn't, or when nothing is expected. */
  readonly passed: boolean | undefined;
}

const styles = {
  good: "green",
  idle: "cyan",
  bad: "yellow",
  unsure: "magenta",
  void: "dim",
} as const satisfies Record<Tone, string>;

/** Plain where colour is not wanted: no terminal, or NO_COLOR. */
export const dim = (text: string): string => styleText("dim", text);
export const bold = (text: string): string => styleText("bold", text);

const paint = ({ text, tone }: Pick<Word, "text" | "tone">): string =>
  styleText(styles[tone], text);
const padded = (text: string, width: number): string =>
  text + " ".repeat(Math.max(0, width - stripVTControlCharacters(text).length));

const numberWidth = 5;
const labelWidth = 22;
/** A narrower terminal gets lines: cut and wrapped ones are no board. */
const narrowest = 80;

export function board(rows: readonly Row[]): string[] {
  const stories = rows.map((row) => told(row));
  const width = Math.max(40, ...stories.map((story) => stripVTControlCharacters(story).length)) + 1;
  return rows.map(({ to, label, seconds, passed }, i) => {
    const time = dim(`${seconds.toFixed(1)} s`.padStart(6));
    const mark =
      passed === undefined ? " " : passed ? styleText("green", "✓") : styleText("red", "✗");
    return `  ${bold(padded(to.slice(-4), numberWidth))}${padded(label, labelWidth)}${padded(stories[i] ?? "", width)}${time} ${mark}`;
  });
}

function told({ words }: Row): string {
  if (words.length === 0) return dim("queued");
  const runs: { word: Word; times: number }[] = [];
  for (const word of words) {
    const last = runs.at(-1);
    if (last?.word.text === word.text) last.times++;
    else runs.push({ word, times: 1 });
  }
  return runs
    .map(({ word: { text, tone }, times }) =>
      paint({ text: times > 1 ? `${text} ×${times}` : text, tone }),
    )
    .join("  ");
}

/** One thing that happened, as a line of its own. */
export function line({ to, label }: Row, word: Word, seconds: number): string {
  return `${dim(`${seconds.toFixed(2)} s`.padStart(9))}  ${bold(padded(to.slice(-4), numberWidth))}${padded(label, labelWidth)}${paint(word)}`;
}

/** A block of lines that is drawn over itself. */
export class Screen {
  readonly isLive =
    process.stdout.isTTY && process.env["TERM"] !== "dumb" && process.stdout.columns >= narrowest;
  #drawn: readonly string[] = [];

  draw(lines: readonly string[]): void {
    const { columns, rows } = process.stdout;
    // What has scrolled off can't be drawn over, and a line that wraps counts as two.
    const block = lines.slice(-(rows - 1)).map((each) => cut(each, columns));
    if (block.join("\n") === this.#drawn.join("\n")) return;
    const up = this.#drawn.length === 0 ? "" : `\x1b[${this.#drawn.length}A`;
    process.stdout.write(`${up}\r\x1b[J${block.join("\n")}\n`);
    this.#drawn = block;
  }
}

function cut(text: string, width: number): string {
  const plain = stripVTControlCharacters(text);
  return plain.length <= width ? text : `${plain.slice(0, width - 1)}…`;
}
