/** One of the ways to do some work whose speeds are compared. */
export interface Contender {
  readonly name: string;
  /** Does the work, and returns how much it did in how many milliseconds, without the setup. */
  run(): Promise<Work>;
}

export interface Work {
  readonly items: number;
  readonly ms: number;
  /** The CPU time of this process, with all its threads. */
  readonly cpuMs?: number;
}

/** What a contender did: medians of its rounds. */
export interface Result {
  readonly perSecond: number;
  /** The CPU time of this process per item, in microseconds. NaN if it was not measured. */
  readonly cpuUs: number;
}

/**
 * The results of each contender. All contenders run in every round, so that other load on the
 * machine affects them alike. Every other round runs them in reverse order.
 */
export async function compare(
  contenders: readonly Contender[],
  rounds: number,
): Promise<ReadonlyMap<string, Result>> {
  const works = new Map<string, Work[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const { name, run } of round % 2 === 0 ? contenders : contenders.toReversed()) {
      works.get(name)?.push(await run());
    }
  }
  const resultOf = (each: readonly Work[]): Result => ({
    perSecond: median(each.map(({ items, ms }) => (items * 1_000) / ms)),
    cpuUs: median(each.map(({ items, cpuMs = Number.NaN }) => (cpuMs * 1_000) / items)),
  });
  return new Map([...works].map(([name, each]) => [name, resultOf(each)]));
}

/** The median rate of each contender, in items per second. */
export async function medians(
  contenders: readonly Contender[],
  rounds: number,
): Promise<ReadonlyMap<string, number>> {
  const results = await compare(contenders, rounds);
  return new Map([...results].map(([name, { perSecond }]) => [name, perSecond]));
}

/** Returns a function that returns the time since now, and the CPU time of this process. */
export function stopwatch(): () => Required<Omit<Work, "items">> {
  const began = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return { ms: performance.now() - began, cpuMs: (user + system) / 1_000 };
  };
}

/** `done` resolves when `count` has been called `times` times. */
export function countdown(times: number): {
  readonly count: () => void;
  readonly done: Promise<void>;
} {
  let left = times;
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    done: promise,
    count: () => {
      if (--left === 0) resolve();
    },
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = low] =
    sorted.length % 2 === 0 ? sorted.slice(middle - 1, middle + 1) : sorted.slice(middle);
  return sorted.length % 2 === 0 ? (low + high) / 2 : low;
}

/**
 * Runs `work` for 0 to `times` - 1, at most `atOnce` at a time. Returns the total milliseconds.
 */
export async function concurrently(
  times: number,
  atOnce: number,
  work: (i: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  const began = performance.now();
  const one = async (): Promise<void> => {
    while (next < times) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return performance.now() - began;
}

const scale = Number(process.env["TIDINGS_BENCH_SCALE"] ?? 1);

/** A number of items, times `TIDINGS_BENCH_SCALE`. */
export const scaled = (items: number): number => Math.max(10, Math.round(items * scale));

/** A table in aligned columns. All columns but the first are aligned to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return lines.map((line) => `  ${line.map(pad).join("  ")}`).join("\n");
}

export const count = (n: number): string => Math.round(n).toLocaleString("en");
export const ratio = (n: number): string => n.toFixed(2);
