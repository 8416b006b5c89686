/** One life of an engine. When it ends, nothing that was asked of the engine's ports is answered any more. */
export class Life {
  readonly name: string;
  /** What its clock shows beyond the true time, in milliseconds. */
  skew = 0;
  /** When it could not reach the storage, or got no answer from it, in true time. */
  readonly outages: { readonly from: number; readonly until: number }[] = [];
  readonly died: Promise<void>;
  /** The true time of its end. */
  endedAt: number | undefined;
  readonly #now: () => number;
  #alive = true;
  #die: () => void = () => {};

  constructor(name: string, now: () => number) {
    this.name = name;
    this.#now = now;
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
  }

  get alive(): boolean {
    return this.#alive;
  }

  end(): void {
    this.endedAt ??= this.#now();
    this.#alive = false;
    this.#die();
  }

  /** The same promise, as long as somebody is there to hear of it. */
  guard<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => {
          if (this.#alive) resolve(value);
        },
        (error: unknown) => {
          if (this.#alive) reject(error);
        },
      );
    });
  }
}

export function never<T>(): Promise<T> {
  return new Promise(() => {});
}
