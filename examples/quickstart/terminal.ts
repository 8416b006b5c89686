/** Formats rows for the terminal, and redraws a block of lines in place. */
import { stripVTControlCharacters, styleText } from "node:util";
import type { Step, Tone } from "./timeline-steps.ts";

export interface Row {
  readonly to: string;
  readonly label: string;
  readonly steps: readonly Step[];
  /** Seconds since the message was accepted. */
  readonly seconds: number;
  /** Whether the expected result was reached. Undefined while running, or if none is expected. */
  readonly passed: boolean | undefined;
}

const colors = {
  good: "green",
  neutral: "cyan",
  bad: "yellow",
  uncertain: "magenta",
  ignored: "dim",
} as const satisfies Record<Tone, string>;

/** `styleText` returns plain text if the output is not a terminal, or if NO_COLOR is set. */
export const dim = (text: string): string => styleText("dim", text);
export const bold = (text: string): string => styleText("bold", text);

const colored = ({ text, tone }: Pick<Step, "text" | "tone">): string =>
  styleText(colors[tone], text);
const widthOf = (text: string): number => stripVTControlCharacters(text).length;
const padded = (text: string, width: number): string =>
  text + " ".repeat(Math.max(0, width - widthOf(text)));

const numberWidth = 5;
const labelWidth = 22;
const minStepsWidth = 40;
/** A narrower terminal gets lines: a board with wrapped lines can't be redrawn in place. */
const minColumns = 80;

/** Returns one line per message. */
export function board(rows: readonly Row[]): string[] {
  const steps = rows.map((row) => joinedSteps(row));
  const width = Math.max(minStepsWidth, ...steps.map((each) => widthOf(each))) + 1;
  return rows.map((row, i) => {
    const time = dim(`${row.seconds.toFixed(1)} s`.padStart(6));
    return `  ${headOf(row)}${padded(steps[i] ?? "", width)}${time} ${markOf(row)}`;
  });
}

const headOf = ({ to, label }: Row): string =>
  bold(padded(to.slice(-4), numberWidth)) + padded(label, labelWidth);

function markOf({ passed }: Row): string {
  if (passed === undefined) return " ";
  return passed ? styleText("green", "✓") : styleText("red", "✗");
}

/** Repeated steps are shown once, with their count. */
function joinedSteps({ steps }: Row): string {
  if (steps.length === 0) return dim("queued");
  const runs: { step: Step; count: number }[] = [];
  for (const step of steps) {
    const last = runs.at(-1);
    if (last?.step.text === step.text) last.count++;
    else runs.push({ step, count: 1 });
  }
  return runs
    .map(({ step: { text, tone }, count }) =>
      colored({ text: count > 1 ? `${text} ×${count}` : text, tone }),
    )
    .join("  ");
}

/** Returns one step as a line. */
export function stepLine(row: Row, step: Step, seconds: number): string {
  return `${dim(`${seconds.toFixed(2)} s`.padStart(9))}  ${headOf(row)}${colored(step)}`;
}

/** Redraws a block of lines in place. */
export class Screen {
  /** Whether the output is a terminal that can be redrawn. */
  readonly isLive =
    process.stdout.isTTY && process.env["TERM"] !== "dumb" && process.stdout.columns >= minColumns;
  #drawn: readonly string[] = [];

  draw(lines: readonly string[]): void {
    const { columns, rows } = process.stdout;
    // Lines that scrolled off the screen can't be overwritten, and a wrapped line would count
    // twice.
    const block = lines.slice(-(rows - 1)).map((each) => truncated(each, columns));
    if (block.join("\n") === this.#drawn.join("\n")) return;
    const up = this.#drawn.length === 0 ? "" : `\x1b[${this.#drawn.length}A`;
    process.stdout.write(`${up}\r\x1b[J${block.join("\n")}\n`);
    this.#drawn = block;
  }
}

function truncated(text: string, width: number): string {
  const plain = stripVTControlCharacters(text);
  return plain.length <= width ? text : `${plain.slice(0, width - 1)}…`;
}
