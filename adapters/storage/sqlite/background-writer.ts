import { Worker } from "node:worker_threads";
import { toStorageError, unavailableError } from "./errors.ts";
import type { Step } from "./steps.ts";
import { changedError } from "./writes.ts";

/**
 * Why the thread could not commit a group: the collection of a row that has changed, or an error of
 * SQLite.
 */
export type Failure =
  { readonly changed: string } | { readonly errcode: number | undefined; readonly message: string };

/** What the thread sends. `ready` comes once, then one response for each group. */
export type WorkerResponse = "ready" | "committed" | Failure;
/** What the thread receives: the steps of one group, or the request to close the file. */
export type WorkerRequest = readonly Step[] | "close";

/** How much of the database to check when it is opened. */
export type Check = "quick" | "full";

/** What a thread gets. */
export interface ThreadData {
  readonly file: string;
  /** The thread only checks the pages. It sends the damage that it finds, or an empty text. */
  readonly check?: Check;
}

interface Pending {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** When commits move to the background thread. */
export interface BackgroundThresholds {
  /**
   * A group with fewer writes is committed on the main thread, because sending it takes longer than
   * writing it.
   */
  readonly minWrites: number;
  /**
   * How many large groups have to come before the thread starts. With 0 it starts at once. Each
   * start doubles the number for the next one, which comes if the thread has ended.
   */
  readonly minGroups: number;
}

/** The thresholds of `sqlite()`. */
export const defaultThresholds: BackgroundThresholds = { minWrites: 64, minGroups: 8 };

/**
 * Commits large groups in a worker thread. Meanwhile the next group's commands can run, and under
 * load the host application's event loop does not wait for the disk. While there is no thread,
 * because none could be started or it ended unexpectedly, the main thread commits.
 */
export class BackgroundWriter {
  readonly #file: string;
  readonly #minWrites: number;
  #minGroups: number;
  #worker: Worker | undefined;
  #isReady = false;
  #isClosed = false;
  /** How many large groups have come since the thread was last started. */
  #largeGroups = 0;
  /** The commits in progress. The thread answers them in this order. */
  readonly #pending: Pending[] = [];

  constructor(file: string, { minWrites, minGroups }: BackgroundThresholds) {
    this.#file = file;
    this.#minWrites = minWrites;
    this.#minGroups = minGroups;
  }

  /**
   * Whether the thread takes a group of `writeCount` writes. Starts the thread after enough large
   * groups. If the log is long, every group is large: the checkpoint after it may take seconds.
   */
  accepts(writeCount: number, isLogLong: boolean): boolean {
    if ((writeCount < this.#minWrites && !isLogLong) || this.#isClosed) return false;
    this.#largeGroups++;
    if (this.#worker === undefined && this.#largeGroups >= this.#minGroups) void this.start();
    return this.#isReady;
  }

  /** Commits a group. Engines that share the storage may commit at the same time. */
  commit(steps: readonly Step[]): Promise<void> {
    return new Promise((resolve, reject) => {
      // If this throws, the thread sends no answer, so nothing may wait for one.
      this.#worker?.postMessage(steps satisfies WorkerRequest);
      this.#pending.push({ resolve, reject });
      this.#worker?.ref();
    });
  }

  /** Resolves when the thread has closed the file. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#isClosed = true;
    if (worker === undefined) return;
    worker.ref();
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    worker.postMessage("close" satisfies WorkerRequest);
    await ended;
  }

  /**
   * Starts the thread. Resolves when it accepts commits, or when it turns out that no thread can be
   * started.
   */
  async start(): Promise<void> {
    this.#largeGroups = 0;
    this.#minGroups *= 2;
    const worker = startThread({ file: this.#file });
    if (worker === undefined) return;
    this.#worker = worker;
    worker.on("message", (message: WorkerResponse) => this.#onMessage(message));
    await new Promise<void>((resolve) => {
      worker.once("message", () => resolve());
      let cause: unknown;
      // A thread that cannot open the file ends with an error, too.
      worker.on("error", (error: unknown) => {
        cause = error;
      });
      worker.on("exit", () => {
        this.#onEnd(cause);
        resolve();
      });
    });
  }

  #onMessage(message: WorkerResponse): void {
    if (message === "ready") {
      // The thread may have ended before its message arrived.
      this.#isReady = this.#worker !== undefined;
      this.#unrefIfIdle();
      return;
    }
    const pending = this.#pending.shift();
    this.#unrefIfIdle();
    if (message === "committed") pending?.resolve();
    else pending?.reject(errorOf(message, this.#file));
  }

  /** While the thread is idle it must not keep the process alive. During a commit it must. */
  #unrefIfIdle(): void {
    if (this.#pending.length === 0 && !this.#isClosed) this.#worker?.unref();
  }

  #onEnd(cause: unknown): void {
    this.#isReady = false;
    this.#worker = undefined;
    const message =
      "The thread that writes to the database ended unexpectedly. The commits in progress may or " +
      "may not have happened.";
    for (const { reject } of this.#pending.splice(0)) {
      reject(unavailableError(message, this.#file, { cause }));
    }
  }
}

/**
 * Starts a thread with a connection to the file. Undefined if the process may not start threads.
 */
export function startThread(workerData: ThreadData): Worker | undefined {
  // The sources run as TypeScript, the package as built.
  const name = import.meta.url.endsWith(".ts") ? "./worker.ts" : "./sqlite-worker.js";
  try {
    return new Worker(new URL(name, import.meta.url), { workerData });
  } catch {
    return undefined;
  }
}

function errorOf(failure: Failure, file: string): unknown {
  if ("changed" in failure) return changedError(failure.changed);
  const { errcode, message } = failure;
  return toStorageError(Object.assign(new Error(message), { errcode }), file);
}
