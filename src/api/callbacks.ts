import { LogLimit, notFound, Semaphore, TidingsError, withDeadline } from "../kernel/index.ts";
import { recordCallback } from "../messages/index.ts";
import type { Prepared, Runtime } from "../operations/index.ts";
import type { CallbackRequest, CallbackResult, Clock, Logger, Transport } from "../ports/index.ts";

/**
 * Concurrent callbacks of one transport. Others are refused at once: anyone can send callbacks, and
 * carriers repeat theirs.
 */
const maxAtOnce = 256;
const busyMs = 1_000;
/** How long a transport may take to parse a callback, in milliseconds. */
const parseMs = 25_000;

/**
 * Refusals that say nothing about a transport: its name is unknown, or the engine stops. A carrier
 * sends the callback again then.
 */
const notLogged: ReadonlySet<string> = new Set(["not_found", "shutting_down"]);

function busy(): TidingsError {
  const message = "Too many callbacks run at once. Send this one again.";
  return new TidingsError("overloaded", message, { retryAfterMs: busyMs });
}

function parsedTooSlowly(name: string): never {
  const within = `${parseMs / 1_000} s`;
  const message = `The transport ${name} did not parse the callback within ${within}.`;
  throw new TidingsError("internal", message);
}

/** Each transport has its own places, so one that hangs does not block the callbacks of others. */
interface Receiver {
  readonly parse: NonNullable<Transport["parseCallback"]>;
  readonly places: Semaphore;
}

interface CallbackOptions {
  readonly transports: readonly Transport[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Runs the call of a carrier when the storage is open. A stop waits for it. */
  readonly run: <T>(call: (prepared: Pick<Prepared, "runtime">) => Promise<T>) => Promise<T>;
  /** Aborts at the deadline of a stop. Callbacks that are still being parsed then fail. */
  readonly stopDeadline: AbortSignal;
}

/**
 * Receives the callbacks of carriers. Limits the cost of callbacks from any sender. Logs refused
 * callbacks: the first at once, then one summary per minute.
 */
export class Callbacks {
  readonly #options: CallbackOptions;
  /** By the name of the transport. */
  readonly #receivers = new Map<string, Receiver>();
  readonly #refusals: LogLimit;

  constructor(options: CallbackOptions) {
    this.#options = options;
    for (const transport of options.transports) {
      const parse = transport.parseCallback?.bind(transport);
      const places = new Semaphore(maxAtOnce, 0, busy);
      if (parse !== undefined) this.#receivers.set(transport.name, { parse, places });
    }
    this.#refusals = new LogLimit(options.clock);
  }

  /**
   * Records the receipts and messages of one callback. Returns the response that the carrier
   * expects. Errors of the transport are thrown too.
   * @throws TidingsError `not_found` when no transport of that name accepts callbacks;
   *   `overloaded` when too many callbacks of the transport run; `internal` when the transport does
   *   not parse the callback in time; `shutting_down`
   */
  async receive(
    name: string,
    request: Omit<CallbackRequest, "received_at">,
  ): Promise<CallbackResult["response"]> {
    const receiver = this.#receivers.get(name);
    if (receiver === undefined) throw notFound("transport");
    return this.#options.run(({ runtime }) => this.#record(name, receiver, request, runtime));
  }

  async #record(
    name: string,
    { parse, places }: Receiver,
    request: Omit<CallbackRequest, "received_at">,
    runtime: Runtime,
  ): Promise<CallbackResult["response"]> {
    const { clock, stopDeadline } = this.#options;
    try {
      return await places.run(async () => {
        const result = await withDeadline(
          clock,
          parseMs,
          async () => parse({ ...request, received_at: clock.now() }),
          () => parsedTooSlowly(name),
          stopDeadline,
        );
        // Commits before the response. The carrier repeats a callback that fails here.
        return recordCallback(name, result, runtime);
      });
    } catch (error) {
      if (error instanceof TidingsError && !notLogged.has(error.code)) this.#note(name, error.code);
      throw error;
    }
  }

  #note(transport: string, code: string): void {
    const refused = this.#refusals.note(transport, code);
    if (refused === undefined) return;
    const { count, reasons } = refused;
    const { logger } = this.#options;
    logger.warn({ transport, callbacks: count, codes: reasons }, "callbacks were refused");
  }
}
