import { moveConsumer } from "./move-consumer.ts";
import { openConsumer } from "./open-consumer.ts";
import { consumerByName, type ConsumerRow } from "./consumer-rows.ts";
import { consumerLane } from "./consumer-rules.ts";
import { eventsByPosition } from "./rows.ts";
import type { EventType } from "./types.ts";
import { jobsByLane } from "../queue/rows.ts";
import type { Clock } from "../ports/clock.ts";
import type { Seen } from "../ports/collection.ts";
import type { Logger } from "../ports/logger.ts";
import { Follower, type Step } from "./follower.ts";
import { look } from "../store/look.ts";
import type { Store } from "../store/store.ts";

export interface ConsumerReaderOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly name: string;
  readonly types: readonly EventType[];
  /** Where a new consumer begins. */
  readonly from: "now" | "beginning";
}

const own = { own: true } as const;
/** Events that are queued in one transaction. */
const pageSize = 100;
/** Keys that wait for their turn before more is read: the log keeps the rest, and other jobs are found among fewer. */
const mostWaiting = 100;
/** How far behind the stored place may be where nothing is for the consumer: it is written no more often than that. */
const behindMs = 60_000;

/**
 * Follows the log of events for one consumer: whenever something may have been committed it looks, and only where something is for the
 * consumer does it write. So commands cost nothing more, with or without consumers. Every engine that has the consumer follows; the
 * stored place says who was first.
 */
export class ConsumerReader {
  readonly #options: ConsumerReaderOptions;
  readonly #follower: Follower;
  #opened = false;
  #isFull = false;
  /** The stored place as it was last seen, and how far the log was looked at from there without finding anything. */
  #place = { stored: -1, looked: -1 };

  constructor(options: ConsumerReaderOptions) {
    this.#options = options;
    const { clock, store, logger, name } = options;
    this.#follower = new Follower({
      clock,
      turn: () => store.turn(),
      step: () => this.#step(),
      failed: (err) =>
        logger.warn(
          { err, consumer: name },
          "the log of events could not be read for a consumer; trying again",
        ),
    });
  }

  /** What is committed from here on is not missed. */
  async open(): Promise<void> {
    if (this.#opened) return;
    const { store, name, from } = this.#options;
    const last = { index: eventsByPosition, prefix: [], order: "descending", limit: 1 } as const;
    const [newest] = from === "now" ? await store.unscopedReads.range(last) : [];
    await store.commitUnscoped((tx) => openConsumer(tx, name, newest?.position ?? 0), own);
    this.#opened = true;
  }

  start(): void {
    this.#follower.start();
  }

  /** Something may have been committed. */
  wake(): void {
    this.#follower.wake();
  }

  /** A key had its turn. */
  roomMade(): void {
    if (this.#isFull) this.wake();
  }

  async stop(): Promise<void> {
    await this.#follower.stop();
  }

  async #step(): Promise<Step> {
    const { store, logger, name, types } = this.#options;
    await this.open();
    const waiting = {
      index: jobsByLane,
      prefix: ["work", consumerLane(name)],
      order: "ascending",
      limit: mostWaiting,
    } as const;
    const [consumer, keys] = await Promise.all([
      store.unscopedReads.get(consumerByName, [name]),
      store.unscopedReads.range(waiting),
    ]);
    if (consumer === undefined) {
      logger.warn({ consumer: name }, "a consumer was removed; it gets no more events");
      return "over";
    }
    this.#isFull = keys.length >= mostWaiting;
    if (this.#isFull) return "through";
    const { stored, looked } = this.#place;
    const from = stored === consumer.position ? looked : consumer.position;
    const { rows, more, last } = await look(store.unscopedReads, {
      index: eventsByPosition,
      prefix: [],
      order: "ascending",
      after: [from],
      where: { type: types },
      limit: pageSize,
    });
    const to = Number(last?.[0] ?? from);
    if (rows.length > 0 || this.#isBehind(consumer, to)) {
      await store.commitUnscoped(
        (tx) => moveConsumer(tx, { name, from: consumer.position, to, events: rows }),
        own,
      );
    }
    this.#place = { stored: consumer.position, looked: to };
    return more ? "more" : "through";
  }

  #isBehind({ position, moved_at }: Seen<ConsumerRow>, to: number): boolean {
    return to > position && this.#options.clock.now() - moved_at > behindMs;
  }
}
