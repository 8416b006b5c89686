import { TidingsError } from "../../../src/kernel/errors.ts";
import { patienceMs } from "./errors.ts";

interface Waiting {
  readonly begin: (leave: () => void) => void;
  readonly refuse: (error: TidingsError) => void;
}

/**
 * One at a time has its turn, the others wait in the order of their coming. Whoever keeps it for too long, for ever perhaps since it
 * awaits one that waits behind it, keeps it; but nobody waits any longer.
 */
export class Turns {
  readonly #waiting: Waiting[] = [];
  #isTaken = false;
  #isOverdue = false;

  /** Nobody has a turn or waits for one. */
  get areFree(): boolean {
    return !this.#isTaken;
  }

  /** Answers how to leave the turn to those behind, to be called once. @throws TidingsError `storage_unavailable` */
  async take(): Promise<() => void> {
    if (this.#isOverdue) throw tooLong();
    return new Promise((begin, refuse) => {
      this.#waiting.push({ begin, refuse });
      if (!this.#isTaken) this.#next();
    });
  }

  #next(): void {
    const next = this.#waiting.shift();
    this.#isOverdue = false;
    this.#isTaken = next !== undefined;
    if (next === undefined) return;
    // Counted from the beginning of the turn, not of the wait: those behind often come one after the other, each when the one before
    // has been refused.
    const late = setTimeout(() => {
      this.#isOverdue = true;
      for (const { refuse } of this.#waiting.splice(0)) refuse(tooLong());
    }, patienceMs);
    next.begin(() => {
      clearTimeout(late);
      this.#next();
    });
  }
}

function tooLong(): TidingsError {
  return new TidingsError(
    "storage_unavailable",
    "Another transaction of this process has been open for too long.",
  );
}
