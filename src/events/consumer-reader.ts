import { moveConsumer } from "./move-consumer.ts";
import { openConsumer } from "./open-consumer.ts";
import { consumerByName, type ConsumerRow } from "./consumer-rows.ts";
import { consumerLane } from "./consumer-rules.ts";
import { eventsByPosition } from "./rows.ts";
import type { EventType } from "./types.ts";
import { encodeLane, jobsByLane } from "../queue/index.ts";
import type { Clock, Logger, Seen } from "../ports/index.ts";
import { Follower, type Step } from "./follower.ts";
import { look, type Store } from "../store/index.ts";

export interface ConsumerReaderOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly name: string;
  readonly types: readonly EventType[];
  /** Where a consumer begins that is new to the storage. */
  readonly from: "now" | "beginning";
}

const own = { own: true } as const;
/** Events that are queued in one transaction. */
const pageSize = 100;
/** When so many keys wait for their job, no more events are read: the log keeps them, and the job table stays small. */
const maxWaiting = 100;
/** How often the stored position moves at most while no event is for the consumer, in milliseconds. */
const behindMs = 60_000;

/**
 * Follows the log of events for one consumer. It reads whenever something may have been committed, and writes only when an event
 * is for the consumer, so commands cost the same with and without consumers. Every engine that has the consumer follows the
 * log; the stored position decides which engine was first.
 */
export class ConsumerReader {
  readonly #options: ConsumerReaderOptions;
  readonly #follower: Follower;
  #opened = false;
  #isFull = false;
  /** The stored position as last read, and how far the log was read from there without finding an event. */
  #position = { stored: -1, read: -1 };

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

  /** Creates the stored position of a new consumer: events from here on are not missed. */
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

  /** A job of the consumer has ended, so there is room for another key. */
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
      prefix: ["work", encodeLane(consumerLane(name))],
      order: "ascending",
      limit: maxWaiting,
    } as const;
    const [consumer, keys] = await Promise.all([
      store.unscopedReads.get(consumerByName, [name]),
      store.unscopedReads.range(waiting),
    ]);
    if (consumer === undefined) {
      logger.warn({ consumer: name }, "a consumer was removed; it gets no more events");
      return "over";
    }
    this.#isFull = keys.length >= maxWaiting;
    if (this.#isFull) return "through";
    const { stored, read } = this.#position;
    const from = stored === consumer.position ? read : consumer.position;
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
    this.#position = { stored: consumer.position, read: to };
    return more ? "more" : "through";
  }

  #isBehind({ position, moved_at }: Seen<ConsumerRow>, to: number): boolean {
    return to > position && this.#options.clock.now() - moved_at > behindMs;
  }
}
