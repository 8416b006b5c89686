import { functionOption, getOrInsert, optionsObject, parseOptions } from "../kernel/index.ts";
import type { Logger, Write } from "../ports/index.ts";
import { LazyContext, type AccountOf, type HandlerContext } from "./handler-context.ts";
import { events, ownEvent, type EventRow } from "./rows.ts";
import { eventTypeOption, type EventEnvelope, type EventType } from "./types.ts";

/** Called after the commit that created the event. An error is logged and has no other effect. */
type Handler = (event: EventEnvelope, context: HandlerContext) => unknown;

const subscription = optionsObject({ type: eventTypeOption, handler: functionOption() });

interface EventBusOptions {
  readonly logger: Logger;
  /**
   * Runs a handler as work that a stop waits for, so that the handler may call the engine while it
   * stops. Otherwise that would depend on whether such work made the commit.
   */
  readonly run: (handler: () => Promise<void>) => Promise<void>;
  readonly accountOf: AccountOf;
}

/** Calls handlers in this process for events that this process committed. */
export class EventBus {
  readonly #options: EventBusOptions;
  readonly #handlers = new Map<EventType, Set<Handler>>();

  constructor(options: EventBusOptions) {
    this.#options = options;
  }

  /** @throws TidingsError `invalid_option` */
  on(type: EventType, handler: Handler): void {
    parseOptions("on: ", subscription, { type, handler });
    getOrInsert(this.#handlers, type, () => new Set()).add(handler);
  }

  /** @throws TidingsError `invalid_option` */
  off(type: EventType, handler: Handler): void {
    parseOptions("off: ", subscription, { type, handler });
    this.#handlers.get(type)?.delete(handler);
  }

  /** Calls the handlers of the committed events, in the order of the events. */
  publish(writes: readonly Write[]): void {
    const { run, accountOf } = this.#options;
    for (const write of writes) {
      if (write.collection !== events || write.kind !== "insert") continue;
      const row = write.row as unknown as EventRow;
      const handlers = this.#handlers.get(row.type);
      if (handlers === undefined || handlers.size === 0) continue;
      const context = new LazyContext(row, accountOf);
      // Copied, because a handler may add or remove handlers.
      const called = [...handlers];
      for (const handler of called) {
        void run(() => this.#call(handler, ownEvent(row), context));
      }
    }
  }

  async #call(handler: Handler, event: EventEnvelope, context: HandlerContext): Promise<void> {
    try {
      await handler(event, context);
    } catch (error) {
      this.#options.logger.error(
        { err: error, event_id: event.id, type: event.type },
        "an event handler threw an error",
      );
    }
  }
}
