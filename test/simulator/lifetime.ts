/**
 * One run of an engine process, from its start to its end. When it ends, calls to the engine's
 * ports never return.
 */
export class Lifetime {
  readonly name: string;
  /** How far the engine's clock is ahead of the world's, in milliseconds. */
  skew = 0;
  /** When it could not reach the storage or got no answer from it, by the world's clock. */
  readonly outages: { readonly from: number; readonly until: number }[] = [];
  readonly ended: Promise<void>;
  /** When it ended, by the world's clock. */
  endedAt: number | undefined;
  readonly #now: () => number;
  #isAlive = true;
  #resolveEnded: () => void = () => {};

  constructor(name: string, now: () => number) {
    this.name = name;
    this.#now = now;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  end(): void {
    this.endedAt ??= this.#now();
    this.#isAlive = false;
    this.#resolveEnded();
  }

  /** The same promise, but it never settles once the process has ended. */
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

export function never<T>(): Promise<T> {
  return new Promise(() => {});
}
