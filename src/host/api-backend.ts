import { type ApiBackend, Callbacks, type StreamNotifier } from "../api/index.ts";
import { type GenerateId, type Limits, notFound, TidingsError } from "../kernel/index.ts";
import { type Executor, rateLimiter, type Runtime } from "../operations/index.ts";
import { accountById, defaultAccountId, type KeyRing } from "../accounts/index.ts";
import type { Clock, Logger, StoragePort, Transport } from "../ports/index.ts";
import type { Store } from "../store/index.ts";
import { authenticateVisitor } from "../webchat/index.ts";
import { transportSink } from "../messages/index.ts";

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

/** A visitor's browser only writes, marks messages and reconnects. */
const visitorRequestsPerSecond = 20;

/** Connects the HTTP API to the engine. */
export function apiBackend(options: BackendOptions): ApiBackend {
  const {
    storage,
    store,
    drawId,
    logger,
    clock,
    limits,
    transports,
    keyRing,
    notifier,
    origins,
    prepared,
  } = options;
  const limiter = rateLimiter(clock, storage);
  // The count is per process. Sessions are short-lived and would leave their counts in the storage.
  const visitorLimiter = rateLimiter(clock, {});
  const callbacks = new Callbacks(clock, logger);
  return {
    drawId,
    limits,
    logger,
    authenticate: async (secret) => {
      await prepared();
      return keyRing.authenticate(secret);
    },
    authenticateVisitor: async (session_id, token) => {
      const { runtime } = await prepared();
      return authenticateVisitor(
        { reads: store.unscopedReads, secret: runtime.services.secret, now: clock.now() },
        session_id,
        token,
      );
    },
    admitVisitor: ({ caller }) => visitorLimiter.admit(caller.session_id, visitorRequestsPerSecond),
    origins,
    admit: ({ caller, requests_per_second }) => limiter.admit(caller.key_id, requests_per_second),
    execute: async (command, input, context) =>
      (await prepared()).executor.execute(command, input, context),
    run: async (procedure, input, context) =>
      (await prepared()).executor.run(procedure, input, context),
    rows: async (procedure, rows, context) =>
      (await prepared()).executor.runRows(procedure, rows, context),
    query: async (query, input, context) =>
      (await prepared()).executor.query(query, input, context),
    stream: async (stream, input, context, signal) => {
      const { executor } = await prepared();
      const { caller } = context;
      const mayContinue = async (): Promise<boolean> =>
        !notifier.closed && (caller.type !== "key" || (await keyRing.isValid(caller)));
      return executor.open(
        stream,
        input,
        context,
        { notifications: (mailbox) => notifier.open(signal, mailbox), mayContinue },
        signal,
      );
    },
    callback: async (name, request) => {
      const transport = transports.find((each) => each.name === name);
      if (transport?.parseCallback === undefined) throw notFound("transport");
      const { runtime } = await prepared();
      const parse = transport.parseCallback.bind(transport);
      return callbacks.take(name, async () => {
        const { receipts, inbound, response } = await parse({
          ...request,
          received_at: clock.now(),
        });
        const sink = transportSink(name, runtime);
        // Commit before responding. The carrier repeats a callback that fails here.
        await Promise.all([
          ...receipts.map(({ subject, receipt }) => sink.receipt(subject, receipt)),
          ...inbound.map((message) => sink.inbound(message)),
        ]);
        return response;
      });
    },
    health: async () => {
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
