import type { Lookup } from "../ports/index.ts";
import type { Rows, Snapshot } from "./snapshot.ts";

/** The reads of one body, noted, so that it is known what its outcome rests on. */
export interface NotedReads extends Snapshot {
  readonly lookups: readonly Lookup[];
}

interface Running {
  /** Reads of the storage that it waits for. */
  waits: number;
  readonly refuse: (error: Error) => void;
}

/**
 * Runs the bodies of commands, and refuses one that awaits anything but its transaction: it would hold every other command.
 * Reads and microtasks settle within a turn of the event loop, so a body that is unsettled after a whole turn and waits for
 * no read awaits something else.
 */
export class Bodies {
  readonly #turn: () => Promise<void>;
  readonly #running = new Set<Running>();
  #watching = false;

  constructor(turn: () => Promise<void>) {
    this.#turn = turn;
  }

  run<T>(snapshot: Snapshot, body: (reads: NotedReads) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const running: Running = { waits: 0, refuse: reject };
      this.#running.add(running);
      body(this.#noted(snapshot, running)).then(
        (value) => {
          this.#running.delete(running);
          resolve(value);
        },
        (error: unknown) => {
          this.#running.delete(running);
          reject(error);
        },
      );
      this.#watch();
    });
  }

  #noted(snapshot: Snapshot, running: Running): NotedReads {
    const lookups: Lookup[] = [];
    return {
      lookups,
      read: (lookup, id) => {
        lookups.push(lookup);
        const rows = snapshot.read(lookup, id);
        return rows instanceof Promise ? this.#waitFor(running, rows) : rows;
      },
    };
  }

  async #waitFor(running: Running, rows: Promise<Rows>): Promise<Rows> {
    running.waits++;
    try {
      return await rows;
    } finally {
      running.waits--;
      this.#watch();
    }
  }

  #watch(): void {
    if (this.#watching) return;
    const watched = [...this.#running].filter(({ waits }) => waits === 0);
    if (watched.length === 0) return;
    this.#watching = true;
    void this.#turn().then(() => {
      this.#watching = false;
      for (const running of watched) {
        if (running.waits === 0 && this.#running.delete(running)) running.refuse(foreignAwait());
      }
      this.#watch();
    });
  }
}

function foreignAwait(): Error {
  return new TypeError(
    "A command may await its transaction and nothing else: it would hold up every other command. Do I/O before or after it.",
  );
}
