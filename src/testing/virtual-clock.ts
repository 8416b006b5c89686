/**
 * Time that a test moves by hand.
 *
 * Between two wake-ups everything that can go on at once does go on: promises, and turns of the event loop that someone waits
 * for (`setImmediate`, as the storages do between groups). So one order of events follows from one history. What
 * sockets, files or threads bring is not waited for: await it before time moves on.
 */
import { TidingsError } from "../kernel/index.ts";
import type { Clock } from "../ports/index.ts";

export interface VirtualClock extends Clock {
  /**
   * Moves time on by `ms`, from wake-up to wake-up: sleepers wake when they are due, those of one time in the order in which
   * they lay down, each when what the one before it set off has come to rest. Resolves when the last has.
   */
  advance(ms: number): Promise<void>;
  /** The same, up to a time; to one that is past, it only settles. */
  advanceTo(time: Time): Promise<void>;
  /**
   * The same, up to the first rest in which `condition` holds.
   * @throws Error when it does not hold `withinMs` (default a day) later, or when nobody sleeps any more
   */
  advanceUntil(condition: () => boolean | Promise<boolean>, withinMs?: number): Promise<void>;
  /** Resolves when nothing more happens unless time moves on. */
  settle(): Promise<void>;
  /**
   * Sets the clock on by `ms`, or back if negative, as an operator or NTP does: `now()` jumps, but sleepers wait as long as
   * they were to.
   */
  step(ms: number): void;
  /** When the next sleeper is due; undefined when nobody sleeps, or only until aborted. */
  readonly nextWakeAt: number | undefined;
}

/** Milliseconds since the epoch, a date, or a string in ISO 8601. */
export type Time = number | string | Date;

interface Sleeper {
  readonly due: number;
  wake(): void;
}

const dayMs = 86_400_000;

/** A clock that stands at `start` until it is moved. */
export function virtualClock(start: Time = "2026-01-01T00:00:00.000Z"): VirtualClock {
  /** In order of due time, then of arrival. Due times count from the start, untouched by steps of the clock. */
  const sleepers: Sleeper[] = [];
  let origin = milliseconds(start);
  let elapsed = 0;
  let moving = false;

  const now = (): number => origin + elapsed;

  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    if (signal?.aborted) return Promise.resolve();
    // As with a timer, others have their turn first.
    if (!(ms > 0)) return turn();
    return new Promise((resolve) => {
      const wake = (): void => {
        sleepers.splice(sleepers.indexOf(sleeper), 1);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const sleeper: Sleeper = { due: elapsed + ms, wake };
      sleepers.splice(sleepers.findLastIndex(({ due }) => due <= sleeper.due) + 1, 0, sleeper);
      signal?.addEventListener("abort", wake);
    });
  };

  /** Answers false when `holds` never did. */
  const move = async (
    until: number,
    holds?: () => boolean | Promise<boolean>,
  ): Promise<boolean> => {
    if (moving) {
      throw new Error("The virtual clock is moving already: await one advance before the next.");
    }
    moving = true;
    try {
      for (;;) {
        await rest();
        if (await holds?.()) return true;
        const [next] = sleepers;
        if (next === undefined || next.due > until || next.due === Infinity) break;
        elapsed = next.due;
        next.wake();
      }
      return false;
    } finally {
      moving = false;
    }
  };

  const advance = async (ms: number): Promise<void> => {
    const until = elapsed + Math.max(0, ms);
    await move(until);
    elapsed = until;
  };

  return {
    now,
    sleep,
    advance,
    advanceTo: (time) => advance(milliseconds(time) - now()),
    async advanceUntil(condition, withinMs = dayMs) {
      if (await move(elapsed + withinMs, condition)) return;
      const why = sleepers.length === 0 ? "and nobody sleeps any more" : `within ${withinMs} ms`;
      throw new Error(
        `What was waited for did not come about by ${new Date(now()).toISOString()}, ${why}.`,
      );
    },
    settle: rest,
    step(ms) {
      origin += ms;
    },
    get nextWakeAt() {
      const [next] = sleepers;
      return next === undefined || next.due === Infinity ? undefined : origin + next.due;
    },
  };
}

function milliseconds(time: Time): number {
  const ms = new Date(time).getTime();
  if (Number.isNaN(ms)) {
    throw new TidingsError(
      "invalid_option",
      `Expected a time in ISO 8601 or milliseconds, got ${String(time)}.`,
    );
  }
  return ms;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** How many clocks of this thread wait for a turn: they must not wait for each other. */
let resting = 0;

async function rest(): Promise<void> {
  do {
    while (holds > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    resting += 1;
    await turn();
    resting -= 1;
  } while (holds > 0 || pendingTurns() > resting);
}

/** How many calls of this thread hold virtual time. */
let holds = 0;
/** Clocks that wait until no call holds it. */
const waiting: (() => void)[] = [];

/**
 * Holds the virtual time of all clocks in this thread while a call takes real time. Returns a function that
 * releases it.
 */
export function holdTime(): () => void {
  let isHeld = true;
  holds += 1;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    holds -= 1;
    if (holds === 0) for (const resume of waiting.splice(0)) resume();
  };
}

/** When a turn begins, promises that could go on have done so; what remains is who waits for a later turn. */
function pendingTurns(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === "Immediate").length;
}
