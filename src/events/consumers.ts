import { resumeConsumerEvent, skipConsumerEvent } from "./resume-consumer-event.ts";
import { parkedEvents } from "./consumer-rows.ts";
import { isConsumerName } from "./consumer-rules.ts";
import type {
  ConsumeOptions,
  EventConsumer,
  LocalConsumer,
  ParkedEvent,
  LocalConsumers,
} from "./consumer-types.ts";
import { eventResource } from "./resource.ts";
import { events, eventsByPosition } from "./rows.ts";
import { type AnyEvent, type EventType, eventTypes } from "./types.ts";
import type { Lane } from "../queue/index.ts";
import { iso, TidingsError } from "../kernel/index.ts";
import { ConsumerReader } from "./consumer-reader.ts";
import type { Clock, Logger, Write } from "../ports/index.ts";
import { removeConsumer } from "./remove-consumer.ts";
import type { Store } from "../store/index.ts";

/** A consumer of events that is set up in this engine. Its progress is the storage's: engines with the same name share the work. */
export interface Consumer<E extends AnyEvent = AnyEvent> {
  readonly name: string;
  /** Up to 100 events that the handler failed at too often, those that were parked first. */
  parked(): Promise<readonly ParkedEvent<E>[]>;
  /** Tries a parked event again, then what waits behind it. @throws TidingsError `not_found` when it is not parked */
  resume(eventId: string): Promise<void>;
  /** Leaves a parked event undone for good, and goes on behind it. @throws TidingsError `not_found` when it is not parked */
  skip(eventId: string): Promise<void>;
  /**
   * Calls the handler no more in this engine; resolves when it has come back from its last calls. Awaited within one of them it waits
   * for that one too, until its deadline (10 s) is over: there, call it without awaiting it.
   */
  stop(): Promise<void>;
}

export interface ConsumersOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Resolves when the storage is open. */
  readonly prepared: () => Promise<unknown>;
}

/** What a host gives for a consumer. */
export interface ConsumerSetup extends ConsumeOptions {
  readonly name: string;
  readonly types: readonly EventType[];
  readonly handler: EventConsumer<object | undefined>;
}

/** Parked events that are told of at once. */
const maxParked = 100;

/** The consumers that are set up in one engine. */
export class Consumers implements LocalConsumers {
  readonly #options: ConsumersOptions;
  readonly #running = new Map<string, RunningConsumer>();
  /** Set while the engine is started: wakes the loop that runs the jobs. */
  #wakeJobs: (() => void) | undefined;

  constructor(options: ConsumersOptions) {
    this.#options = options;
  }

  /** @throws TidingsError `invalid_option` */
  add(setup: ConsumerSetup): Consumer {
    const { name, types, handler, from = "now" } = setup;
    check(setup, this.#running.has(name));
    const running = new RunningConsumer(
      handler,
      new ConsumerReader({ ...this.#options, name, types, from }),
    );
    this.#running.set(name, running);
    if (this.#wakeJobs !== undefined) {
      running.reader.start();
      this.#wakeJobs();
    }
    return {
      name,
      parked: () => this.#parked(name),
      resume: (eventId) =>
        this.#change((store) =>
          store.commitUnscoped((tx) => resumeConsumerEvent(tx, name, eventId)),
        ),
      skip: (eventId) =>
        this.#change((store) => store.commitUnscoped((tx) => skipConsumerEvent(tx, name, eventId))),
      stop: async () => {
        await running.stop();
        if (this.#running.get(name) === running) this.#running.delete(name);
      },
    };
  }

  get(name: string): RunningConsumer | undefined {
    return this.#running.get(name);
  }

  /** Whether this engine runs the jobs of a lane: false only for consumers that are not set up here, or were stopped. */
  serves(lane: Lane): boolean {
    return lane.kind !== "consume" || this.#running.get(lane.consumer)?.isStopped() === false;
  }

  /** @throws TidingsError `not_found`, and `invalid_option` while it runs here */
  async remove(name: string): Promise<void> {
    if (this.#running.has(name)) {
      throw new TidingsError("invalid_option", `consumer ${name}: stop it before you remove it`);
    }
    await this.#change((store) => removeConsumer(store, name));
  }

  /** Gives each its place in the log. */
  async open(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ reader }) => reader.open()));
  }

  start(wakeJobs: () => void): void {
    this.#wakeJobs = wakeJobs;
    for (const { reader } of this.#running.values()) reader.start();
  }

  async stop(): Promise<void> {
    this.#wakeJobs = undefined;
    await Promise.all([...this.#running.values()].map(({ reader }) => reader.stop()));
  }

  /** Wakes them when events were committed. */
  onWrites(writes: readonly Write[]): void {
    if (this.#running.size > 0 && writes.some(({ collection }) => collection === events)) {
      this.wake();
    }
  }

  /** Another process may have committed events. */
  wake(): void {
    for (const { reader } of this.#running.values()) reader.wake();
  }

  async #change(work: (store: Store) => Promise<void>): Promise<void> {
    await this.#options.prepared();
    await work(this.#options.store);
  }

  async #parked(name: string): Promise<readonly ParkedEvent[]> {
    await this.#options.prepared();
    const reads = this.#options.store.unscopedReads;
    const rows = await reads.range({
      index: parkedEvents,
      prefix: [name],
      order: "ascending",
      limit: maxParked,
    });
    const found = await reads.getAll(
      eventsByPosition,
      rows.map(({ position }) => [position] as const),
    );
    const byPosition = new Map(found.map((event) => [event.position, event]));
    return rows.map(({ event_id, account_id, mode, position, failures, error, parked_at }) => {
      const event = byPosition.get(position);
      return {
        event_id,
        event: event === undefined ? null : eventResource(event),
        account_id,
        mode,
        attempts: failures,
        error: error ?? "",
        parked_at: iso(parked_at ?? 0),
      };
    });
  }
}

/** A consumer's handler and its way along the log. */
class RunningConsumer implements LocalConsumer {
  readonly handler: LocalConsumer["handler"];
  readonly reader: ConsumerReader;
  readonly #runs = new Set<Promise<void>>();
  #stopped = false;

  constructor(handler: LocalConsumer["handler"], reader: ConsumerReader) {
    this.handler = handler;
    this.reader = reader;
  }

  readonly isStopped = (): boolean => this.#stopped;

  /** Notes that a key has its turn. */
  async during(run: Promise<void>): Promise<void> {
    this.#runs.add(run);
    try {
      await run;
    } finally {
      this.#runs.delete(run);
      this.reader.roomMade();
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.reader.stop();
    await Promise.allSettled(this.#runs);
  }
}

function check({ name, types, handler, from }: ConsumerSetup, isTaken: boolean): void {
  const wrong = (what: string): never => {
    throw new TidingsError("invalid_option", `consume: ${what}`);
  };
  if (typeof name !== "string" || !isConsumerName(name)) {
    wrong(
      "name: expected 1 to 100 letters, digits, dots, dashes and underscores, the first and last a letter or digit",
    );
  }
  if (isTaken) wrong(`name: this engine has a consumer ${name} already`);
  if (!Array.isArray(types) || types.length === 0) {
    wrong("types: expected a list of types of events, with at least one");
  }
  for (const type of types) {
    if (!eventTypes.includes(type)) {
      wrong(`types: expected some of ${eventTypes.join(", ")}, got ${type}`);
    }
  }
  if (typeof handler !== "function") wrong(`handler: expected a function, got ${typeof handler}`);
  if (from !== undefined && from !== "now" && from !== "beginning") {
    wrong(`from: expected "now" or "beginning", got ${String(from)}`);
  }
}
