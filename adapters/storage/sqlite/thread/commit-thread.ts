import type { Worker } from "node:worker_threads";
import { toStorageError, unavailableError } from "../errors.ts";
import type { Step } from "../writes/steps.ts";
import { changedError } from "../writes/writes.ts";
import {
  startThread,
  type Failure,
  type WorkerRequest,
  type WorkerResponse,
} from "./start-thread.ts";

interface Pending {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A worker thread that commits groups, one after the other. */
export class CommitThread {
  readonly #worker: Worker;
  readonly #file: string;
  #state: "starting" | "ready" | "closing" | "ended" = "starting";
  /** The commits in progress. The thread answers them in this order. */
  readonly #pending: Pending[] = [];
  /** Resolves when the thread accepts commits, or has ended because it cannot open the file. */
  readonly started: Promise<void>;
  readonly #ended: Promise<void>;

  /**
   * Starts a thread. `onEnd` is called when it has ended. Returns undefined if the process may not
   * start threads.
   */
  static start(file: string, onEnd: () => void): CommitThread | undefined {
    const worker = startThread({ file });
    return worker && new CommitThread(worker, file, onEnd);
  }

  private constructor(worker: Worker, file: string, onEnd: () => void) {
    this.#worker = worker;
    this.#file = file;
    worker.on("message", (message: WorkerResponse) => this.#onMessage(message));
    let cause: unknown;
    // A thread that cannot open the file ends with an error, too.
    worker.on("error", (error: unknown) => {
      cause = error;
    });
    this.#ended = new Promise((resolve) => {
      worker.on("exit", () => {
        onEnd();
        this.#onEnd(cause);
        resolve();
      });
    });
    const answered = new Promise<void>((resolve) => worker.once("message", () => resolve()));
    this.started = Promise.race([answered, this.#ended]);
  }

  /** Whether the thread accepts commits. */
  get isReady(): boolean {
    return this.#state === "ready";
  }

  /** Commits a group. Engines that share the storage may commit at the same time. */
  commit(steps: readonly Step[]): Promise<void> {
    return new Promise((resolve, reject) => {
      // If this throws, the thread sends no answer, so nothing may wait for one.
      this.#worker.postMessage(steps satisfies WorkerRequest);
      this.#pending.push({ resolve, reject });
      this.#worker.ref();
    });
  }

  /** Resolves when the thread has committed what it was given and closed the file. */
  async close(): Promise<void> {
    this.#state = "closing";
    this.#worker.ref();
    this.#worker.postMessage("close" satisfies WorkerRequest);
    await this.#ended;
  }

  #onMessage(message: WorkerResponse): void {
    if (message === "ready") {
      if (this.#state === "starting") this.#state = "ready";
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
    if (this.#pending.length === 0 && this.#state === "ready") this.#worker.unref();
  }

  #onEnd(cause: unknown): void {
    this.#state = "ended";
    const message =
      "The thread that writes to the database ended unexpectedly. The commits in progress may or " +
      "may not have happened.";
    for (const { reject } of this.#pending.splice(0)) {
      reject(unavailableError(message, this.#file, { cause }));
    }
  }
}

function errorOf(failure: Failure, file: string): unknown {
  if ("changed" in failure) return changedError(failure.changed);
  const { errcode, message } = failure;
  return toStorageError(Object.assign(new Error(message), { errcode }), file);
}
