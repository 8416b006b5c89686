import { EventEmitter } from "eventemitter3";
import { eventResource } from "./resource.ts";
import { type EventRow, events } from "./rows.ts";
import type { AnyEvent, EventType } from "./types.ts";
import type { Logger, Write } from "../ports/index.ts";
import type { Scope } from "../kernel/index.ts";

/** Called after the commit that brought the event. What it throws is logged and hurts nobody. */
type Handler = (event: AnyEvent, scope: Scope) => void | Promise<void>;

/** Tells handlers in this process of what this process committed. */
export class EventBus {
  readonly #emitter = new EventEmitter();
  readonly #logger: Logger;
  /** What is registered for each handler, so that it can be taken back. */
  readonly #wrapped = new Map<EventType, Map<unknown, (event: AnyEvent, scope: Scope) => void>>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  on(type: EventType, handler: Handler): void {
    let wrapped = this.#wrapped.get(type);
    if (wrapped === undefined) {
      this.#wrapped.set(
        type,
        (wrapped = new Map<unknown, (event: AnyEvent, scope: Scope) => void>()),
      );
    }
    if (wrapped.has(handler)) return;
    const guarded = (event: AnyEvent, scope: Scope): void => {
      void this.#call(handler, event, scope);
    };
    wrapped.set(handler, guarded);
    this.#emitter.on(type, guarded);
  }

  off(type: EventType, handler: Handler): void {
    const guarded = this.#wrapped.get(type)?.get(handler);
    if (guarded === undefined) return;
    this.#wrapped.get(type)?.delete(handler);
    this.#emitter.off(type, guarded);
  }

  /** Tells of the events among what was committed, in their order. */
  tell(writes: readonly Write[]): void {
    for (const write of writes) {
      if (write.collection !== events || write.kind !== "insert") continue;
      const row = write.row as unknown as EventRow;
      if (this.#emitter.listenerCount(row.type) === 0) continue;
      this.#emitter.emit(row.type, eventResource(row), {
        account_id: row.account_id,
        mode: row.mode,
      });
    }
  }

  async #call(handler: Handler, event: AnyEvent, scope: Scope): Promise<void> {
    try {
      await handler(event, scope);
    } catch (error) {
      this.#logger.error(
        { err: error, event_id: event.id, type: event.type },
        "an event handler failed",
      );
    }
  }
}
