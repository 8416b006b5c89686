import type { KeyRing, KnownAccounts } from "../accounts/index.ts";
import {
  TidingsError,
  type AccountId,
  type GenerateId,
  type Limits,
  type Scope,
} from "../kernel/index.ts";
import {
  rateLimiter,
  type Caller,
  type Executor,
  type HealthReporter,
  type OpenSources,
  type Prepared,
  type RateLimiter,
} from "../operations/index.ts";
import type { Clock, HttpClient, Logger, Random, StoragePort, Transport } from "../ports/index.ts";
import type { Store } from "../store/index.ts";
import { authenticateVisitor, type Visitor } from "../webchat/index.ts";
import { Callbacks } from "./callbacks.ts";
import { HealthCheck } from "./health-check.ts";
import type { LiveStreams } from "./streams/live-streams.ts";

interface Executing {
  readonly executor: Pick<
    Executor,
    "execute" | "runProcedure" | "runRows" | "query" | "signal" | "open"
  >;
}

/** The parts of the engine that the HTTP API uses. */
export interface ApiBackend extends HealthReporter {
  readonly drawId: GenerateId;
  readonly clock: Clock;
  readonly random: Random;
  /** Undefined if the engine has no HTTP client. */
  readonly httpClient: HttpClient | undefined;
  readonly limits: Limits;
  readonly logger: Logger;
  /** The origins whose pages may call the visitor routes. */
  readonly origins: readonly string[];
  /**
   * Resolves when the storage is open.
   * @throws TidingsError `storage_unavailable`, `shutting_down`
   */
  readonly prepared: () => Promise<Executing>;
  /**
   * Runs the call of a client when the storage is open. A stop waits for it, up to its deadline.
   * @throws TidingsError `storage_unavailable`, `shutting_down`; and the errors of `call`
   */
  readonly run: <T>(call: (executing: Executing) => Promise<T>) => Promise<T>;
  /** Usable when the storage is open. */
  readonly keyRing: Pick<KeyRing, "authenticate" | "isValid">;
  readonly keyLimiter: RateLimiter;
  readonly visitorLimiter: RateLimiter;
  readonly callbacks: Pick<Callbacks, "receive">;
  /** @throws TidingsError `not_found` when there is no such account */
  readonly checkAccount: (id: AccountId) => Promise<void>;
  /** @throws TidingsError `invalid_visitor_token`, `expired_visitor_token`, `not_found` */
  authenticateVisitor(session_id: string, token: string): Promise<Visitor>;
  /**
   * Returns what a stream of the caller needs. `over` aborts when the reader has left. Calls `full`
   * when the reader is too slow for the events that are committed. The stream ends when
   * `mayContinue` returns false.
   */
  readonly streamSources: (opening: {
    readonly scope: Scope;
    readonly caller: Caller;
    readonly over: AbortSignal;
    readonly full?: () => void;
    readonly mayContinue?: (() => Promise<boolean>) | undefined;
  }) => OpenSources;
}

export interface BackendOptions {
  readonly store: Store;
  readonly logger: Logger;
  readonly storage: StoragePort;
  readonly clock: Clock;
  readonly random: Random;
  readonly http: { readonly client: HttpClient } | undefined;
  readonly limits: Limits;
  readonly transports: readonly Transport[];
  readonly accounts: KnownAccounts;
  readonly keyRing: KeyRing;
  readonly streams: LiveStreams;
  /** The origins whose pages may call the visitor routes. */
  readonly origins: readonly string[];
  /** Resolves when the storage is open. */
  readonly prepared: () => Promise<Prepared>;
  /** Runs the call of a client when the storage is open. A stop waits for it. */
  readonly run: <T>(call: (prepared: Prepared) => Promise<T>) => Promise<T>;
  /** Aborts at the deadline of a stop. */
  readonly stopDeadline: AbortSignal;
}

/** Connects the HTTP API to the engine. */
export function apiBackend(engine: BackendOptions): ApiBackend {
  const { store, logger, storage, clock, random, limits, accounts, keyRing, streams } = engine;
  const prepared: BackendOptions["prepared"] = () => engine.prepared().catch(retryElsewhere);
  const run: BackendOptions["run"] = (call) => engine.run(call).catch(retryElsewhere);
  const healthCheck = new HealthCheck(engine);
  const keyLimiter = rateLimiter(clock, storage);
  return {
    drawId: store.drawId,
    clock,
    random,
    httpClient: engine.http?.client,
    limits,
    logger,
    origins: engine.origins,
    prepared,
    run,
    keyRing,
    keyLimiter: {
      admit: (key, limit) => store.whileOpen(() => keyLimiter.admit(key, limit)),
    },
    // The count is per process. Sessions are short-lived and would leave their counts in the
    // storage.
    visitorLimiter: rateLimiter(clock, {}),
    callbacks: new Callbacks({ ...engine, run }),
    checkAccount: (id) => accounts.check(id),
    async authenticateVisitor(session_id, token) {
      const { runtime } = await prepared();
      const { secret } = runtime.services;
      const reads = store.unscopedReads;
      return authenticateVisitor({ reads, secret, now: clock.now() }, session_id, token);
    },
    streamSources: ({ full = () => {}, mayContinue = async () => true, ...opening }) => ({
      over: opening.over,
      join: (mailbox) => streams.join(opening, mailbox),
      subscribe: (filter, wake) => streams.subscribe(opening, filter, wake, full),
      listen: (filter, wake) => streams.listen(opening, filter, wake),
      watchContact: (contact_id, wake) => streams.watchContact(opening, contact_id, wake),
      mayContinue: async () => !streams.closed && mayContinue(),
    }),
    health: () => healthCheck.run(),
  };
}

/** A client's next request may reach another process, or this one after a restart. */
function retryElsewhere(error: unknown): never {
  if (!(error instanceof TidingsError) || error.code !== "shutting_down") throw error;
  throw new TidingsError("shutting_down", "The service is shutting down. Try again.");
}
