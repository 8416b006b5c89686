import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { TidingsError } from "../../../src/kernel/errors.ts";
import { StorageConflict } from "../../../src/ports/storage.ts";
import { translated } from "./errors.ts";
import type { Step } from "./writes.ts";

/** What the thread answers to a group's steps: nothing when they are committed. */
export type Failure =
  | { readonly conflict: string }
  | { readonly errcode: number | undefined; readonly message: string };

export type FromThread = "ready" | "committed" | Failure;
export type ToThread = readonly Step[] | "close";

interface Pending {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface Sending {
  /** Groups with fewer writes are committed where they are: sending them costs more than writing them. */
  readonly fewest: number;
  /** How many groups that are large enough must have come before a thread is started; with 0 it is there from the beginning. */
  readonly after: number;
}

export const underLoad: Sending = { fewest: 64, after: 8 };

/**
 * Commits in a thread of its own, so that the next group's commands run meanwhile, and the host's event loop never waits for the disk
 * while there is load. Where no thread can be had, commits stay where they were.
 */
export class BackgroundWriter {
  readonly #file: string;
  readonly #sending: Sending;
  #worker: Worker | undefined;
  #isReady = false;
  #isClosed = false;
  #large = 0;
  #pending: Pending | undefined;

  constructor(file: string, sending: Sending) {
    this.#file = file;
    this.#sending = sending;
  }

  /** Whether to hand over a group of so many writes. When large ones keep coming, the thread is started. */
  takes(writes: number): boolean {
    const { fewest, after } = this.#sending;
    if (writes < fewest || this.#isClosed) return false;
    if (++this.#large === after) void this.start();
    return this.#isReady;
  }

  /** One at a time. */
  commit(steps: readonly Step[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      // A process may end while the thread is idle, and not before a commit is answered.
      this.#worker?.ref();
      this.#worker?.postMessage(steps satisfies ToThread);
    });
  }

  /** Resolves when the thread has closed the file. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#isClosed = true;
    if (worker === undefined) return;
    worker.ref();
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    worker.postMessage("close" satisfies ToThread);
    await ended;
  }

  /** Resolves when commits can be handed over, or when it has turned out that no thread can be had. */
  async start(): Promise<void> {
    try {
      // The sources run as they are written, the package as it was built.
      const name = import.meta.url.endsWith(".ts") ? "./worker.ts" : "./sqlite-worker.js";
      const worker = new Worker(new URL(name, import.meta.url), { workerData: this.#file });
      this.#worker = worker;
      worker.unref();
      worker.on("message", (message: FromThread) => this.#heed(message));
      const ended = new Promise<void>((resolve) => {
        worker.on("error", (error) => this.#end(error));
        worker.on("exit", () => {
          this.#end(undefined);
          resolve();
        });
      });
      await Promise.race([once(worker, "message"), ended]);
    } catch {
      // The process may not start threads.
    }
  }

  #heed(message: FromThread): void {
    if (message === "ready") {
      this.#isReady = true;
      return;
    }
    const pending = this.#pending;
    this.#pending = undefined;
    this.#worker?.unref();
    if (message === "committed") pending?.resolve();
    else pending?.reject(errorOf(message));
  }

  #end(cause: unknown): void {
    this.#isReady = false;
    this.#worker = undefined;
    const message =
      "The thread that writes the database ended; it can't be known whether it committed.";
    this.#pending?.reject(new TidingsError("storage_unavailable", message, { cause }));
    this.#pending = undefined;
  }
}

function errorOf(failure: Failure): unknown {
  if ("conflict" in failure) return new StorageConflict(failure.conflict);
  const { errcode, message } = failure;
  return translated(Object.assign(new Error(message), { errcode }));
}
