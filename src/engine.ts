import { contactActivity } from "./conversations/index.ts";
import { apiRoutes, hookHandlers, jobHandlers, schema } from "./modules.ts";
import { createSandboxSenders } from "./senders/index.ts";
import { carriersOf, isMessageInProgress, stopTransports } from "./messages/index.ts";
import {
  type ConsumeOptions,
  type Consumer,
  Consumers,
  EventBus,
  type EventConsumer,
  type EventType,
} from "./events/index.ts";
import { type ConsumerHandler, type Event, type EventHandler, fanOut } from "./webhooks/index.ts";
import { createSecretKey } from "node:crypto";
import { LRUCache } from "lru-cache";
import {
  accountHandle,
  type AccountHandle,
  type Accounts,
  apiBackend,
  type CommandOptions,
  type DefaultPorts,
  type EngineOptions,
  type EngineRuntime,
  type Run,
  type Settings,
  settingsOf,
  startWork,
  type Work,
} from "./host/index.ts";
import { apiHandler, type ApiHandler, NewsDesk } from "./api/index.ts";
import {
  accountById,
  createAccount,
  defaultAccountId,
  KeyRing,
  prepareStorage,
} from "./accounts/index.ts";
import {
  type AccountId,
  type DrawId,
  idSource,
  isId,
  type Mode,
  notFound,
  parse,
  type Scope,
  TidingsError,
} from "./kernel/index.ts";
import {
  checkedKey,
  type Context,
  Executor,
  HostPolicies,
  inputSchema,
  type RowProcedure,
  type Services,
} from "./operations/index.ts";
import type { Action } from "./ports/index.ts";
import { Store } from "./store/index.ts";
import { webchatTransport } from "./webchat/index.ts";

export interface StopOptions {
  /** How long what is under way, and then the transports, may take to end, in milliseconds; by default 10,000. */
  readonly deadlineMs?: number;
}

/** An engine whose storage is open. */
interface Prepared {
  readonly runtime: EngineRuntime;
  readonly executor: Executor;
}

const hourMs = 3_600_000;
const standardDeadlineMs = 10_000;

/**
 * Messaging inside your process. Nothing happens in the constructor; the first call opens the storage. Commands are accepted without
 * `start()`; what they queue is handed over by an engine that is started, here or in another process on the same storage.
 */
export class MessagingEngine<
  Tx extends object | undefined = object | undefined,
