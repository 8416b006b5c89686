import type { EventType } from "../../events/index.ts";
import type { Scope } from "../../kernel/index.ts";
import type { Event } from "../../webhooks/index.ts";
import type { AccountHandle } from "./handles.ts";

/** The account and the mode of an event, with the handle to act in them. */
export interface EventContext extends Scope {
  /**
   * The handle of the event's account in the event's mode. Reply through it, since handlers get the
   * events of all accounts: `engine.messages` would send from the default account. It is made when
   * it is read, so a copy by `{ ...context }` lacks it.
   */
  readonly account: AccountHandle;
}

/** The context of a consumer's handler. */
export interface ConsumerContext<Tx> extends EventContext {
  /**
   * The handle of a storage transaction. Writes through it commit together with the progress of the
   * consumer, so they happen exactly once. Undefined when the storage has no transactions.
   */
  readonly tx: Tx;
  /** Aborts after 10 seconds, or when the engine stops. */
  readonly signal: AbortSignal;
}

/**
 * Called after the commit that created the event. An error that it throws, or with which its
 * promise rejects, is logged and has no other effect. Its result is ignored.
 */
export type EventHandler<T extends EventType> = (event: Event<T>, context: EventContext) => unknown;

/**
 * Called for each event until a call resolves. A call fails if it throws or takes longer than 10
 * seconds. It is then retried, and after the eighth failure the event is parked.
 */
export type ConsumerHandler<T extends EventType, Tx> = (
  event: Event<T>,
  context: ConsumerContext<Tx>,
) => void | Promise<void>;
