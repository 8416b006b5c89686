import { setTimeout as sleep } from "node:timers/promises";
import { board, Screen, stepLine } from "./terminal.ts";
import type { MessageTracker } from "./tracker.ts";

const refreshMs = 200;
/** With `--once`, a scenario that has not finished by then has failed. */
const timeoutMs = 20_000;

export interface DisplayOptions {
  /** Lines below the board. */
  readonly notes: () => readonly string[];
  /** Whether everything on the board has reached its expected result. */
  readonly isFinished: () => boolean;
  /** How to open the pages and send a message. Empty with `--once`. */
  readonly invitation: readonly string[];
  /** What the reader can try next. The last line. */
  readonly next: string;
  /** Return when everything has finished, instead of when `stopped` aborts. */
  readonly isOnce: boolean;
  readonly stopped: AbortSignal;
}

/**
 * Shows the messages' progress: a board that is redrawn in a terminal, one line per step elsewhere.
 */
export async function display(
  tracker: MessageTracker,
  { notes, invitation, next, isFinished, isOnce, stopped }: DisplayOptions,
): Promise<void> {
  const screen = new Screen();
  const startedAt = Date.now();
  if (!screen.isLive && invitation.length > 0) console.log([...invitation.slice(1), ""].join("\n"));
  for (let isBoardPrinted = false; ;) {
    const isLate = isOnce && Date.now() - startedAt > timeoutMs;
    const isOver = stopped.aborted || isLate || (isOnce && isFinished());
    // A receipt that changes nothing publishes no event, so poll the timelines.
    const newSteps = await tracker.refresh();
    const rows = tracker.rows({ isLate });
    if (screen.isLive) {
      screen.draw([...board(rows), ...notes(), ...invitation, next]);
    } else {
      for (const { row, step, seconds } of newSteps) console.log(stepLine(row, step, seconds));
      if (!isBoardPrinted && (isOver || isFinished())) {
        isBoardPrinted = true;
        console.log(["", ...board(rows), ...notes(), "", next].join("\n"));
      }
    }
    if (isOver) return;
    await sleep(refreshMs, undefined, { signal: stopped }).catch(() => undefined);
  }
}
