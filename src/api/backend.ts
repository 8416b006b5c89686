import type { KeyRing, KnownAccounts } from "../accounts/index.ts";
import { TidingsError, type AccountId, type GenerateId, type Limits } from "../kernel/index.ts";
import {
  rateLimiter,
  type Executor,
  type Health,
  type Prepared,
  type RateLimiter,
} from "../operations/index.ts";
import type { Clock, HttpClient, Logger, Random, StoragePort, Transport } from "../ports/index.ts";
import type { Store } from "../store/index.ts";
import { authenticateVisitor, type Visitor } from "../webchat/index.ts";
import { Callbacks } from "./callbacks.ts";
import { HealthCheck } from "./health-check.ts";
import type { LiveStreams } from "./streams/live-streams.ts";

/** The parts of the engine that the HTTP API is made of. */
interface EngineParts {
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

interface Executing {
  readonly executor: Pick<Executor, keyof Executor>;
}

/** What the HTTP API uses of the engine. */
export interface ApiBackend extends Pick<
  EngineParts,
  "clock" | "random" | "limits" | "logger" | "origins"
> {
  readonly drawId: GenerateId;
  /** Undefined if the engine has no HTTP client. */
  readonly httpClient: HttpClient | undefined;
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
  readonly streams: Pick<LiveStreams, "sources">;
  /** @throws TidingsError `not_found` when there is no such account */
  readonly checkAccount: (id: AccountId) => Promise<void>;
  /** @throws TidingsError `invalid_visitor_token`, `expired_visitor_token`, `not_found` */
  readonly authenticateVisitor: (session_id: string, token: string) => Promise<Visitor>;
  /** Returns whether the engine can commit commands now. Never rejects. */
  readonly health: () => Promise<Health>;
}

/** Connects the HTTP API to the engine. */
export function apiBackend(engine: EngineParts): ApiBackend {
  const { store, storage, clock, random, limits, logger, origins, keyRing, streams } = engine;
  const prepared: EngineParts["prepared"] = () => engine.prepared().catch(retryElsewhere);
  const run: EngineParts["run"] = (call) => engine.run(call).catch(retryElsewhere);
  const healthCheck = new HealthCheck(engine);
  const keyLimiter = rateLimiter(clock, storage);
  return {
    drawId: store.drawId,
    clock,
    random,
    limits,
    logger,
    origins,
    httpClient: engine.http?.client,
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
    streams,
    checkAccount: (id) => engine.accounts.check(id),
    async authenticateVisitor(session_id, token) {
      const { runtime } = await prepared();
      const { secret } = runtime.services;
      const reads = store.unscopedReads;
      return authenticateVisitor({ reads, secret, now: clock.now() }, session_id, token);
    },
    health: () => healthCheck.run(),
  };
}

/** A client's next request may reach another process, or this one after a restart. */
function retryElsewhere(error: unknown): never {
  if (!(error instanceof TidingsError) || error.code !== "shutting_down") throw error;
  throw new TidingsError("shutting_down", "The service is shutting down. Try again.");
}