> implements AsyncDisposable {
  /** The `/v1` surface: mount it with `tidings/express`, `/koa`, `/node` or `/fetch`. */
  readonly api: ApiHandler;
  readonly accounts: Accounts;
  readonly #settings: Settings;
  readonly #drawId: DrawId;
  readonly #store: Store;
  readonly #bus: EventBus;
  readonly #news: NewsDesk;
  readonly #policies: HostPolicies;
  readonly #keyRing: KeyRing;
  readonly #consumers: Consumers;
  readonly #own: AccountHandle;
  /** Accounts that were seen; none is ever removed. */
  readonly #accounts = new LRUCache<AccountId, true>({ max: 10_000 });
  #preparing: Promise<Prepared> | undefined;
  #isOpen = false;
  #starting: Promise<Work> | undefined;
  #work: Work | undefined;
  #stopping: Promise<void> | undefined;
  #unwatch: (() => void) | undefined;

  /** @throws TidingsError `invalid_option`, naming each option that is wrong, what was expected and what came */
  constructor(options: EngineOptions<Tx>, defaults: DefaultPorts) {
    const settings = settingsOf(options, defaults);
    const { storage, clock, random, logger, limits, mode } = settings;
    this.#drawId = idSource(clock, random);
    this.#store = new Store({
      port: storage,
      schema,
      projection: fanOut(this.#drawId),
      clock,
      random,
      logger,
    });
    const transports = [...settings.transports, webchatTransport(this.#store)];
    this.#settings = { ...settings, transports };
    this.#bus = new EventBus(logger);
    this.#news = new NewsDesk(clock);
    this.#policies = new HostPolicies({
      policies: settings.policies,
      store: this.#store,
      clock,
      transactions: this.#store.hasTransactions ? storage.capabilities.transactions : 0,
    });
    const keyRing = new KeyRing({ store: this.#store, clock, logger });
    this.#keyRing = keyRing;
    this.#store.onCommit((writes) => {
      keyRing.heed(writes);
      this.#news.heed(writes);
      this.#consumers.onWrites(writes);
      this.#bus.tell(writes);
    });

    const prepared = (): Promise<Prepared> => this.#prepared();
    this.#consumers = new Consumers({ store: this.#store, clock, logger, prepared });
    const own = { store: this.#store, drawId: this.#drawId, logger };
    const backend = apiBackend({
      ...own,
      storage,
      clock,
      limits,
      transports,
      keyRing,
      news: this.#news,
      origins: settings.webchat.origins,
      prepared,
    });
    this.api = apiHandler(backend, apiRoutes(limits));
    this.#own = accountHandle(
      { account_id: defaultAccountId, mode },
      this.#runIn({ account_id: defaultAccountId, mode }),
    );
    this.accounts = {
      create: (input, commandOptions) =>
        this.#runIn(this.#own.scope).change(createAccount, input, commandOptions),
    };
  }

  get messages(): AccountHandle["messages"] {
    return this.#own.messages;
  }

  get contacts(): AccountHandle["contacts"] {
    return this.#own.contacts;
  }

  get conversations(): AccountHandle["conversations"] {
    return this.#own.conversations;
  }

  get apiKeys(): AccountHandle["apiKeys"] {
    return this.#own.apiKeys;
  }

  get webchat(): AccountHandle["webchat"] {
    return this.#own.webchat;
  }

  get senders(): AccountHandle["senders"] {
    return this.#own.senders;
  }

  get events(): AccountHandle["events"] {
    return this.#own.events;
  }

  get webhooks(): AccountHandle["webhooks"] {
    return this.#own.webhooks;
  }

  get agents(): AccountHandle["agents"] {
    return this.#own.agents;
  }

  get playbooks(): AccountHandle["playbooks"] {
    return this.#own.playbooks;
  }

  get sandbox(): AccountHandle["sandbox"] {
    return this.#own.sandbox;
  }

  /**
   * One account in one mode; without an id the default account. What another account's or mode's rows are called can't be used here.
   * @throws TidingsError `not_found` when `id` can't be an account's
   */
  account(
    id: string = defaultAccountId,
    { mode = this.#settings.mode }: { readonly mode?: Mode } = {},
  ): AccountHandle {
    if (!isId("acct", id)) throw notFound("account");
    const scope: Scope = { account_id: id, mode };
    return accountHandle(scope, this.#runIn(scope));
  }

  /** Calls `handler` after each commit of this process that brought such an event. What it throws is logged and hurts nobody. */
  on<T extends EventType>(type: T, handler: EventHandler<T>): this {
    // The bus calls a handler with events of its type alone.
    this.#bus.on(type, handler as Parameters<EventBus["on"]>[1]);
    return this;
  }

  off<T extends EventType>(type: T, handler: EventHandler<T>): this {
    this.#bus.off(type, handler as Parameters<EventBus["off"]>[1]);
    return this;
  }

  /**
   * Calls `handler` at least once for each event of these types, in the order of their conversation, else of their contact, over
   * restarts and crashes; by a started engine. A handler that fails is called again, 8 times within two hours; then the event is
   * parked, and holds up its conversation alone until it is resumed or skipped. What the handler writes through the `tx` that it gets
   * commits with its progress: exactly once. `name` is what the progress is stored under; engines that have a consumer of the same name
   * share its work, and should agree on its types.
   * @throws TidingsError `invalid_option`: a name of other than 1 to 100 letters, digits, dots, dashes and underscores, or taken here; no
   * types
   */
  consume<T extends EventType>(
    name: string,
    types: readonly T[],
    handler: ConsumerHandler<T, Tx>,
    options: ConsumeOptions = {},
  ): Consumer<Event<T>> {
    // The reader passes events of these types alone, and the storage gives a handle of its own kind.
    const consumer = this.#consumers.add({
      ...options,
      name,
      types,
      handler: handler as EventConsumer<unknown>,
    });
    return consumer as Consumer<Event<T>>;
  }

  /**
   * Forgets a consumer that no engine runs any more: until then the log of events is kept for it, however old it gets.
   * @throws TidingsError `not_found`, and `invalid_option` while this engine runs it
   */
  async removeConsumer(name: string): Promise<void> {
    await this.#consumers.remove(name);
  }

  /**
   * Opens a transaction of the storage and runs `work` with its handle, on which your own statements run and which every change takes
   * as `{ tx }`. Commits when `work` resolves, and then hands over what was queued and calls the handlers of `on`; rolls back when it
   * rejects, and leaves no trace. On SQLite the handle is a `DatabaseSync`, and nobody else writes to the file until `work` is done.
   * @throws TidingsError `invalid_option` where the storage has none, `storage_unavailable`, `overloaded`, `shutting_down` when it has not
   * ended by the deadline of `stop`; and what `work` throws, as changes within it do with `storage_contended`: run it again then
   */
  async transaction<T>(work: (tx: NonNullable<Tx>) => Promise<T>): Promise<T> {
    await this.#prepared();
    // The storage that gives the handle says what it is.
    return this.#store.transaction((handle) => work(handle as NonNullable<Tx>));
  }

  /** Brings the storage up to date, where it was told to leave that to you (`migrate: false`). Safe when several do it at once. */
  async migrate(): Promise<void> {
    await this.#settings.storage.migrate(schema);
  }

  /** The statements that take a storage from schema version `from` (0: empty) to this version of tidings. */
  migrationSql(from = 0): string {
    return this.#settings.storage.migrationSql(schema, from);
  }

  /** Opens the storage, starts the transports and hands over what is queued. Idempotent; after `stop()` it is refused. */
  async start(): Promise<void> {
    if (this.#stopping !== undefined) throw stopped();
    // A start that failed left nothing behind, and the next one tries again.
    this.#starting ??= this.#start().catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    });
    await this.#starting;
  }

  /**
   * Ends the event streams, what is under way, then the transports, then the storage. What is under way at the deadline is aborted, a
   * transport that has not stopped by then is left. Idempotent; also without a start.
   */
  stop({ deadlineMs = standardDeadlineMs }: StopOptions = {}): Promise<void> {
    this.#stopping ??= this.#stop(deadlineMs);
    return this.#stopping;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #prepared(): Promise<Prepared> {
    if (this.#stopping !== undefined) return Promise.reject(stopped());
    this.#preparing ??= this.#prepare().catch((error: unknown) => {
      this.#preparing = undefined;
      throw error;
    });
    return this.#preparing;
  }

  async #prepare(): Promise<Prepared> {
    const {
      storage,
      random,
      limits,
      transports,
      sentiment,
      webchat,
      consent,
      quietHours,
      language,
      timeZone,
      http,
      agents,
    } = this.#settings;
    const { reopenHours, routes } = this.#settings;
    await this.#store.open();
    this.#isOpen = true;
    const secret = await this.#store.commitUnscoped((tx) =>
      prepareStorage(tx, { drawId: this.#drawId, random, setUpSandbox: createSandboxSenders }),
    );
    this.#unwatch = storage.watch?.(() => {
      this.#keyRing.forget();
      this.#news.raise();
      this.#consumers.wake();
      this.#work?.wake();
    });
    const services: Services = {
      drawId: this.#drawId,
      random,
      limits,
      transports,
      routes,
      consent,
      quietHours,
      language,
      timeZone,
      reopenMs: reopenHours * hourMs,
      webchatSessionMs: webchat.sessionHours * hourMs,
      scoresSentiment: sentiment !== undefined,
      destinations: http?.destinations,
      hasAgents: agents !== undefined,
      actions: agents?.actions ?? new Map<string, Action>(),
      contactActivity,
      hookHandlers,
      setUpSandbox: createSandboxSenders,
      isInProgress: isMessageInProgress,
      secret: createSecretKey(secret),
    };
    const runtime: EngineRuntime = {
      ...this.#settings,
      store: this.#store,
      drawId: this.#drawId,
      services,
      hostPolicies: this.#policies,
      carriers: carriersOf(transports),
      consumers: this.#consumers,
    };
    return { runtime, executor: new Executor(runtime) };
  }

  async #start(): Promise<Work> {
    const { runtime } = await this.#prepared();
    this.#work = await startWork(runtime, jobHandlers(runtime), this.#consumers);
    return this.#work;
  }

  async #stop(deadlineMs: number): Promise<void> {
    const { clock, transports } = this.#settings;
    const begun = clock.now();
    this.#news.close();
    // What is starting is started first, or has failed and left nothing to stop.
    const work = await this.#starting?.catch(() => undefined);
    await this.#preparing?.catch(() => {});
    this.#unwatch?.();
    // A clock that was set meanwhile makes it no longer than it was to be.
    const left = (): number =>
      Math.min(Math.max(deadlineMs - (clock.now() - begun), 0), deadlineMs);
    // What is stopped meanwhile may wait behind them.
    const transactionsEnded = this.#store.transactionsEnd(left());
    await this.#consumers.stop();
    await work?.stop(left());
    if (work !== undefined) await stopTransports(transports, left(), this.#settings);
    await transactionsEnded;
    // Another engine may have the storage open: one that never had leaves it alone.
    if (this.#isOpen) await this.#store.close();
  }

  /** @throws TidingsError `not_found` when there is no such account */
  async #serving({ account_id }: Scope, tx?: object): Promise<Executor> {
    const { executor } = await this.#prepared();
    if (this.#accounts.has(account_id)) return executor;
    // The host's transaction may have made it, and may yet be rolled back. Whoever holds a connection must not wait for another one.
    const account =
      tx === undefined
        ? await this.#store.unscopedReads.get(accountById, [account_id])
        : await this.#store.withinUnscoped(tx, (within) => within.get(accountById, [account_id]));
    if (account === undefined) throw notFound("account");
    if (tx === undefined) this.#accounts.set(account_id, true);
    return executor;
  }

  async *#rows<Report, Total>(
    procedure: RowProcedure<Report, Total>,
    rows: Iterable<unknown> | AsyncIterable<unknown>,
    context: Context,
  ): AsyncGenerator<Report, Total> {
    const executor = await this.#serving(context.scope);
    return yield* executor.runRows(procedure, rows, context);
  }

  /** How the handles of a scope run their operations: parsed here, and executed as the host's. */
  #runIn(scope: Scope): Run {
    const { limits } = this.#settings;
    const context = (options: CommandOptions | undefined): Context => ({
      scope,
      caller: { type: "host" },
      request_id: this.#drawId("req"),
      idempotency_key: checkedKey(options?.idempotencyKey),
      tx: options?.tx,
    });
    return {
      change: async (operation, input, options) => {
        const parsed = parse(inputSchema(operation, limits), input);
        const asked = context(options);
        const executor = await this.#serving(scope, options?.tx);
        const outcome =
          operation.kind === "command"
            ? await executor.execute(operation, parsed, asked)
            : await executor.run(operation, parsed, asked);
        return outcome.value;
      },
      rows: (procedure, rows) => this.#rows(procedure, rows, context(undefined)),
      read: async (query, input) => {
        const parsed = parse(inputSchema(query, limits), input);
        return (await this.#serving(scope)).query(query, parsed, context(undefined));
      },
    };
  }
}

function stopped(): TidingsError {
  return new TidingsError("shutting_down", "The engine was stopped.");
}
