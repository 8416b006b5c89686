import { dayMs, option, show, TidingsError } from "../../../src/kernel/index.ts";
import type { Clock } from "../../../src/ports/index.ts";
import { settle, yieldToEventLoop } from "./settle.ts";

/**
 * A clock whose time a test controls. Time stands still until the test advances it.
 *
 * The clock ends calls of `sleep` one at a time. Before it ends the next one, all pending promises
 * and `setImmediate` callbacks run. So the same calls give the same order of events. The clock does
 * not wait for sockets, files or threads: await their results before you advance the time.
 */
export interface VirtualClock extends Clock {
  /**
   * Advances the time by `ms`, and ends the calls of `sleep` that become due. Those due at the same
   * time end in the order of their calls. Resolves when the work of the last one has settled. Call
   * it again only after that.
   * @throws Error when work does not settle, because something repeats without waiting for time, or
   *   when an earlier call still advances the time
   * @throws TidingsError `invalid_option` when `ms` is not a finite number
   */
  advance(ms: number): Promise<void>;
  /**
   * Advances to a time, like `advance`. If the time has passed, only settles.
   * @throws TidingsError `invalid_option` when `time` is not a valid time
   */
  advanceTo(time: Time): Promise<void>;
  /**
   * Advances until `condition` holds, like `advance`. Checks it whenever the pending work has
   * settled.
   * @throws Error when it does not hold within `withinMs` (default one day), or when no call of
   *   `sleep` is left that could change it
   * @throws TidingsError `invalid_option` when `withinMs` is not a number
   */
  advanceUntil(condition: () => boolean | Promise<boolean>, withinMs?: number): Promise<void>;
  /**
   * Calls `code`, advances the time until the call has ended, and returns its result. Use it for
   * calls that wait for the clock, such as `clock.run(() => engine.stop())`. When nothing waits for
   * the clock any more, it waits for the call without a limit, because the call may wait for a file
   * or a socket.
   * @throws Error when the call has not ended within `withinMs` (default one day), or when an
   *   earlier call still advances the time
   * @throws TidingsError `invalid_option` when `withinMs` is not a number
   */
  run<T>(code: () => Promise<T>, withinMs?: number): Promise<T>;
  /**
   * Resolves when all work is done that does not need the time to advance.
   * @throws Error when work does not settle in 1,000,000 turns of the event loop
   */
  settle(): Promise<void>;
  /**
   * Sets the clock forward by `ms`, or back if negative, like an operator or NTP. `now()` jumps,
   * but `monotonic()` does not, and calls of `sleep` take as long as before.
   * @throws TidingsError `invalid_option` when `ms` is not a finite number
   */
  step(ms: number): void;
  /**
   * Lets `ms` pass in which nothing happens. `now()` and `monotonic()` jump, and calls of `sleep`
   * take that much longer.
   * @throws TidingsError `invalid_option` when `ms` is negative, or not a finite number
   */
  skip(ms: number): void;
  /**
   * When the next call of `sleep` is due, in milliseconds since the epoch. Undefined when there is
   * none, or when all wait only for an abort.
   */
  readonly nextWakeAt: number | undefined;
}

/** Milliseconds since the epoch, a date, or a string in ISO 8601. */
export type Time = number | string | Date;

/**
 * Creates a clock that stays at `start` until the test advances it.
 * @throws TidingsError `invalid_option` when `start` is not a valid time
 */
export function virtualClock(start: Time = "2026-01-01T00:00:00.000Z"): VirtualClock {
  const timers = new Timers();
  let origin = toMs(start);
  const now = (): number => origin + timers.elapsed;

  const advance = async (ms: number): Promise<void> => {
    const until = timers.elapsed + Math.max(0, finiteMs(ms));
    await timers.run(until);
    // Time that was skipped meanwhile may have passed it.
    timers.elapsed = Math.max(timers.elapsed, until);
  };

  return {
    now,
    monotonic: () => timers.elapsed,
    sleep: (ms, signal) => timers.sleep(ms, signal),
    advance,
    advanceTo: async (time) => advance(toMs(time) - now()),
    async advanceUntil(condition, withinMs = dayMs) {
      if (await timers.run(timers.elapsed + checkedMs(withinMs), condition)) return;
      const why = timers.isEmpty
        ? "and nothing waits for a later time. The clock does not wait for sockets, so do not " +
          "use it with PostgreSQL"
        : `within ${withinMs} ms`;
      throw new Error(`The condition did not hold by ${new Date(now()).toISOString()}, ${why}.`);
    },
    async run(code, withinMs = dayMs) {
      const until = timers.elapsed + checkedMs(withinMs);
      const result = (async () => code())();
      let hasEnded = false;
      const end = (): void => {
        hasEnded = true;
      };
      const ended = result.then(end, end);
      while (!(await timers.run(until, () => hasEnded))) {
        if (timers.next !== undefined) {
          const time = new Date(now()).toISOString();
          throw new Error(`The call had not ended by ${time}, within ${withinMs} ms.`);
        }
        // The call may wait for a file or a socket, and for the clock after that.
        await Promise.race([ended, timers.nextCall()]);
      }
      return result;
    },
    settle,
    step(ms) {
      origin += finiteMs(ms);
    },
    skip(ms) {
      timers.skip(positiveMs(ms));
    },
    get nextWakeAt() {
      const { next } = timers;
      return next === undefined ? undefined : origin + next.due;
    },
  };
}

