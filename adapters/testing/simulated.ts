/**
 * Seeded randomness, and a clock whose time a test controls.
 *
 * Before the clock ends the next call of `sleep`, all pending promises and `setImmediate` callbacks
 * run. So the same calls give the same order of events. The clock does not wait for sockets, files
 * or threads: await their results before you advance the time.
 */
import type { Clock, Random } from "../../src/ports/index.ts";
import {
  dayMs,
  option,
  optionsObject,
  parseOptions,
  show,
  TidingsError,
} from "../../src/kernel/index.ts";

/**
 * Random bytes that depend only on the seed. Any number is a seed. Different numbers give different
 * bytes. For tests only: the bytes are predictable.
 * @throws TidingsError `invalid_option` when the seed is not a number
 */
export function seededRandom(seed: number): Random {
  parseOptions("seededRandom: ", seedSchema, { seed });
  const next = words(seed);
  return {
    bytes(count) {
      const drawn = new Uint8Array(count);
      for (let at = 0, word = 0; at < count; at += 1, word >>>= 8) {
        if (at % 4 === 0) word = next();
        drawn[at] = word;
      }
      return drawn;
    },
  };
}

const seedOption = option<number>("a number", (seed) => typeof seed === "number");
const seedSchema = optionsObject({ seed: seedOption });

/** The generator sfc32 by Chris Doty-Humphrey (PractRand): 128 bits of state, 32-bit words. */
function words(seed: number): () => number {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, seed);
  let a = bits.getInt32(0);
  let b = bits.getInt32(4);
  let c = 0;
  let counter = 1;
  const next = (): number => {
    const word = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + word) | 0;
    return word >>> 0;
  };
  // The first words are correlated with the seed.
  for (let round = 0; round < 16; round += 1) next();
  return next;
}

/** A clock whose time a test controls. Time stands still until the test advances it. */
export interface VirtualClock extends Clock {
  /**
   * Advances the time by `ms`. Calls of `sleep` end when they are due. Those due at the same time
   * end in the order of their calls. Each ends when the work that the previous one started has
   * settled. Resolves when the work of the last one has settled. Work that waits for a socket, such
   * as that of PostgreSQL, counts as settled.
   * @throws Error when work does not settle: something repeats without waiting for time
   * @throws TidingsError `invalid_option` when `ms` is not a number
   */
  advance(ms: number): Promise<void>;
  /** Advances to a time. If the time has passed, only settles. */
  advanceTo(time: Time): Promise<void>;
  /**
   * Advances until `condition` holds. Checks it whenever the pending work has settled.
   * @throws Error when it does not hold within `withinMs` (default one day), or when no call of
   *   `sleep` is left that could change it
   * @throws TidingsError `invalid_option` when `withinMs` is not a number
   */
  advanceUntil(condition: () => boolean | Promise<boolean>, withinMs?: number): Promise<void>;
  /**
   * Resolves when all work is done that does not need the time to advance.
   * @throws Error when work does not settle in 1,000,000 turns of the event loop
   */
  settle(): Promise<void>;
  /**
   * Sets the clock forward by `ms`, or back if negative, like an operator or NTP. `now()` jumps,
   * but `monotonic()` does not, and calls of `sleep` take as long as before.
   * @throws TidingsError `invalid_option` when `ms` is not a number
   */
  step(ms: number): void;
  /**
   * When the next call of `sleep` is due. Undefined when there is none, or when all wait only for
   * an abort.
   */
  readonly nextWakeAt: number | undefined;
}

/** Milliseconds since the epoch, a date, or a string in ISO 8601. */
export type Time = number | string | Date;

/** A call of `sleep` that waits. */
interface Sleeper {
  readonly due: number;
  wake(): void;
}

/** The sleepers by due time, then by order of arrival. */
class Sleepers {
  readonly #queue: Sleeper[] = [];

  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  /** The sleeper that is due next. Undefined when there is none, or when all wait for an abort. */
  get next(): Sleeper | undefined {
    const [next] = this.#queue;
    return next?.due === Infinity ? undefined : next;
  }

  /** Adds a sleeper. Resolves when it is woken, or when `signal` aborts. */
  add(due: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#queue;
      const wake = (): void => {
        queue.splice(queue.indexOf(sleeper), 1);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const sleeper: Sleeper = { due, wake };
      queue.splice(queue.findLastIndex((each) => each.due <= due) + 1, 0, sleeper);
      signal?.addEventListener("abort", wake);
    });
  }
}

