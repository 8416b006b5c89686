import { notFound, TidingsError } from "../../kernel/index.ts";
import type { Clock, Logger, Seen } from "../../ports/index.ts";
import { arm, encodeLane, Follower, jobsByLane, leaseMs, type Step } from "../../queue/index.ts";
import { background, scan, type Store, type UnscopedTx } from "../../store/index.ts";
import { eventsByPosition, type EventRow } from "../rows.ts";
import type { EventType } from "../types.ts";
import { consumeJob, consumerLane } from "./job-orders.ts";
import { getConsumerBacklog } from "./reads.ts";
import { completeRemoval, isBeingRemoved } from "./remove-consumer.ts";
import {
  consumerByName,
  consumerEvents,
  consumers,
  maxConsumers,
  type ConsumerRow,
} from "./rows.ts";
import type { ConsumerBacklog } from "./types.ts";

interface ConsumerReaderOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly name: string;
  readonly types: readonly EventType[];
  /** Where a new consumer starts. */
  readonly from: "now" | "beginning";
}

/** Events that one transaction queues. */
const pageSize = 100;
/**
 * When this many keys wait for their job, no more events are read. The events stay in the log, and
 * the job table stays small while the handler is slow. Keys whose event has failed wait in the slow
 * lane and are not counted: the other keys must not wait for the time of their next call, which may
 * be an hour away. So while the handler fails for every event, each key with a new event has a job.
 * Keys that wait for longer than a lease, because the clock was set back, are not counted either.
 */
const maxWaiting = 100;
/** The minimum time between two writes of the position while no event matches, in milliseconds. */
const behindMs = 60_000;

/**
 * Follows the log of events for one consumer. It reads whenever something may have been committed,
 * and writes only when an event matches, so consumers add no cost to commands. Every engine that
 * has the consumer follows the log. The stored position decides which engine was first.
 */
export class ConsumerReader {
  readonly #options: ConsumerReaderOptions;
  readonly #follower: Follower;
  #opened = false;
  #isFull = false;
  /**
   * The stored position as last read, and the position up to which the log was read without a
   * match.
   */
  #position = { stored: -1, read: -1 };

  constructor(options: ConsumerReaderOptions) {
    this.#options = options;
    this.#follower = new Follower({
      ...options,
      step: () => this.#step(),
      facts: { consumer: options.name },
      failureText: "failed to read events for a consumer; retrying",
      recoveryText: "events for a consumer can be read again",
    });
  }

  /** Creates the position of a new consumer. Later events are not missed. */
  async open(): Promise<void> {
    if (this.#opened) return;
    const { store, name, from } = this.#options;
    const last = { index: eventsByPosition, prefix: [], order: "descending", limit: 1 } as const;
    const [newest] = from === "now" ? await store.unscopedReads.range(last) : [];
    const open = (tx: UnscopedTx) => openConsumer(tx, name, newest?.position ?? 0);
    while ((await store.commitUnscoped(open, background)) === "being_removed") {
      await completeRemoval(store, name);
    }
    this.#opened = true;
  }

  start(): void {
    this.#follower.start();
  }

  /** Reads the log again. Call this when events may have been committed. */
  wake(): void {
    this.#follower.wake();
  }

  /** A job of the consumer has ended, so another key can be queued. */
  onJobEnd(): void {
    if (this.#isFull) this.wake();
  }

  /**
   * Returns what the consumer has not handled yet, in all engines.
   * @throws TidingsError `not_found` before a started engine has created the position
   */
  async backlog(): Promise<ConsumerBacklog> {
    const { clock, store, name, types } = this.#options;
    const consumer = await store.unscopedReads.get(consumerByName, [name]);
    if (consumer === undefined) throw notFound("consumer");
    const position = this.#placeFrom(consumer);
    return getConsumerBacklog(store.unscopedReads, { name, types, position }, clock.now());
  }

  async stop(): Promise<void> {
    await this.#follower.stop();
  }

  async #step(): Promise<Step> {
    const { store, clock, logger, name, types } = this.#options;
    await this.open();
    if (await this.#isQuiet()) return "wait";
    const [consumer, keys] = await Promise.all([
      store.unscopedReads.get(consumerByName, [name]),
      store.unscopedReads.range({
        index: jobsByLane,
        prefix: ["work", encodeLane(consumerLane(name))],
        order: "ascending",
        until: [clock.now() + 2 * leaseMs],
        limit: maxWaiting,
      }),
    ]);
    if (consumer === undefined) {
      logger.warn({ consumer: name }, "the consumer was removed, so it receives no more events");
      return "over";
    }
    this.#isFull = keys.length >= maxWaiting;
    if (this.#isFull) return "wait";
    const from = this.#placeFrom(consumer);
    const { rows, more, last } = await scan(store.unscopedReads, {
      index: eventsByPosition,
      prefix: [],
      order: "ascending",
      after: [from],
      where: { type: types },
      limit: pageSize,
    });
    const to = Number(last?.[0] ?? from);
    if (rows.length > 0 || this.#isOutdated(consumer, to)) {
      await store.commitUnscoped(
        (tx) => moveConsumer(tx, { name, from: consumer.position, to, events: rows }),
        background,
      );
    }
    this.#position = { stored: consumer.position, read: to };
    return more ? "more" : "wait";
  }

  /** Whether nothing was committed after the stored position. Spares the other reads of a poll. */
  async #isQuiet(): Promise<boolean> {
    const { stored, read } = this.#position;
    if (this.#isFull || stored < 0 || stored !== read) return false;
    const [next] = await this.#options.store.unscopedReads.range({
      index: eventsByPosition,
      prefix: [],
      order: "ascending",
      after: [read],
      limit: 1,
    });
    return next === undefined;
  }

  /** Returns where reading continues. This engine may have read further than is stored. */
  #placeFrom({ position }: Pick<ConsumerRow, "position">): number {
    const { stored, read } = this.#position;
    return stored === position ? read : position;
  }

  #isOutdated({ position, moved_at }: Seen<ConsumerRow>, to: number): boolean {
    return to > position && this.#options.clock.now() - moved_at > behindMs;
  }
}

