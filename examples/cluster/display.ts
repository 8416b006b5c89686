/** Shows the progress: a board that is redrawn in a terminal, one line per second elsewhere. */
import { styleText } from "node:util";
import { bold, dim, Screen } from "../quickstart/terminal.ts";
import type { Counts } from "./delivery-ledger.ts";
import type { ProcessState } from "./processes.ts";

export interface Progress extends Counts {
  readonly seconds: number;
  readonly processes: readonly ProcessState[];
  readonly kills: number;
  /**
   * Whether the load and the kills have stopped, and the remaining messages are being delivered.
   */
  readonly isDraining: boolean;
}

const screen = new Screen();
let printedLines = 0;

export function display(progress: Progress): void {
  if (screen.isLive) screen.draw(board(progress));
  else if (progress.seconds >= printedLines) {
    printedLines++;
    console.log(line(progress));
  }
}

const number = (n: number): string => n.toLocaleString("en").padStart(9);
const shouldBeZero = (n: number): string => styleText(n === 0 ? "green" : "red", number(n));

function board(progress: Progress): string[] {
  const { seconds, processes, kills, isDraining, sent, delivered, late, duplicated } = progress;
  const phase = isDraining
    ? "no more orders or kills; delivering the rest"
    : "press Ctrl+C to stop";
  return [
    ...processes.map(({ pid, isServing, kills }, i) => {
      const state = isServing ? styleText("green", "● serving ") : styleText("red", "○ starting");
      const killed = dim(`killed ${kills} times`);
      return `  process ${i + 1}  ${String(pid ?? "").padStart(8)}  ${state}  ${killed}`;
    }),
    "",
    `  sent       ${bold(number(sent))}  ${dim("acknowledged with 201")}`,
    `  delivered  ${bold(number(delivered))}  ${dim("arrived at a phone")}`,
    `  late       ${number(late)}  ${dim("not delivered after 30 s")}`,
    `  duplicated ${shouldBeZero(duplicated)}`,
    `  kills      ${number(kills)}`,
    "",
    dim(`  ${seconds.toFixed(1)} s: ${phase}`),
  ];
}

function line({ seconds, sent, delivered, late, duplicated, kills }: Progress): string {
  return (
    `${seconds.toFixed(1).padStart(7)} s` +
    `  sent ${number(sent)}  delivered ${number(delivered)}  late ${String(late).padStart(3)}` +
    `  duplicated ${String(duplicated).padStart(3)}  kills ${String(kills).padStart(4)}`
  );
}
