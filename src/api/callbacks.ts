import { notFound, TidingsError } from "../kernel/index.ts";
import { transportSink } from "../messages/index.ts";
import type { Runtime } from "../operations/index.ts";
import type { CallbackRequest, CallbackResult, Clock, Logger, Transport } from "../ports/index.ts";
import { Semaphore } from "../queue/index.ts";

/**
 * The maximum size of a callback's body in bytes. Carriers send a few kilobytes, and the body is
 * read before its signature is verified.
 */
export const maxCallbackBytes = 131_072;
/**
 * Concurrent callbacks. Others are refused at once: anyone can send callbacks, and carriers repeat
 * theirs.
 */
const maxAtOnce = 256;
const busyMs = 1_000;
/** The time between two log lines about one transport's callbacks, in milliseconds. */
const quietMs = 60_000;

function busy(): TidingsError {
  const message = "Too many callbacks run at once. Send this one again.";
  return new TidingsError("overloaded", message, { retryAfterMs: busyMs });
}

interface Refusals {
  count: number;
  readonly codes: Set<string>;
  loggedAt: number;
}

export interface CallbackOptions {
  readonly transports: readonly Transport[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Resolves when the storage is open. */
  readonly prepared: () => Promise<{ readonly runtime: Runtime }>;
}

/**
 * Receives the callbacks of carriers. Limits the cost of callbacks from any sender. Logs refused
 * callbacks: the first at once, then one summary per minute.
 */
export class Callbacks {
  readonly #options: CallbackOptions;
  readonly #places = new Semaphore(maxAtOnce, 0, busy);
  readonly #refusals = new Map<string, Refusals>();

  constructor(options: CallbackOptions) {
    this.#options = options;
  }

  /**
   * Records the receipts and messages of one callback. Returns the response that the carrier
   * expects. Errors of the transport are thrown too.
   * @throws TidingsError `not_found` when no transport of that name accepts callbacks;
   *   `overloaded` when too many callbacks run
   */
  async receive(
    name: string,
    request: Omit<CallbackRequest, "received_at">,
  ): Promise<CallbackResult["response"]> {
    const { transports, clock, prepared } = this.#options;
    const transport = transports.find((each) => each.name === name);
    if (transport?.parseCallback === undefined) throw notFound("transport");
    const parse = transport.parseCallback.bind(transport);
    const { runtime } = await prepared();
    try {
      return await this.#places.run(async () => {
        const result = await parse({ ...request, received_at: clock.now() });
        const sink = transportSink(name, runtime);
        // Commit before responding. The carrier repeats a callback that fails here.
        await Promise.all([
          ...result.receipts.map(({ subject, receipt }) => sink.receipt(subject, receipt)),
          ...result.inbound.map((message) => sink.inbound(message)),
        ]);
        return result.response;
      });
    } catch (error) {
      if (error instanceof TidingsError && error.code !== "not_found") {
        this.#note(name, error.code);
      }
      throw error;
    }
  }

  #note(transport: string, code: string): void {
    const { clock, logger } = this.#options;
    const now = clock.now();
    const refusals = this.#refusals.get(transport) ?? {
      count: 0,
      codes: new Set<string>(),
      loggedAt: -Infinity,
    };
    this.#refusals.set(transport, refusals);
    refusals.count += 1;
    refusals.codes.add(code);
    if (now - refusals.loggedAt < quietMs) return;
    const { count, codes } = refusals;
    logger.warn({ transport, callbacks: count, codes: [...codes] }, "callbacks were refused");
    this.#refusals.set(transport, { count: 0, codes: new Set(), loggedAt: now });
  }
}