/**
 * Creates the position of the consumer unless it exists.
 * @throws TidingsError `conflict` when there are too many consumers
 */
async function openConsumer(
  tx: UnscopedTx,
  name: string,
  position: number,
): Promise<"open" | "being_removed"> {
  const known = await tx.get(consumerByName, [name]);
  if (known !== undefined) return (await isBeingRemoved(tx, known)) ? "being_removed" : "open";
  const others = await tx.list(consumers.primary, [], maxConsumers);
  if (others.length === maxConsumers) {
    throw new TidingsError(
      "conflict",
      `consume: name: there are ${maxConsumers} consumers, and no more are possible, so ${name} ` +
        "cannot be created. Remove one with removeConsumer.",
    );
  }
  // Written, so that of two transactions that create consumers, the later one counts again.
  const [first] = others;
  if (first !== undefined) tx.touch(consumers, first);
  tx.insert(consumers, { name, position, moved_at: tx.now });
  return "open";
}

interface ConsumerMove {
  readonly name: string;
  /** The position of the consumer when the log was read. */
  readonly from: number;
  readonly to: number;
  /** The events in the range that the consumer wants. */
  readonly events: readonly EventRow[];
}

/**
 * Moves a consumer along the log and queues its events. When several engines read the same range,
 * only the first one moves the consumer. The others find a changed position and write nothing.
 */
async function moveConsumer(
  tx: UnscopedTx,
  { name, from, to, events }: ConsumerMove,
): Promise<void> {
  const consumer = await tx.get(consumerByName, [name]);
  if (consumer?.position !== from || (await isBeingRemoved(tx, consumer))) return;
  tx.update(consumers, consumer, { position: to, moved_at: tx.now });
  const keys = new Set<string>();
  for (const { id: event_id, position, account_id, mode, conversation_id, contact_id } of events) {
    const key = conversation_id ?? contact_id ?? event_id;
    keys.add(key);
    const fresh = { failures: 0, retry_at: null, error: null, parked_at: null };
    tx.insert(consumerEvents, {
      consumer: name,
      key,
      position,
      event_id,
      account_id,
      mode,
      ...fresh,
    });
  }
  await Promise.all([...keys].map((key) => arm(tx, consumeJob({ consumer: name, key }, tx.now))));
}
