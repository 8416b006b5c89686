import type { Runtime } from "../operations/index.ts";
import type { Lane } from "../queue/index.ts";
import type { AnyEvent } from "./types.ts";
import type { AccountId, EventId, Mode, Scope } from "../kernel/index.ts";

/** What a handler is given beside the event. */
export interface ConsumerContext<Tx> extends Scope {
  /**
   * The handle of a transaction of the storage: what is written through it commits with the consumer's progress, so exactly once.
   * Undefined where the storage has none.
   */
  readonly tx: Tx;
  /** Aborts when the handler is given up: after 10 seconds, or because the engine stops. */
  readonly signal: AbortSignal;
}

/** Called until it resolves once for each event. What it throws, and what takes longer than 10 seconds, is tried again. */
export type EventConsumer<Tx, E extends AnyEvent = AnyEvent> = (
  event: E,
  context: ConsumerContext<Tx>,
) => void | Promise<void>;

export interface ConsumeOptions {
  /** Where a consumer begins that was never known before; by default with what comes from now on. */
  readonly from?: "now" | "beginning";
}

/** An event that the handler failed at too often. What comes after it in its conversation waits. */
export interface ParkedEvent<E extends AnyEvent = AnyEvent> extends Scope {
  readonly event_id: EventId;
  /** Null when the event is there no more, as after a reset of the sandbox: skip it. */
  readonly event: E | null;
  /** How often the handler was called. */
  readonly attempts: number;
  /** What it threw last, its first 500 characters. */
  readonly error: string;
  /** ISO 8601. */
  readonly parked_at: string;
}

/** A consumer whose handler is set up in this engine. */
export interface LocalConsumer {
  readonly handler: EventConsumer<object | undefined>;
  readonly isStopped: () => boolean;
  /** Keeps track of a running job, so that a stop can wait for it. */
  during(run: Promise<void>): Promise<void>;
}

/** What an event waits for its turn by: its conversation, else its contact, else itself. */
export interface ConsumerKey {
  readonly consumer: string;
  readonly key: string;
}

/** An event that a consumer has yet to handle, as far as rules ask. */
export interface Handling {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly failures: number;
}

/** The consumers that are set up in this engine. */
export interface LocalConsumers {
  get(name: string): LocalConsumer | undefined;
  /**
   * Whether this engine runs the jobs of a lane. False only for consumers that are not set up here,
   * or were stopped.
   */
  serves(lane: Lane): boolean;
}

/** What consumers' jobs run with. */
export interface ConsumerRuntime extends Runtime {
  readonly consumers: LocalConsumers;
}
