import { defaultAccountId, KeyRing, KnownAccounts } from "./accounts/index.ts";
import { apiBackend, LiveStreams, RequestHandler, type ApiHandler } from "./api/index.ts";
import {
  Consumers,
  EventBus,
  type ConsumeOptions,
  type Consumer,
  type EventConsumer,
  type EventType,
} from "./events/index.ts";
import {
  accountMode,
  checkAccountId,
  checkSchemaVersion,
  checkTransaction,
  Lifecycle,
  OperationRunner,
  settingsOf,
  stopDeadline,
  type AccountHandle,
  type AccountOptions,
  type Accounts,
  type ConsumerHandler,
  type Defaults,
  type EngineOptions,
  type EventHandler,
  type Settings,
  type StopOptions,
} from "./host/index.ts";
import { isId, notFound, type Scope } from "./kernel/index.ts";
import {
  accountHandle,
  accountsHandle,
  apiRoutes,
  hookHandlers,
  jobHandlers,
  schema,
} from "./modules.ts";
import { HostPolicies, type Health, type Prepared, type ScopedRunner } from "./operations/index.ts";
import { Store } from "./store/index.ts";
import { webchatTransport } from "./webchat/index.ts";
import { fanOut, type Event } from "./webhooks/index.ts";

/**
 * A messaging engine inside your process. The constructor does no I/O; the first call opens the
 * storage. Commands work without `start()`. A started engine, here or in another process on the
 * same storage, sends what they queue.
 */
export class MessagingEngine<
  Tx extends object | undefined = object | undefined,
