import { accountById, defaultAccountId, type KeyRing } from "../accounts/index.ts";
import { type GenerateId, type Limits, TidingsError } from "../kernel/index.ts";
import {
  type Caller,
  type Executor,
  type RateLimiter,
  rateLimiter,
  type Runtime,
  type Service,
  type StreamSources,
} from "../operations/index.ts";
import type { Clock, Logger, StoragePort, Transport } from "../ports/index.ts";
import type { Store } from "../store/index.ts";
import { authenticateVisitor, type Visitor } from "../webchat/index.ts";
import { Callbacks } from "./service-routes.ts";
import type { StreamNotifier } from "./stream-notifier.ts";

/** The parts of the engine that the HTTP API uses. */
export interface ApiBackend extends Service {
  readonly drawId: GenerateId;
  readonly limits: Limits;
  readonly logger: Logger;
  /** The origins whose pages may call the visitor routes. */
  readonly origins: readonly string[];
  /**
   * Resolves when the storage is open.
   * @throws TidingsError `storage_unavailable`, `shutting_down`
   */
  readonly prepared: () => Promise<{
    readonly executor: Pick<Executor, "execute" | "run" | "runRows" | "query" | "open">;
  }>;
  /** Usable when the storage is open. */
  readonly keyRing: Pick<KeyRing, "authenticate">;
  readonly keyLimiter: RateLimiter;
  readonly visitorLimiter: RateLimiter;
  readonly callbacks: Pick<Callbacks, "receive">;
  /** @throws TidingsError `invalid_visitor_token`, `expired_visitor_token`, `not_found` */
  authenticateVisitor(session_id: string, token: string): Promise<Visitor>;
  /** Returns what a stream of the caller needs. `signal` aborts when the client disconnects. */
  streamSources(
    caller: Caller,
    signal: AbortSignal,
  ): Pick<StreamSources, "notifications" | "mayContinue">;
}

export interface BackendOptions {
  readonly store: Store;
  readonly logger: Logger;
  readonly drawId: GenerateId;
  readonly storage: StoragePort;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly transports: readonly Transport[];
  readonly keyRing: KeyRing;
  readonly notifier: StreamNotifier;
  /** The origins whose pages may call the visitor routes. */
  readonly origins: readonly string[];
  /** Resolves when the storage is open. */
  readonly prepared: () => Promise<{ readonly runtime: Runtime; readonly executor: Executor }>;
}

/** Connects the HTTP API to the engine. */
export function apiBackend(options: BackendOptions): ApiBackend {
  const { store, logger, drawId, storage, clock, limits, keyRing, notifier, origins, prepared } =
    options;
  return {
    drawId,
    limits,
    logger,
    origins,
    prepared,
    keyRing,
    keyLimiter: rateLimiter(clock, storage),
    // The count is per process. Sessions are short-lived and would leave their counts in the
    // storage.
    visitorLimiter: rateLimiter(clock, {}),
    callbacks: new Callbacks(options),
    async authenticateVisitor(session_id, token) {
      const { runtime } = await prepared();
      const { secret } = runtime.services;
      const reads = store.unscopedReads;
      return authenticateVisitor({ reads, secret, now: clock.now() }, session_id, token);
    },
    streamSources: (caller, signal) => ({
      notifications: (mailbox) => notifier.open(signal, mailbox),
      mayContinue: async () =>
        !notifier.closed && (caller.type !== "key" || (await keyRing.isValid(caller))),
    }),
    async health() {
      await prepared();
      const account = await store.unscopedReads.get(accountById, [defaultAccountId]);
      if (account === undefined) {
        throw new TidingsError(
          "storage_unavailable",
          "The storage has no default account. Start the engine once to prepare it.",
        );
      }
    },
  };
}
