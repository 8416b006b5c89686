import type { ApiBackend } from "./api/backend.ts";
import { notFound, TidingsError } from "./errors.ts";
import type { NewsDesk } from "./events/news.ts";
import type { Executor } from "./execute.ts";
import { accountById } from "./domain/accounts/rows.ts";
import { defaultAccountId } from "./commands/prepare-storage.ts";
import type { KeyRing } from "./key-ring.ts";
import type { Limits } from "./options.ts";
import type { Clock } from "./ports/clock.ts";
import type { StoragePort } from "./ports/storage.ts";
import type { Transport } from "./ports/transport.ts";
import { rateLimiter } from "./rate-limits/limiter.ts";
import { type SinkOptions, transportSink } from "./transport-sink.ts";

export interface BackendOptions extends SinkOptions {
  readonly storage: StoragePort;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly transports: readonly Transport[];
  readonly keyRing: KeyRing;
  readonly news: NewsDesk;
  /** The executor, once the storage is open. */
  readonly prepared: () => Promise<Executor>;
}

/** The engine as the HTTP surface sees it. */
export function apiBackend(options: BackendOptions): ApiBackend {
  const { storage, store, drawId, logger, clock, limits, transports, keyRing, news, prepared } = options;
  const limiter = rateLimiter(clock, storage);
  return {
    drawId,
    limits,
    logger,
    authenticate: async (secret) => {
      await prepared();
      return keyRing.authenticate(secret);
    },
    admit: ({ caller, requests_per_second }) => limiter.admit(caller.key_id, requests_per_second),
    execute: async (command, input, context) => (await prepared()).execute(command, input, context),
    run: async (procedure, input, context) => (await prepared()).run(procedure, input, context),
    query: async (query, input, context) => (await prepared()).query(query, input, context),
    stream: async (stream, input, context, signal) => {
      const executor = await prepared();
      const { caller } = context;
      const goesOn = async (): Promise<boolean> =>
        !news.closed && (caller.type === "host" || (await keyRing.isValid(caller)));
      return executor.open(stream, input, context, { news: () => news.open(signal), goesOn }, signal);
    },
    callback: async (name, request) => {
      const transport = transports.find((each) => each.name === name);
      if (transport?.parseCallback === undefined) throw notFound("transport");
      await prepared();
      const { receipts, inbound, response } = await transport.parseCallback(request);
      const sink = transportSink(name, { store, drawId, logger });
      // Committed before the carrier is told so: what fails here, it sends again.
      await Promise.all([
        ...receipts.map(({ subject, receipt }) => sink.receipt(subject, receipt)),
        ...inbound.map((message) => sink.inbound(message)),
      ]);
      return response;
    },
    health: async () => {
      await prepared();
      const account = await store.reads.get(accountById, [defaultAccountId]);
      if (account === undefined) throw new TidingsError("storage_unavailable", "The storage is not prepared.");
    },
  };
}
