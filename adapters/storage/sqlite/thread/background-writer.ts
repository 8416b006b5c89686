import { CommitThread } from "./commit-thread.ts";

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
  #thread: CommitThread | undefined;
  #isClosed = false;
  /** How many large groups have come since the thread was last started. */
  #largeGroups = 0;

  constructor(file: string, { minWrites, minGroups }: BackgroundThresholds) {
    this.#file = file;
    this.#minWrites = minWrites;
    this.#minGroups = minGroups;
  }

  /**
   * Returns the thread if it takes a group of `writeCount` writes. Starts it after enough large
   * groups. If the log is long, every group is large: the checkpoint after it may take seconds.
   */
  threadFor(writeCount: number, isLogLong: boolean): CommitThread | undefined {
    if ((writeCount < this.#minWrites && !isLogLong) || this.#isClosed) return undefined;
    this.#largeGroups++;
    if (this.#thread === undefined && this.#largeGroups >= this.#minGroups) void this.start();
    return this.#thread?.isReady === true ? this.#thread : undefined;
  }

  /**
   * Starts the thread. Resolves when it accepts commits, or when it turns out that no thread can be
   * started.
   */
  async start(): Promise<void> {
    this.#largeGroups = 0;
    this.#minGroups *= 2;
    this.#thread = CommitThread.start(this.#file, () => {
      this.#thread = undefined;
    });
    await this.#thread?.started;
  }

  /** Resolves when the thread has closed the file. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.close();
  }
}