> implements AsyncDisposable {
  /** The `/v1` HTTP API. Mount it with `tidings/express`, `/koa`, `/node` or `/fetch`. */
  readonly api: ApiHandler;
  /** The accounts of the engine, one for each of your tenants. */
  readonly accounts: Accounts;
  /** Messages of the default account: send, schedule, change and read them. */
  readonly messages: AccountHandle["messages"];
  /** Contacts of the default account, with their addresses, consents and observations. */
  readonly contacts: AccountHandle["contacts"];
  /** Conversations of the default account: the inbox, replies, notes, and who is responsible. */
  readonly conversations: AccountHandle["conversations"];
  /** The people who work on conversations of the default account: their names and pictures. */
  readonly operators: AccountHandle["operators"];
  /** The API keys of the default account, for requests over HTTP. */
  readonly apiKeys: AccountHandle["apiKeys"];
  /** Chats of the default account with visitors of a website. */
  readonly webchat: AccountHandle["webchat"];
  /** The addresses that the default account sends from and receives at. */
  readonly senders: AccountHandle["senders"];
  /** The events of the default account. */
  readonly events: AccountHandle["events"];
  /** Endpoints that the engine posts events of the default account to. */
  readonly webhooks: AccountHandle["webhooks"];
  /** AI agents of the default account, which reply to contacts. */
  readonly agents: AccountHandle["agents"];
  /** The runs of all agents of the default account. */
  readonly runs: AccountHandle["runs"];
  /** Playbooks of the default account: scripts that agents follow. */
  readonly playbooks: AccountHandle["playbooks"];
  /** Simulation tools for the default account. */
  readonly sandbox: AccountHandle["sandbox"];
  readonly #settings: Settings;
  readonly #store: Store;
  readonly #bus: EventBus;
  readonly #consumers: Consumers;
  readonly #health: () => Promise<Health>;
  readonly #handleOf: (scope: Scope) => AccountHandle;
  readonly #lifecycle: Lifecycle;

  /**
   * @throws TidingsError `invalid_option` with the name, the expected value and the given value of
   *   each invalid option
   */
  constructor(options: EngineOptions<Tx>, defaults: Defaults) {
    const chosen = settingsOf(options, defaults);
    const { storage, clock, random, logger, limits, mode } = chosen;
    const deadline = new AbortController();
    const stopDeadline = deadline.signal;
    const store = new Store({
      port: storage,
      schema,
      projection: fanOut,
      clock,
      random,
      logger,
      stopDeadline,
    });
    const transports = [...chosen.transports, webchatTransport(store)];
    const settings = { ...chosen, transports };
    const accountOf = (scope: Scope): AccountHandle => this.#handleOf(scope);
    const runHandler: Lifecycle["runHandler"] = (handler) => this.#lifecycle.runHandler(handler);
    const bus = new EventBus({ logger, run: runHandler, accountOf });
    const shared = { store, clock, logger, stopDeadline };
    const streams = new LiveStreams(shared);
    const hostPolicies = new HostPolicies({
      ...shared,
      policies: settings.policies,
      transactions: store.hasTransactions ? storage.capabilities.transactions : 0,
    });
    const keyRing = new KeyRing(shared);
    const prepared = (): Promise<Prepared> => this.#lifecycle.prepared();
    const run: Lifecycle["run"] = (call) => this.#lifecycle.run(call);
    const consumers = new Consumers({ ...shared, run, accountOf });
    store.onCommit((writes) => {
      keyRing.onWrites(writes);
      streams.onWrites(writes);
      consumers.onWrites(writes);
      bus.publish(writes);
    });
    this.#settings = settings;
    this.#store = store;
    this.#bus = bus;
    this.#consumers = consumers;
    const parts = { settings, store, hostPolicies, keyRing, streams, consumers, deadline };
    this.#lifecycle = new Lifecycle({ ...parts, hookHandlers, jobHandlers, accountOf });

    const accounts = new KnownAccounts(store);
    const running = { store, accounts, streams, limits, prepared, run };
    const { origins } = settings.webchat;
    const backend = apiBackend({ ...settings, ...running, keyRing, origins, stopDeadline });
    this.#health = backend.health;
    this.api = new RequestHandler(backend, apiRoutes(limits));

    const runnerIn = (scope: Scope): ScopedRunner => new OperationRunner(scope, running);
    this.#handleOf = (scope) => accountHandle(scope, runnerIn(scope));
    const scope: Scope = { account_id: defaultAccountId, mode };
    ({
      messages: this.messages,
      contacts: this.contacts,
      conversations: this.conversations,
      operators: this.operators,
      apiKeys: this.apiKeys,
      webchat: this.webchat,
      senders: this.senders,
      events: this.events,
      webhooks: this.webhooks,
      agents: this.agents,
      runs: this.runs,
      playbooks: this.playbooks,
      sandbox: this.sandbox,
    } = this.#handleOf(scope));
    this.accounts = accountsHandle(runnerIn(scope));
  }

  /**
   * Returns a handle for one account in one mode, by default the default account. The handle sees
   * no data of other accounts or modes. It does no I/O.
   * @throws TidingsError `not_found` when `id` is not a valid account id; `invalid_option` when
   *   `id` is no string, an option is unknown, or `mode` is not "sandbox" or "live"
   */
  account(id: string = defaultAccountId, options: AccountOptions = {}): AccountHandle {
    checkAccountId(id);
    if (!isId("acct", id)) throw notFound("account", id);
    const mode = accountMode(options, this.#settings.mode);
    return this.#handleOf({ account_id: id, mode });
  }

  /**
   * Calls `handler` after each commit of this engine that contains an event of this type, in any
   * account and mode. Its second argument has `account`, the handle to reply with. The engine does
   * not see the commit of a transaction that you opened yourself. Errors of the handler are logged
   * and affect nothing else. A stop waits for the handler, which may call the engine meanwhile. A
   * handler that calls `stop` can wait for it: the stop does not wait for that handler.
   * @throws TidingsError `invalid_option` when there is no such event type
   */
  on<T extends EventType>(type: T, handler: EventHandler<T>): this {
    // The cast is safe: the bus calls a handler only with events of its type.
    this.#bus.on(type, handler as Parameters<EventBus["on"]>[1]);
    return this;
  }

  /**
   * Removes a handler that `on` added. A handler that was added for another type stays.
   * @throws TidingsError `invalid_option` when there is no such event type
   */
  off<T extends EventType>(type: T, handler: EventHandler<T>): this {
    this.#bus.off(type, handler as Parameters<EventBus["off"]>[1]);
    return this;
  }

  /**
   * Calls `handler` at least once for each event of these types, in any account and mode, even
   * after restarts and crashes. Its second argument has `account`, the handle to reply with. Only a
   * started engine calls it. The events of one conversation come in order, one at a time. An event
   * without a conversation is ordered by its contact. A call that fails or takes longer than 10
   * seconds is repeated up to 7 times, over about 1 hour and 45 minutes. After the eighth failure
   * the event is parked: it and the later events of its conversation wait until you resume or skip
   * it. Writes through the handler's `tx` commit together with the consumer's progress, so they
   * take effect exactly once. The progress is stored under `name`. Engines that have a consumer of
   * the same name share its work and must use the same types.
   * @throws TidingsError `invalid_option` when the name is in use here or is not 1 to 100 letters,
   *   digits, dots, dashes and underscores, or when `types` is empty or has an unknown type;
   *   `shutting_down` after `stop`
   */
  consume<T extends EventType>(
    name: string,
    types: readonly T[],
    handler: ConsumerHandler<T, Tx>,
    options: ConsumeOptions = {},
  ): Consumer<Event<T>> {
    this.#lifecycle.refuseAfterStop();
    // The cast is safe: the reader passes only events of these types, and the storage gives its own
    // kind of handle.
    const consumer = this.#consumers.add({
      ...options,
      name,
      types,
      handler: handler as EventConsumer,
    });
    return consumer as Consumer<Event<T>>;
  }

  /**
   * Removes a consumer that no engine runs any more. Until then its unread events are kept past the
   * retention time. If the process dies meanwhile, a started engine completes the removal.
   * @throws TidingsError `not_found`; `invalid_option` while this engine runs the consumer
   */
  async removeConsumer(name: string): Promise<void> {
    await this.#consumers.remove(name);
  }

  /**
   * Runs `work` in a transaction of the storage. Run your own statements on the handle and pass it
   * to commands as `{ tx }`. Await each. A command that `work` calls without `{ tx }` is refused
   * with `invalid_option`. Commits when `work` resolves, then starts the queued jobs and calls the
   * handlers of `on`. Rolls back when `work` rejects. On SQLite the handle is a `DatabaseSync`, and
   * no one else can write to the file until `work` ends.
   * @throws TidingsError `invalid_option` when the storage has no transactions, when `work` is no
   *   function, or when it does not await a command, ends the transaction itself or, on
   *   PostgreSQL, ignores the error of a statement;
   *   `storage_unavailable`, `overloaded`, `shutting_down` when it does not end by the deadline of
   *   `stop`. Errors of `work` are thrown too, and the database's error when a constraint fails at
   *   COMMIT. After `storage_contended`, run the transaction again.
   */
  async transaction<T>(work: (tx: NonNullable<Tx>) => Promise<T>): Promise<T> {
    checkTransaction(work);
    // The cast is safe: the storage's type declares the type of its handle.
    const run = async (handle: object): Promise<T> => work(handle as NonNullable<Tx>);
    return this.#lifecycle.run(() => this.#store.transaction(run));
  }

  /**
   * Migrates the storage to this version. Needed only with `migrate: false`. Several processes may
   * call it at once.
   */
  async migrate(): Promise<void> {
    await this.#settings.storage.migrate(schema);
  }

  /**
   * The SQL statements that migrate a storage from schema version `from` (0 when empty) to this
   * version.
   * @throws TidingsError `invalid_option` when `from` is not a whole number from 0
   */
  migrationSql(from = 0): string {
    checkSchemaVersion(from);
    return this.#settings.storage.migrationSql(schema, from);
  }

  /**
   * Returns whether the engine can commit commands now, and otherwise the reasons. The outcome of
   * the last commit decides. If it is older than a second, this writes a row and waits up to 2
   * seconds. Never rejects.
   */
  health(): Promise<Health> {
    return this.#health();
  }

  /**
   * Opens the storage and the transports and starts processing queued work. Repeated calls have no
   * effect. Fails after `stop()`.
   * @throws TidingsError `conflict` when a new consumer exceeds the limit of 1,000; `internal` when
   *   a transport does not start within 30 seconds, and `shutting_down` when it does not start by
   *   the deadline of `stop`. Errors that a transport throws are thrown too.
   */
  async start(): Promise<void> {
    await this.#lifecycle.start();
  }

  /**
   * Stops the event streams, the running jobs, the transports and the storage, in this order, and
   * waits for the calls that were made before. Jobs that still run at the deadline are aborted, and
   * the engine waits until they have ended. Calls that have not ended by then fail, and transports
   * that have not started or stopped are abandoned. 2 seconds later, calls of the storage that
   * still wait for a lock or a server fail, too. Repeated calls have no effect. Works without a
   * start.
   * @throws TidingsError `invalid_option`, and the engine does not stop
   */
  stop(options: StopOptions = {}): Promise<void> {
    try {
      return this.#lifecycle.stop(stopDeadline(options));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Stops the engine as `stop()` does, at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