/** Creates a clock that stays at `start` until the test advances it. */
export function virtualClock(start: Time = "2026-01-01T00:00:00.000Z"): VirtualClock {
  /** Their due times count from the start and ignore `step`. */
  const sleepers = new Sleepers();
  let origin = milliseconds(start);
  let elapsed = 0;
  let moving = false;

  const now = (): number => origin + elapsed;

  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    if (signal?.aborted) return Promise.resolve();
    // Like a timer, yields even when there is nothing to wait for.
    return ms > 0 ? sleepers.add(elapsed + ms, signal) : yieldToEventLoop();
  };

  /** Returns false when `condition` never held. */
  const move = async (
    until: number,
    condition?: () => boolean | Promise<boolean>,
  ): Promise<boolean> => {
    if (moving) {
      throw new Error("The virtual clock is moving already. Await each advance before the next.");
    }
    moving = true;
    try {
      for (;;) {
        await settle();
        if (await condition?.()) return true;
        const { next } = sleepers;
        if (next === undefined || next.due > until) return false;
        elapsed = next.due;
        next.wake();
      }
    } finally {
      moving = false;
    }
  };

  const advance = async (ms: number): Promise<void> => {
    const until = elapsed + Math.max(0, duration(ms));
    await move(until);
    elapsed = until;
  };

  return {
    now,
    monotonic: () => elapsed,
    sleep,
    advance,
    advanceTo: (time) => advance(milliseconds(time) - now()),
    async advanceUntil(condition, withinMs = dayMs) {
      if (await move(elapsed + duration(withinMs), condition)) return;
      const why = sleepers.isEmpty
        ? "and nothing waits for a later time. The clock does not wait for sockets, so do not " +
          "use it with PostgreSQL"
        : `within ${withinMs} ms`;
      throw new Error(`The condition did not hold by ${new Date(now()).toISOString()}, ${why}.`);
    },
    settle,
    step(ms) {
      origin += duration(ms);
    },
    get nextWakeAt() {
      const { next } = sleepers;
      return next === undefined ? undefined : origin + next.due;
    },
  };
}

/** Whether a value is a valid `Time`. */
export function isTime(value: unknown): value is Time {
  const isKind = typeof value === "number" || typeof value === "string" || value instanceof Date;
  return isKind && !Number.isNaN(new Date(value).getTime());
}

function milliseconds(time: Time): number {
  const ms = new Date(time).getTime();
  if (!isTime(time)) {
    throw new TidingsError(
      "invalid_option",
      `Expected a time in ISO 8601 or milliseconds, got ${show(time)}.`,
    );
  }
  return ms;
}

/** Returns `ms`. With NaN, no sleeper would ever be due too late. */
function duration(ms: unknown): number {
  if (typeof ms !== "number" || Number.isNaN(ms)) {
    throw new TidingsError("invalid_option", `Expected a number of milliseconds, got ${show(ms)}.`);
  }
  return ms;
}

function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** How many clocks of this thread yield right now. They must not wait for each other. */
let yieldingClocks = 0;

/** The maximum number of turns of the event loop in which work settles. Usually it needs few. */
const maxTurns = 1_000_000;

async function settle(): Promise<void> {
  let turns = 0;
  do {
    turns += 1;
    if (turns > maxTurns) {
      const count = maxTurns.toLocaleString("en-US");
      throw new Error(
        `Work did not settle in ${count} turns of the event loop: ` +
          "something repeats without waiting for time.",
      );
    }
    while (holds > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    yieldingClocks += 1;
    await yieldToEventLoop();
    yieldingClocks -= 1;
  } while (holds > 0 || pendingImmediates() > yieldingClocks);
}

/** How many calls of this thread hold virtual time. */
let holds = 0;
/** Clocks that wait until no call holds it. */
const waiting: (() => void)[] = [];

/**
 * Holds the virtual time of all clocks in this thread while a call takes real time. Returns a
 * function that releases it.
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

/** How many `setImmediate` callbacks wait. Pending promises have run before a callback runs. */
function pendingImmediates(): number {
  let count = 0;
  for (const resource of process.getActiveResourcesInfo()) if (resource === "Immediate") count += 1;
  return count;
}

/** The options `clock` and `random` of an engine under test. */
export interface Simulated {
  /** A clock that the test advances. */
  readonly clock: VirtualClock;
  /** Bytes that depend only on the seed. */
  readonly random: Random;
}

/** Options of `simulated()`. */
export interface SimulationOptions {
  /** Any number. The same seed gives the same ids. Default: 1. */
  readonly seed?: number | undefined;
  /** The time at which the clock stands at first. Default: 2026-01-01T00:00:00.000Z. */
  readonly start?: Time | undefined;
}

const optionsSchema = optionsObject({
  seed: seedOption.default(1),
  start: option<Time>("a time in ISO 8601 or milliseconds, or a Date", isTime, {
    isQuoted: true,
  }).optional(),
});

/**
 * Virtual time and seeded randomness that replace `system()`: `new MessagingEngine({ storage,
 * transports, ...simulated() })`. The same seed and the same calls give the same ids, times and
 * order.
 * @throws TidingsError `invalid_option` when an option is wrong or unknown
 */
export function simulated(options: SimulationOptions = {}): Simulated {
  const { seed, start } = parseOptions("simulated: ", optionsSchema, options);
  return { clock: virtualClock(start), random: seededRandom(seed) };
}
