import type { ApiBackend } from "./backend.ts";
import { Callbacks } from "./callbacks.ts";
import { notFound, TidingsError } from "../kernel/errors.ts";
import type { NewsDesk } from "./stream-notifier.ts";
import type { Executor } from "../operations/executor.ts";
import { accountById } from "../accounts/rows.ts";
import { defaultAccountId } from "../accounts/prepare-storage.ts";
import type { DrawId } from "../kernel/ids.ts";
import type { KeyRing } from "../accounts/key-ring.ts";
import type { Limits } from "../options.ts";
import type { Clock } from "../ports/clock.ts";
import type { StoragePort } from "../ports/storage.ts";
import type { Transport } from "../ports/transport.ts";
import { rateLimiter } from "../operations/rate-limiter.ts";
import { letIn } from "../webchat/visitors.ts";
import { type SinkOptions, transportSink } from "../messages/transport-sink.ts";

export interface BackendOptions extends Omit<SinkOptions, "services"> {
  readonly drawId: DrawId;
  readonly storage: StoragePort;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly transports: readonly Transport[];
  readonly keyRing: KeyRing;
  readonly news: NewsDesk;
  /** Of pages that may talk to visitors' routes. */
  readonly origins: readonly string[];
  /** The executor, once the storage is open. */
  readonly prepared: () => Promise<Executor>;
}

/** A browser asks for nothing else than to write, to mark what it has and to come again. */
const visitorRequestsPerSecond = 20;

/** The engine as the HTTP surface sees it. */
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
    news,
    origins,
    prepared,
  } = options;
  const limiter = rateLimiter(clock, storage);
  // Each process for itself: sessions come and go, and would leave their counts behind in a storage.
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
    letIn: async (session_id, token) => {
      const { services } = await prepared();
      return letIn(
        { reads: store.unscopedReads, secret: services.secret, now: clock.now() },
        session_id,
        token,
      );
    },
    admitVisitor: ({ caller }) => visitorLimiter.admit(caller.session_id, visitorRequestsPerSecond),
    origins,
    admit: ({ caller, requests_per_second }) => limiter.admit(caller.key_id, requests_per_second),
    execute: async (command, input, context) => (await prepared()).execute(command, input, context),
    run: async (procedure, input, context) => (await prepared()).run(procedure, input, context),
    rows: async (procedure, rows, context) => (await prepared()).runRows(procedure, rows, context),
    query: async (query, input, context) => (await prepared()).query(query, input, context),
    stream: async (stream, input, context, signal) => {
      const executor = await prepared();
      const { caller } = context;
      const goesOn = async (): Promise<boolean> =>
        !news.closed && (caller.type !== "key" || (await keyRing.isValid(caller)));
      return executor.open(
        stream,
        input,
        context,
        { news: (mailbox) => news.open(signal, mailbox), goesOn },
        signal,
      );
    },
    callback: async (name, request) => {
      const transport = transports.find((each) => each.name === name);
      if (transport?.parseCallback === undefined) throw notFound("transport");
      const { services } = await prepared();
      const parse = transport.parseCallback.bind(transport);
      return callbacks.take(name, async () => {
        const { receipts, inbound, response } = await parse({
          ...request,
          received_at: clock.now(),
        });
        const sink = transportSink(name, { store, services, logger });
        // Committed before the carrier is told so: what fails here, it sends again.
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
        throw new TidingsError("storage_unavailable", "The storage is not prepared.");
      }
    },
  };
}
