import type { EventId, Scope } from "../../kernel/index.ts";
import type { HandlerContext } from "../handler-context.ts";
import type { EventEnvelope } from "../types.ts";

/** What a call of a consumer's handler gets besides the event, its account and its mode. */
export interface ConsumerCall {
  /** Undefined if the storage has no transactions. */
  readonly tx: object | undefined;
  readonly signal: AbortSignal;
}

export type EventConsumer = (
  event: EventEnvelope,
  context: ConsumerCall & HandlerContext,
) => void | Promise<void>;

/** Options of a consumer. */
export interface ConsumeOptions {
  /**
   * Where a new consumer starts. With `now`, it gets later events only.
   * @default "now"
   */
  readonly from?: "now" | "beginning" | undefined;
}

/** An event that the handler failed to process 8 times. Later events of its conversation wait. */
export interface ParkedEvent<E extends EventEnvelope = EventEnvelope> extends Scope {
  /** The id of the event. `resume` and `skip` take it. */
  readonly event_id: EventId;
  /** Null when the event was deleted, for example by a reset of the sandbox. Skip it then. */
  readonly event: E | null;
  /** The number of failed calls. */
  readonly attempts: number;
  /** The first 500 characters of the last error. */
  readonly error: string;
  /** When the event was parked. */
  readonly parked_at: string;
}

/**
 * What a consumer has not handled yet. The counts are of conversations: the handler gets the events
 * of a conversation one by one. An event of no conversation counts by its contact, or by itself.
 */
export interface ConsumerBacklog {
  /** How many conversations have an event that could be handled now. At most 2,000 are counted. */
  readonly due: number;
  /** How many wait for a repetition, after the handler has failed. At most 2,000 are counted. */
  readonly later: number;
  /** How many events are being handled, in all engines. */
  readonly running: number;
  /** Since when the longest waiting conversation is due. Null if none is due. */
  readonly oldest_due_at: string | null;
  /** How many events are parked. At most 1,000 are counted. */
  readonly parked: number;
  /**
   * Null if the consumer has read all events of its types from the log. Otherwise, the events that
   * it has not read were created at this time or later, as far as the clocks of the engines agree.
   * It reads no more while 100 conversations are due.
   */
  readonly unread_since: string | null;
}
