import {
  choiceOption,
  functionOption,
  listOption,
  option,
  optionsObject,
  parseOptions,
  TidingsError,
} from "../../kernel/index.ts";
import type { Runtime } from "../../operations/index.ts";
import type { Clock, Logger, Write } from "../../ports/index.ts";
import type { Lane } from "../../queue/index.ts";
import type { Store } from "../../store/index.ts";
import { LazyContext, type AccountOf } from "../handler-context.ts";
import { events, ownEvent, type EventRow } from "../rows.ts";
import { eventTypeOption, type EventEnvelope, type EventType } from "../types.ts";
import { ConsumerReader } from "./consumer-reader.ts";
import { resumeConsumerEvent, skipConsumerEvent } from "./queued-events.ts";
import { listParked } from "./reads.ts";
import { removeConsumer } from "./remove-consumer.ts";
import type {
  ConsumeOptions,
  ConsumerBacklog,
  ConsumerCall,
  EventConsumer,
  ParkedEvent,
} from "./types.ts";

/**
 * A consumer of events that runs in this engine. Its progress is stored: engines with a consumer of
 * the same name share the work.
 */
export interface Consumer<E extends EventEnvelope = EventEnvelope> {
  /** The name of the consumer, as given to `engine.consume`. */
  readonly name: string;
  /**
   * Returns what the consumer has not handled yet, in all engines. Works after `stop`, too.
   * @throws TidingsError `not_found` if no started engine has had the consumer yet, or if it was
   *   removed
   */
  backlog(): Promise<ConsumerBacklog>;
  /** Returns up to 100 parked events, in the order in which they were parked. */
  parked(): Promise<readonly ParkedEvent<E>[]>;
  /**
   * Retries a parked event, then the events that wait for it.
   * @throws TidingsError `not_found` when the event is not parked
   */
  resume(eventId: string): Promise<void>;
  /**
   * Discards a parked event and continues with the events that wait for it.
   * @throws TidingsError `not_found` when the event is not parked
   */
  skip(eventId: string): Promise<void>;
  /**
   * Stops calling the handler in this engine. Resolves when the running calls have ended. Do not
   * await it inside the handler: it would wait for the handler's own call, until the deadline of 10
   * seconds.
   */
  stop(): Promise<void>;
}

interface ConsumersOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Runs a call of the host application when the storage is open. A stop waits for it. */
  readonly run: <T>(call: () => Promise<T>) => Promise<T>;
  readonly accountOf: AccountOf;
}

/** The settings of a consumer, from the host application. */
interface ConsumerSetup extends ConsumeOptions {
  readonly name: string;
  readonly types: readonly EventType[];
  readonly handler: EventConsumer;
}

/** The dependencies of the consumer jobs. */
export interface ConsumerRuntime extends Runtime {
  readonly consumers: Consumers;
}

/** The consumers of one engine. */
export class Consumers {
  readonly #options: ConsumersOptions;
  readonly #running = new Map<string, RunningConsumer>();
  /** Wakes the loop that runs the jobs. Set while the engine is started. */
  #wakeJobs: (() => void) | undefined;

  constructor(options: ConsumersOptions) {
    this.#options = options;
  }

  /** @throws TidingsError `invalid_option` */
  add(setup: ConsumerSetup): Consumer {
    const { name, types, handler, from = "now" } = parseOptions("consume: ", setupSchema, setup);
    const { run, store, accountOf } = this.#options;
    if (this.#running.has(name)) {
      throw new TidingsError(
        "invalid_option",
        `consume: name: this engine already has a consumer ${name}. Choose another name, or stop ` +
          "that one.",
      );
    }
    const reader = new ConsumerReader({ ...this.#options, name, types, from });
    const running = new RunningConsumer({ handler, reader, accountOf });
    this.#running.set(name, running);
    if (this.#wakeJobs !== undefined) {
      running.reader.start();
      this.#wakeJobs();
    }
    return {
      name,
      backlog: () => run(() => running.reader.backlog()),
      parked: () => run(() => listParked(store.unscopedReads, name)),
      resume: (eventId) =>
        run(() => store.commitUnscoped((tx) => resumeConsumerEvent(tx, name, eventId))),
      skip: (eventId) =>
        run(() => store.commitUnscoped((tx) => skipConsumerEvent(tx, name, eventId))),
      stop: async () => {
        await running.stop();
        if (this.#running.get(name) === running) this.#running.delete(name);
      },
    };
  }

  get(name: string): RunningConsumer | undefined {
    return this.#running.get(name);
  }

  /**
   * Whether this engine runs the jobs of a lane. False only for consumers that are not set up here,
   * or were stopped.
   */
  serves(lane: Lane): boolean {
    return lane.kind !== "consume" || this.#running.get(lane.consumer)?.isStopped === false;
  }

  /** @throws TidingsError `not_found`; `invalid_option` while the consumer runs in this engine */
  async remove(name: string): Promise<void> {
    if (this.#running.has(name)) {
      throw new TidingsError(
        "invalid_option",
        `consumer ${name} is running in this engine: stop it before you remove it`,
      );
    }
    const { run, store } = this.#options;
    await run(() => removeConsumer(store, name));
  }

  /** Creates the stored positions. */
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

  /** Wakes the consumers when events were committed. */
  onWrites(writes: readonly Write[]): void {
    if (this.#running.size > 0 && writes.some(({ collection }) => collection === events)) {
      this.wake();
    }
  }

  /** Reads the log again. Call this when another process may have committed events. */
  wake(): void {
    for (const { reader } of this.#running.values()) reader.wake();
  }
}

interface RunningConsumerOptions {
  readonly handler: EventConsumer;
  readonly reader: ConsumerReader;
  readonly accountOf: AccountOf;
}

/** The handler and the log reader of a consumer. */
export class RunningConsumer {
  readonly reader: ConsumerReader;
  readonly #handler: EventConsumer;
  readonly #accountOf: AccountOf;
  readonly #runs = new Set<Promise<void>>();
  #isStopped = false;

  constructor({ handler, reader, accountOf }: RunningConsumerOptions) {
    this.reader = reader;
    this.#handler = handler;
    this.#accountOf = accountOf;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  async call(event: EventRow, call: ConsumerCall): Promise<void> {
    const context = new LazyContext(event, this.#accountOf);
    await this.#handler(ownEvent(event), Object.assign(context, call));
  }

  /** Tracks a running job, so that `stop` can wait for it. */
  async during(run: Promise<void>): Promise<void> {
    this.#runs.add(run);
    try {
      await run;
    } finally {
      this.#runs.delete(run);
      this.reader.onJobEnd();
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.reader.stop();
    await Promise.allSettled(this.#runs);
  }
}

const namePattern = /^[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?$/i;

const setupSchema = optionsObject({
  name: option<string>(
    "1 to 100 letters, digits, dots, dashes and underscores, starting and ending with a letter " +
      "or digit",
    (name) => typeof name === "string" && namePattern.test(name),
    { isQuoted: true },
  ),
  // `min` would also count the parameters of a function.
  types: listOption("event types", eventTypeOption).refine((types) => types.length > 0, {
    error: "a list of event types with at least one entry",
  }),
  handler: functionOption<ConsumerSetup["handler"]>(),
  from: choiceOption("now", "beginning").optional(),
});
