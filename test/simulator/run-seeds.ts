/** Runs many seeds in several threads, and can be stopped and resumed. */
import { Worker } from "node:worker_threads";
import { laws } from "./invariant.ts";
import { addCounts, type Counts } from "./met-faults/coverage.ts";
import type { Result } from "./simulate.ts";

/** A seed that broke an invariant. */
export interface FailedSeed {
  readonly seed: number;
  readonly invariant: string;
  readonly failure: string;
}

/** What many seeds have shown so far. */
export interface Progress {
  /** The seeds that have run: from and to, both included, ascending. */
  readonly done: readonly (readonly [number, number])[];
  readonly messages: number;
  readonly calls: number;
  readonly coverage: Counts;
  readonly failed: readonly FailedSeed[];
}

export const nothingDone: Progress = {
  done: [],
  messages: 0,
  calls: 0,
  coverage: {},
  failed: [],
};

export function hasRun({ done }: Progress, seed: number): boolean {
  return done.some(([from, to]) => from <= seed && seed <= to);
}

type SeedResult = Pick<
  Result,
  "seed" | "messages" | "calls" | "coverage" | "failure" | "invariant"
>;

function addResult(before: Progress, { seed, ...result }: SeedResult): Progress {
  const { failure, invariant } = result;
  const failed =
    failure === undefined || invariant === undefined ? [] : [{ seed, invariant, failure }];
  return {
    done: joined([...before.done, [seed, seed]]),
    messages: before.messages + result.messages,
    calls: before.calls + result.calls,
    coverage: addCounts(before.coverage, result.coverage),
    failed: [...before.failed, ...failed],
  };
}

function joined(ranges: Progress["done"]): Progress["done"] {
  const merged: [number, number][] = [];
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

export interface RunOptions {
  readonly first: number;
  readonly count: number;
  readonly steps: number;
  readonly jobs: number;
  /** Go on after a violation. */
  readonly keep: boolean;
  /** What an earlier run has done, which is left out. */
  readonly before: Progress;
  /** Starts what simulates one seed after another. By default a thread. */
  readonly start?: () => Simulator;
  /** Ends the run after the seeds that are under way. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/** What a thread is asked for. */
export interface Task {
  readonly seed: number;
  readonly steps: number;
}

export interface Simulator {
  /** Rejects when the history does not end, or ends with an error. It simulates no other then. */
  simulate(task: Task): Promise<Result>;
  end(): Promise<void>;
}

/** Runs the seeds that have not run yet. */
export async function runSeeds(options: RunOptions): Promise<Progress> {
  const { first, count, steps, jobs, keep, signal, onProgress } = options;
  const { start = () => new Thread() } = options;
  let progress = options.before;
  let next = first;
  const takeSeed = (): number | undefined => {
    while (next < first + count && hasRun(options.before, next)) next++;
    const isOver = signal.aborted || (!keep && progress.failed.length > 0);
    return isOver || next >= first + count ? undefined : next++;
  };
  const run = async (): Promise<void> => {
    let simulator = start();
    try {
      for (let seed = takeSeed(); seed !== undefined; seed = takeSeed()) {
        const result = await simulator.simulate({ seed, steps }).catch(async (error: unknown) => {
          await simulator.end();
          simulator = start();
          return unended({ seed, steps }, error);
        });
        // Read after the wait: other simulators have added theirs meanwhile.
        progress = addResult(progress, result);
        onProgress(progress);
      }
    } finally {
      await simulator.end();
    }
  };
  await Promise.all(Array.from({ length: jobs }, run));
  return progress;
}

function unended({ seed, steps }: Task, error: unknown): SeedResult {
  const why = error instanceof Error ? error.message : String(error);
  const replay = `npm run simulate -- --seed ${seed} --steps ${steps}`;
  return {
    seed,
    messages: 0,
    calls: 0,
    coverage: {},
    invariant: laws.historyEnds,
    failure: `seed ${seed} violates "${laws.historyEnds}"\n  ${why}\nReplay: ${replay}`,
  };
}

/**
 * How long a history may take, in milliseconds: many times what it takes on a busy machine. Only a
 * history that repeats something forever takes longer.
 */
const historyLimitMs = (steps: number): number => 60_000 + 1_000 * steps;

const simulateInThread = new URL("./simulate-in-thread.ts", import.meta.url);

/** A thread that simulates one seed after another. */
export class Thread implements Simulator {
  readonly #worker: Worker;
  readonly #limitMs: typeof historyLimitMs;

  constructor(program = simulateInThread, limitMs = historyLimitMs) {
    this.#worker = new Worker(program);
    this.#limitMs = limitMs;
  }

  async simulate(task: Task): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const limitMs = this.#limitMs(task.steps);
    const limit = setTimeout(() => {
      reject(new Error(`The history did not end within ${limitMs / 1_000} s.`));
    }, limitMs);
    this.#worker.removeAllListeners();
    this.#worker.once("message", resolve);
    this.#worker.once("error", reject);
    this.#worker.postMessage(task);
    try {
      return await promise;
    } finally {
      clearTimeout(limit);
    }
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
