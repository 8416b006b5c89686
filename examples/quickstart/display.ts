import { setTimeout as sleep } from "node:timers/promises";
import type { Journal } from "./journal.ts";
import { board, line, Screen } from "./terminal.ts";

const lookEveryMs = 200;
/** Of `--once`: what has not ended as it should by then has failed. */
const longestMs = 20_000;

export interface ShowOptions {
  /** Beneath the board. */
  readonly notes: () => readonly string[];
  /** Whether all that is shown has come to its end. */
  readonly isSettled: () => boolean;
  /** What a reader can do; empty when nothing goes on. */
  readonly invitation: readonly string[];
  /** Ends when all have ended, in place of when it is stopped. */
  readonly isOnce: boolean;
  readonly stopped: AbortSignal;
}

/** Shows what becomes of the messages: in a terminal as a board that is drawn over, elsewhere line by line. */
export async function show(
  journal: Journal,
  { notes, invitation, isSettled, isOnce, stopped }: ShowOptions,
): Promise<void> {
  const screen = new Screen();
  const began = Date.now();
  if (!screen.isLive && invitation.length > 0) console.log([...invitation.slice(1), ""].join("\n"));
  for (let isShown = false; ;) {
    const isLate = isOnce && Date.now() - began > longestMs;
    const isOver = stopped.aborted || isLate || (isOnce && isSettled());
    // What changes nothing is no event: so the timelines are looked at, too.
    const news = await journal.look();
    const rows = journal.rows({ isLate });
    if (screen.isLive) {
      screen.draw([...board(rows), ...notes(), ...invitation]);
    } else {
      for (const { row, word, seconds } of news) console.log(line(row, word, seconds));
      if (!isShown && (isOver || isSettled())) {
        isShown = true;
        console.log(["", ...board(rows), ...notes(), ""].join("\n"));
      }
    }
    if (isOver) return;
    await sleep(lookEveryMs, undefined, { signal: stopped }).catch(() => undefined);
  }
}
