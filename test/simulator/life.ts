/** One life of an engine. When it ends, nothing that was asked of the engine's ports is answered any more. */
export class Life {
  readonly name: string;
  /** What its clock shows beyond the true time, in milliseconds. */
  skew = 0;
  readonly died: Promise<void>;
  #alive = true;
  #die: () => void = () => {};

  constructor(name: string) {
    this.name = name;
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
  }

  get alive(): boolean {
    return this.#alive;
  }

  end(): void {
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
