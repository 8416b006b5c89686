/** Draws: a live board in a terminal, a line each second elsewhere. */
import { styleText } from "node:util";
import { bold, dim, Screen } from "../quickstart/terminal.ts";
import type { Counts } from "./books.ts";
import type { State } from "./processes.ts";

export interface Look extends Counts {
  readonly seconds: number;
  readonly states: readonly State[];
  readonly kills: number;
  readonly isHealing: boolean;
}

const screen = new Screen();
let lines = 0;

export function show(look: Look): void {
  if (screen.isLive) screen.draw(board(look));
  else if (look.seconds >= lines) {
    lines++;
    console.log(line(look));
  }
}

const number = (n: number): string => n.toLocaleString("en").padStart(9);
const zero = (n: number): string => styleText(n === 0 ? "green" : "red", number(n));

function board({
  seconds,
  states,
  kills,
  isHealing,
  sent,
  delivered,
  lost,
  doubled,
}: Look): string[] {
  const doing = isHealing
    ? "no more is sent and killed; what is under way comes to its end"
    : "Ctrl-C ends";
  return [
    ...states.map(({ pid, isServing, kills }, i) => {
      const state = isServing ? styleText("green", "● serves") : styleText("red", "○ starts");
      return `  process ${i + 1}  ${String(pid ?? "").padStart(8)}  ${state}  ${dim(`killed ${kills} times`)}`;
    }),
    "",
    `  sent      ${bold(number(sent))}  ${dim("acknowledged with 201")}`,
    `  delivered ${bold(number(delivered))}  ${dim("arrived at a phone")}`,
    `  lost      ${zero(lost)}`,
    `  doubled   ${zero(doubled)}`,
    `  kills     ${number(kills)}`,
    "",
    dim(`  ${seconds.toFixed(1)} s: ${doing}`),
  ];
}

function line({ seconds, sent, delivered, lost, doubled, kills }: Look): string {
  return (
    `${`${seconds.toFixed(1)} s`.padStart(9)}  sent ${number(sent)}  delivered ${number(delivered)}` +
    `  lost ${String(lost).padStart(3)}  doubled ${String(doubled).padStart(3)}  kills ${String(kills).padStart(4)}`
  );
}
