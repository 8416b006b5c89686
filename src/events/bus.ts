import { EventEmitter } from "eventemitter3";
import { eventResource, type EventRow, events } from "./rows.ts";
import { type EventEnvelope, type EventType, eventTypeOption } from "./types.ts";
import type { Logger, Write } from "../ports/index.ts";
import {
  functionOption,
  getOrInsert,
  optionsObject,
  parseOptions,
  type Scope,
} from "../kernel/index.ts";

/** Called after the commit that created the event. An error is logged and has no other effect. */
type Handler = (event: EventEnvelope, scope: Scope) => void | Promise<void>;

const subscription = optionsObject({ type: eventTypeOption, handler: functionOption() });

/** Calls handlers in this process for events that this process committed. */
export class EventBus {
  readonly #emitter = new EventEmitter();
  readonly #logger: Logger;
  /** The registered wrapper of each handler, so that `off` can remove it. */
  readonly #wrapped = new Map<
    EventType,
    Map<unknown, (event: EventEnvelope, scope: Scope) => void>
  >();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** @throws TidingsError `invalid_option` */
  on(type: EventType, handler: Handler): void {
    parseOptions("on: ", subscription, { type, handler });
    const wrapped = getOrInsert(this.#wrapped, type, () => new Map());
    if (wrapped.has(handler)) return;
    const guarded = (event: EventEnvelope, scope: Scope): void => {
      void this.#call(handler, event, scope);
    };
    wrapped.set(handler, guarded);
    this.#emitter.on(type, guarded);
  }

  /** @throws TidingsError `invalid_option` */
  off(type: EventType, handler: Handler): void {
    parseOptions("off: ", subscription, { type, handler });
    const guarded = this.#wrapped.get(type)?.get(handler);
    if (guarded === undefined) return;
    this.#wrapped.get(type)?.delete(handler);
    this.#emitter.off(type, guarded);
  }

  /** Publishes the committed events in their order. */
  publish(writes: readonly Write[]): void {
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

  async #call(handler: Handler, event: EventEnvelope, scope: Scope): Promise<void> {
    try {
      await handler(event, scope);
    } catch (error) {
      this.#logger.error(
        { err: error, event_id: event.id, type: event.type },
        "an event handler threw an error",
      );
    }
  }
}
