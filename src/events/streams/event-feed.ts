import { scopeKey, type Scope } from "../../kernel/index.ts";
import type { LiveItem, LiveSubscription, Runtime, StreamFilter } from "../../operations/index.ts";
import type { Write } from "../../ports/index.ts";
import { Follower, type Step } from "../../queue/index.ts";
import type { Reads } from "../../store/index.ts";
import { eventResource, eventsByPosition, eventsOfAccount, type EventRow } from "../rows.ts";
import { LogWatcher } from "./log-watcher.ts";
import { Subscribers } from "./subscribers.ts";

type EventFeedOptions = Pick<Runtime, "store" | "clock" | "logger">;

/** Events that may wait in one subscription. */
const maxWaiting = 1_000;
/** Rows per read. */
const pageSize = 100;
/** Events that one step passes on to subscriptions, before the event loop runs other work. */
const maxPassedOn = 10_000;
/** The time between two reads of a scope's events if nothing wakes the reader, in milliseconds. */
const pollMs = 60_000;

/**
 * Passes new events on to the streams of this process. One reader serves all streams of an account
 * and mode, and an event causes work only for the streams that it matches.
 */
export class EventFeed {
  readonly #options: EventFeedOptions;
  readonly #watcher: LogWatcher<EventRow>;
  readonly #feeds = new Map<string, ScopeFeed>();
  #isClosed = false;

  constructor(options: EventFeedOptions) {
    this.#options = options;
    this.#watcher = new LogWatcher<EventRow>({
      ...options,
      byPosition: eventsByPosition,
      keyOf: scopeKey,
    });
  }

  /**
   * Subscribes to the events of a scope that match the filter. Calls `wake` when events wait, and
   * `full` when too many wait. The subscription then ends.
   */
  async subscribe(
    scope: Scope,
    filter: StreamFilter,
    { wake, full }: { readonly wake: () => void; readonly full: () => void },
  ): Promise<LiveSubscription> {
    const key = scopeKey(scope);
    let feed = this.#feeds.get(key);
    if (feed === undefined) {
      const join = (wakeReader: () => void): Promise<() => void> =>
        this.#watcher.join(key, wakeReader);
      feed = new ScopeFeed(this.#options, scope, join, () => this.#feeds.delete(key));
      this.#feeds.set(key, feed);
      // A stream may subscribe while the engine stops.
      if (this.#isClosed) feed.close();
    }
    return feed.subscribe({ filter, wake, full, waiting: [] });
  }

  /** Wakes the readers of events that this process committed. */
  onWrites(writes: readonly Write[]): void {
    this.#watcher.onWrites(writes);
  }

  /** Call this when another process may have committed events. */
  wake(): void {
    this.#watcher.wake();
  }

  /** Starts no more reads. */
  close(): void {
    this.#isClosed = true;
    this.#watcher.close();
    for (const feed of this.#feeds.values()) feed.close();
  }
}

interface Subscriber {
  readonly filter: StreamFilter;
  readonly wake: () => void;
  readonly full: () => void;
  /** The events that wait, or undefined after too many waited. */
  waiting: LiveItem[] | undefined;
}

/** The reader of the events of one account and mode, and its subscribers. */
class ScopeFeed {
  readonly #reads: Reads;
  readonly #follower: Follower;
  /** Subscribes the reader to commits. */
  readonly #join: (wake: () => void) => Promise<() => void>;
  readonly #onEmpty: () => void;
  /** Subscribers by each type and conversation that they want. */
  readonly #subscribers = new Subscribers<Subscriber>();
  #users = 0;
  /** The events up to this position were passed on. */
  #position = 0;
  #opened: Promise<() => void> | undefined;

  constructor(
    options: EventFeedOptions,
    scope: Scope,
    join: (wake: () => void) => Promise<() => void>,
    onEmpty: () => void,
  ) {
    this.#reads = options.store.reads(scope);
    this.#join = join;
    this.#onEmpty = onEmpty;
    this.#follower = new Follower({
      ...options,
      pollMs,
      step: () => this.#step(),
      failureText: "failed to read events for streams; retrying",
      recoveryText: "events for streams can be read again",
    });
  }

  async subscribe(subscriber: Subscriber): Promise<LiveSubscription> {
    this.#users++;
    try {
      await (this.#opened ??= this.#open());
    } catch (error) {
      this.#release();
      throw error;
    }
    for (const each of topicsOf(subscriber.filter)) this.#subscribers.add(each, subscriber);
    let hasLeft = false;
    return {
      position: this.#position,
      take: () => {
        const { waiting } = subscriber;
        if (waiting !== undefined && waiting.length > 0) subscriber.waiting = [];
        return waiting;
      },
      leave: () => {
        if (hasLeft) return;
        hasLeft = true;
        this.#remove(subscriber);
        this.#release();
      },
    };
  }

  close(): void {
    void this.#follower.stop();
  }

  async #open(): Promise<() => void> {
    const leave = await this.#join(() => this.#follower.wake());
    try {
      // Read after the reader has subscribed to commits, so that it misses none in between.
      this.#position = await newestPosition(this.#reads);
    } catch (error) {
      leave();
      throw error;
    }
    this.#follower.start();
    return leave;
  }

  #release(): void {
    this.#users--;
    if (this.#users > 0) return;
    this.#onEmpty();
    void this.#follower.stop();
    void this.#opened?.then((leave) => leave()).catch(() => {});
  }

  async #step(): Promise<Step> {
    const rows = await this.#reads.range({
      index: eventsOfAccount,
      prefix: [],
      order: "ascending",
      after: [this.#position],
      limit: pageSize,
    });
    let passedOn = 0;
    for (const row of rows) {
      passedOn += this.#passOn(row);
      this.#position = row.position;
      if (passedOn >= maxPassedOn) return "more";
    }
    return rows.length === pageSize ? "more" : "wait";
  }

  /** Passes an event on to the subscribers that want it. Returns their number. */
  #passOn(row: EventRow): number {
    const { position, id, type, conversation_id } = row;
    // Each subscriber is registered under at most one of these topics.
    const topics = new Set([
      topic(null, null),
      topic(type, null),
      topic(null, conversation_id),
      topic(type, conversation_id),
    ]);
    // All streams share one object, so that it is encoded only once.
    let shared: LiveItem | undefined;
    let count = 0;
    for (const each of topics) {
      for (const subscriber of this.#subscribers.of(each)) {
        const { waiting } = subscriber;
        if (waiting === undefined) continue;
        shared ??= { position, item: { id, event: type, value: eventResource(row) } };
        count++;
        if (waiting.length < maxWaiting) {
          waiting.push(shared);
          subscriber.wake();
        } else {
          subscriber.waiting = undefined;
          this.#remove(subscriber);
          subscriber.full();
        }
      }
    }
    return count;
  }

  #remove(subscriber: Subscriber): void {
    for (const each of topicsOf(subscriber.filter)) this.#subscribers.remove(each, subscriber);
  }
}

/** Names the events of a type and a conversation. Null stands for all. */
function topic(type: string | null, conversation_id: string | null): string {
  return JSON.stringify([type, conversation_id]);
}

function topicsOf({ types, conversation_id }: StreamFilter): string[] {
  const conversation = conversation_id ?? null;
  return types?.map((type) => topic(type, conversation)) ?? [topic(null, conversation)];
}

/** The position of the newest event of a scope, or 0. */
export async function newestPosition(reads: Reads): Promise<number> {
  const [newest] = await reads.range({
    index: eventsOfAccount,
    prefix: [],
    order: "descending",
    limit: 1,
  });
  return newest?.position ?? 0;
}
