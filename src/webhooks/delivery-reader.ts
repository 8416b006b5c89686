import { moveBookmark } from "./move-cursor.ts";
import { bookmarkByName, deliveries, deliveriesByPosition } from "./rows.ts";
import { Follower, type Step } from "../events/index.ts";
import type { Clock, Logger } from "../ports/index.ts";
import type { Store } from "../store/index.ts";

export interface DeliveryReaderOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Deliveries of one read. */
const pageSize = 500;

/**
 * Follows the log of deliveries and arms the job of each webhook that has new ones. So a transaction that creates events writes
 * no job, and many deliveries of one webhook arm its job once. Every engine follows the log; the stored cursor decides which
 * engine was first.
 */
export class DeliveryReader {
  readonly #store: Store;
  readonly #follower: Follower;
  #unsubscribe = (): void => {};

  constructor({ store, clock, logger }: DeliveryReaderOptions) {
    this.#store = store;
    this.#follower = new Follower({
      clock,
      turn: () => store.turn(),
      step: () => this.#step(),
      failed: (err) => logger.warn({ err }, "new deliveries could not be read; trying again"),
    });
  }

  start(): void {
    this.#unsubscribe = this.#store.onCommit((writes) => {
      if (writes.some(({ kind, collection }) => kind === "insert" && collection === deliveries)) {
        this.wake();
      }
    });
    this.#follower.start();
  }

  /** Another process may have committed deliveries. */
  wake(): void {
    this.#follower.wake();
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    await this.#follower.stop();
  }

  async #step(): Promise<Step> {
    const reads = this.#store.unscopedReads;
    const from = (await reads.get(bookmarkByName, ["deliveries"]))?.position ?? 0;
    const range = {
      index: deliveriesByPosition,
      prefix: [],
      order: "ascending",
      limit: pageSize,
    } as const;
    const found = await reads.range({ ...range, after: [from] });
    const last = found.at(-1);
    if (last === undefined) return "through";
    const webhooks = new Map(
      found.map(({ account_id, mode, webhook_id }) => [webhook_id, { account_id, mode }]),
    );
    await this.#store.commitUnscoped(
      (tx) => moveBookmark(tx, { from, to: last.position, webhooks }),
      {
        own: true,
      },
    );
    return found.length === pageSize ? "more" : "through";
  }
}
