import { moveBookmark } from "../commands/move-bookmark.ts";
import { bookmarkByName, deliveries, deliveriesByPosition } from "../domain/webhooks/rows.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import { Signal } from "../signal.ts";
import type { Store } from "../transactions/store.ts";

export interface DeliveryReaderOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

const own = { own: true } as const;
/** Deliveries whose webhooks are told in one transaction. */
const pageSize = 500;
/** The net under the wake-ups. */
const pollMs = 5_000;
/** After a failure. */
const pauseMs = 1_000;

/**
 * Follows the log of deliveries, and arms the job of each webhook that has new ones. So a transaction that brings events writes nothing that
 * others write too, and a webhook that gets many is told once. Every engine follows; the bookmark says who was first.
 */
export class DeliveryReader {
  readonly #options: DeliveryReaderOptions;
  readonly #fresh: Signal;
  #unsubscribe = (): void => {};
  #stopping = false;
  #loop: Promise<void> | undefined;

  constructor(options: DeliveryReaderOptions) {
    this.#options = options;
    this.#fresh = new Signal(options.clock);
  }

  start(): void {
    this.#unsubscribe = this.#options.store.onCommit((writes) => {
      if (writes.some(({ kind, collection }) => kind === "insert" && collection === deliveries)) this.#fresh.raise();
    });
    this.#loop ??= this.#run();
  }

  /** Another process may have committed some. */
  wake(): void {
    this.#fresh.raise();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#unsubscribe();
    this.#fresh.raise();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { store, logger } = this.#options;
    while (!this.#stopping) {
      // Lowered before the reads: what commits meanwhile raises it again.
      this.#fresh.lower();
      let wait = pollMs;
      try {
        if (await this.#step()) {
          await store.turn();
          continue;
        }
      } catch (error) {
        logger.warn({ err: error }, "new deliveries could not be read; trying again");
        wait = pauseMs;
      }
      if (!this.#stopping) await this.#fresh.wait(wait);
    }
  }

  /** Answers whether there may be more. */
  async #step(): Promise<boolean> {
    const { store } = this.#options;
    const { reads } = store;
    const from = (await reads.get(bookmarkByName, ["deliveries"]))?.position ?? 0;
    const range = { index: deliveriesByPosition, prefix: [], order: "ascending", limit: pageSize } as const;
    const found = await reads.range({ ...range, after: [from] });
    const last = found.at(-1);
    if (last === undefined) return false;
    const webhooks = new Map(found.map(({ account_id, mode, webhook_id }) => [webhook_id, { account_id, mode }]));
    await store.commit((tx) => moveBookmark(tx, { from, to: last.position, webhooks }), own);
    return found.length === pageSize;
  }
}
