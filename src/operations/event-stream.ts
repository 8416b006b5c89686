import type * as z from "zod";
import type { ContactId, Limits, WebchatSessionId } from "../kernel/index.ts";
import type { WakeFlag } from "../queue/index.ts";
import type { Reads } from "../store/index.ts";
import type { Call, Command } from "./operation.ts";
import type { SignalFilter, SignalSubscription } from "./signals.ts";

/**
 * A stream of events from now on, or from where the caller left off. Input errors are thrown before
 * the stream begins.
 */
export interface EventStream<Input, Item> {
  readonly kind: "stream";
  readonly name: string;
  readonly input: (limits: Limits) => z.ZodType<Input>;
  /** Runs before the stream opens, with the same input, until it returns false. */
  readonly before?: Command<Input, boolean>;
  open(sources: StreamSources, input: Input, call: Call): Promise<AsyncIterable<StreamEvent<Item>>>;
}

export interface StreamSources {
  readonly reads: Reads;
  readonly now: () => number;
  /** Aborts when the reader has left. The stream then ends. */
  readonly over: AbortSignal;
  /**
   * Counts the stream, and wakes it when it must end. With `mailbox`, also wakes it when the
   * mailbox may have new messages. The stream must call `leave` when it ends.
   * @throws TidingsError `too_many_streams`, `overloaded` when too many streams are open
   */
  readonly join: (mailbox?: Mailbox) => Promise<StreamPlace>;
  /** Subscribes to the events of the scope that match the filter. */
  readonly subscribe: (filter: StreamFilter, wake: () => void) => Promise<LiveSubscription>;
  /** Subscribes to signals that match the filter. */
  readonly listen: (filter: SignalFilter, wake: () => void) => SignalSubscription;
  /**
   * Calls `wake` when a contact's conversations may have changed. Resolves when no later change can
   * be missed. Returns a function that ends it.
   */
  readonly watchContact: (contact_id: ContactId, wake: () => void) => Promise<() => void>;
  /** Whether the stream may continue. False if the engine stops or the caller's key has expired. */
  readonly mayContinue: () => Promise<boolean>;
  /** Yields to the event loop, which the reads of an embedded storage do not. */
  readonly yieldToEventLoop: () => Promise<void>;
}

/** The sources that depend on the caller and on the other streams of the process. */
export type OpenSources = Omit<StreamSources, "reads" | "now" | "yieldToEventLoop">;

/** A mailbox, and the session that reads it. */
export interface Mailbox {
  readonly name: string;
  readonly session_id: WebchatSessionId;
}

/** The place of an open stream among those of this process. */
export interface StreamPlace {
  /** Raised when the stream must look for items, or must end. */
  readonly flag: WakeFlag;
  /** Whether the stream must end because its mailbox has newer streams. */
  readonly isOver: () => boolean;
  readonly leave: () => void;
}

/** The events that a stream wants. */
export interface StreamFilter {
  /** Undefined for all types. */
  readonly types?: readonly string[] | undefined;
  /** Undefined for all conversations, and events without one. */
  readonly conversation_id?: string | undefined;
}

/** New events that match a filter. */
export interface LiveSubscription {
  /** The subscription has the matching events after this position in the log. */
  readonly position: number;
  /**
   * Returns the events that wait, in order, and removes them. Undefined when too many waited. The
   * subscription has then ended, and the stream must read the log.
   */
  readonly take: () => readonly LiveItem[] | undefined;
  readonly leave: () => void;
}

/** An event and its position in the log. */
export interface LiveItem {
  readonly position: number;
  readonly item: StreamItem<unknown>;
}

/**
 * An item of a stream, a transient item, or a notice for its connection, which has no meaning in
 * process.
 */
export type StreamEvent<Item> = StreamItem<Item> | TransientItem | ConnectionNotice;

/** What holds only for now. It has no id, so a stream that resumes does not repeat it. */
export interface TransientItem {
  /** The name of the event over HTTP. */
  readonly event: string;
  readonly transient: object;
}

export interface StreamItem<Item> {
  /** The place of the item. A stream that is opened with this `last_event_id` begins after it. */
  readonly id: string;
  /** The name of the event over HTTP. */
  readonly event?: string;
  readonly value: Item;
}

interface ConnectionNotice {
  /** How long the client waits before it reconnects, in milliseconds. */
  readonly retry?: number;
  /** Ignored by clients. Keeps proxies from closing an idle connection. */
  readonly comment?: string;
}
