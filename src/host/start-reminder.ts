import type { Consumers } from "../events/index.ts";
import type { Clock } from "../ports/index.ts";
import {
  findUnattendedJob,
  firstDueAt,
  jobs,
  WakeFlag,
  type JobRow,
  type RunnableJobs,
} from "../queue/index.ts";
import { runnableJobs } from "./background-work.ts";
import type { EngineRuntime } from "./engine-runtime.ts";

/** How long work waits before the engine checks whether any engine runs it, in milliseconds. */
const waitMs = 4_000;
/**
 * The time until the second check, in milliseconds. Between two jobs, a busy dispatcher holds no
 * lease for a moment, so one check proves nothing.
 */
const confirmMs = 1_000;

/**
 * Warns once if work of an engine that was never started has been due for 5 seconds and no engine
 * on the storage runs it. Its timers do not keep the process alive.
 */
export class StartReminder {
  readonly #runtime: EngineRuntime;
  readonly #runnable: RunnableJobs;
  readonly #clock: Clock;
  readonly #wake: WakeFlag;
  readonly #stop = new AbortController();
  readonly #unsubscribe: () => void;

  constructor(runtime: EngineRuntime, consumers: Consumers) {
    const { clock, store } = runtime;
    this.#runtime = runtime;
    this.#runnable = runnableJobs(runtime, consumers);
    this.#clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      sleep: (ms, signal) => clock.sleep(ms, signal, { ref: false }),
    };
    this.#wake = new WakeFlag(this.#clock);
    this.#unsubscribe = store.onCommit((writes) => {
      if (writes.some(({ collection }) => collection === jobs)) this.wake();
    });
    void this.#run();
  }

  /** Looks for due work again. Call this when another process may have armed jobs. */
  wake(): void {
    this.#wake.raise();
  }

  stop(): void {
    this.#unsubscribe();
    this.#stop.abort();
    this.wake();
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        if (await this.#warnIfUnattended()) break;
      } catch {
        // The storage does not respond. Commands report that.
        await this.#sleep(waitMs);
      }
    }
    this.stop();
  }

  /** Waits for due work, and warns if no engine runs it. Returns whether it has warned. */
  async #warnIfUnattended(): Promise<boolean> {
    const { store, logger } = this.#runtime;
    this.#wake.lower();
    const dueAt = await firstDueAt(store.unscopedReads, this.#runnable.pools);
    const age = this.#clock.now() - (dueAt ?? Infinity);
    if (age < 0) {
      await this.#wake.wait(-age);
      await this.#sleep(confirmMs);
      return false;
    }
    await this.#sleep(age < waitMs ? waitMs - age : waitMs);
    const job = await this.#findUnattendedJob();
    if (job === undefined) return false;
    await this.#sleep(confirmMs);
    const later = await this.#findUnattendedJob();
    if (later?.kind !== job.kind || later.key !== job.key) return false;
    if (this.#stop.signal.aborted) return false;
    logger.warn(
      { job: job.kind, due_at: new Date(job.due_at).toISOString() },
      "work is due, but no engine runs it: call engine.start() here or in another process on " +
        "the same storage",
    );
    return true;
  }

  async #findUnattendedJob(): Promise<JobRow | undefined> {
    if (this.#stop.signal.aborted) return undefined;
    const now = this.#clock.now();
    return findUnattendedJob(this.#runtime.store.unscopedReads, this.#runnable, {
      now,
      since: now - waitMs,
    });
  }

  #sleep(ms: number): Promise<void> {
    return this.#clock.sleep(ms, this.#stop.signal);
  }
}