/** A call of `sleep` that waits. */
interface Timer {
  /** In elapsed time. */
  due: number;
  end(): void;
}

/** The elapsed time, which `step` does not change, and the calls of `sleep` that wait in it. */
class Timers {
  elapsed = 0;
  /** By due time, then by order of arrival. */
  readonly #queue: Timer[] = [];
  readonly #onCall: (() => void)[] = [];
  #isRunning = false;

  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  /** The timer that is due next. Undefined when there is none, or when all wait for an abort. */
  get next(): Timer | undefined {
    const [next] = this.#queue;
    return next?.due === Infinity ? undefined : next;
  }

  /** Lets `ms` pass for which the timers stand still. */
  skip(ms: number): void {
    this.elapsed += ms;
    for (const timer of this.#queue) timer.due += ms;
  }

  /** Resolves after `ms`, or when `signal` aborts. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    // Like a real timer, yields even when there is nothing to wait for.
    if (!(ms > 0)) return yieldToEventLoop();
    return new Promise((resolve) => {
      const queue = this.#queue;
      const end = (): void => {
        queue.splice(queue.indexOf(timer), 1);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer: Timer = { due: this.elapsed + ms, end };
      queue.splice(this.#countDueBy(timer.due), 0, timer);
      signal?.addEventListener("abort", end);
      for (const resolveCall of this.#onCall.splice(0)) resolveCall();
    });
  }

  /** Resolves at the next call of `sleep`. */
  nextCall(): Promise<void> {
    return new Promise((resolve) => this.#onCall.push(resolve));
  }

  /** How many timers are due by a time. A binary search, since thousands can wait. */
  #countDueBy(time: number): number {
    let low = 0;
    let high = this.#queue.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#queue[middle]?.due ?? Infinity) <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Ends the timers that are due by the elapsed time `until`, one after the other. Stops early when
   * `condition` holds, and returns whether it did.
   */
  async run(until: number, condition?: () => boolean | Promise<boolean>): Promise<boolean> {
    if (this.#isRunning) {
      throw new Error("The virtual clock is moving already. Await each advance before the next.");
    }
    this.#isRunning = true;
    try {
      for (;;) {
        await settle();
        if (await condition?.()) return true;
        const { next } = this;
        if (next === undefined || next.due > until) return false;
        this.elapsed = next.due;
        next.end();
      }
    } finally {
      this.#isRunning = false;
    }
  }
}

/** An option of type `Time`. */
export const timeOption = option<Time>("a time in ISO 8601 or milliseconds, or a Date", isTime, {
  isQuoted: true,
});

function isTime(value: unknown): value is Time {
  const isKind = typeof value === "number" || typeof value === "string" || value instanceof Date;
  return isKind && !Number.isNaN(new Date(value).getTime());
}

function toMs(time: Time): number {
  if (!isTime(time)) {
    throw new TidingsError(
      "invalid_option",
      `Expected a time in ISO 8601 or milliseconds, got ${show(time)}.`,
    );
  }
  return new Date(time).getTime();
}

/** Refuses infinity: the clock would stay there, and nothing would become due any more. */
function finiteMs(ms: unknown): number {
  const checked = checkedMs(ms);
  if (Number.isFinite(checked)) return checked;
  const message = `Expected a finite number of milliseconds, got ${checked}.`;
  throw new TidingsError("invalid_option", message);
}

/** Refuses a time in the past. */
function positiveMs(ms: unknown): number {
  const checked = finiteMs(ms);
  if (checked >= 0) return checked;
  const message = `Expected a number of milliseconds from 0, got ${checked}.`;
  throw new TidingsError("invalid_option", message);
}

/** Refuses NaN: no sleeper would ever be due too late. */
function checkedMs(ms: unknown): number {
  if (typeof ms !== "number" || Number.isNaN(ms)) {
    throw new TidingsError("invalid_option", `Expected a number of milliseconds, got ${show(ms)}.`);
  }
  return ms;
}
