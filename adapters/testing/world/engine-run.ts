/** A time in which an engine could not use the storage. */
export interface Outage {
  /** When it began, in milliseconds since the world began. Steps of the clock do not count. */
  readonly from: number;
  /** When it ended or ends, likewise. `Infinity` if that is not known: a partition. */
  readonly until: number;
}

/** One run of an engine's process, from its start to its end. */
export interface EngineRun {
  /** The name of the engine. */
  readonly name: string;
  /** 1 for the first run of the engine, and one more after each restart. */
  readonly number: number;
  /** How far the engine's clock is ahead of the world's, in milliseconds. */
  readonly skewMs: number;
  /** When the engine could not reach the storage, or got no answer from it. */
  readonly outages: readonly Outage[];
  /** Resolves when the run ends. */
  readonly ended: Promise<void>;
  /**
   * When it ended, in milliseconds since the world began. Steps of the clock do not count.
   * Undefined while it runs.
   */
  readonly endedAt: number | undefined;
  /** Whether the process runs. */
  readonly isAlive: boolean;
  /** Returns the same promise, but it never settles once the process has ended. */
  guard<T>(promise: Promise<T>): Promise<T>;
}

/** A run that its process can end. */
export class ProcessRun implements EngineRun {
  readonly name: string;
  readonly number: number;
  skewMs = 0;
  readonly outages: Outage[] = [];
  endedAt: number | undefined;
  readonly #now: () => number;
  readonly #ended = Promise.withResolvers<void>();
  #isAlive = true;

  constructor(name: string, number: number, now: () => number) {
    this.name = name;
    this.number = number;
    this.#now = now;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  end(): void {
    this.endedAt ??= this.#now();
    this.#isAlive = false;
    this.#ended.resolve();
  }

  guard<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => {
          if (this.#isAlive) resolve(value);
        },
        (error: unknown) => {
          if (this.#isAlive) reject(error);
        },
      );
    });
  }
}

/** Makes a call of a process. It never settles if the process has ended, before or meanwhile. */
export function callWhileAlive<T>(run: EngineRun, call: () => Promise<T>): Promise<T> {
  return run.isAlive ? run.guard(call()) : never();
}

export function never<T>(): Promise<T> {
  return new Promise(() => {});
}
