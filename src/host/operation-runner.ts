import type { KnownAccounts } from "../accounts/index.ts";
import type { LiveStreams } from "../api/index.ts";
import {
  inBody,
  option,
  optionsObject,
  parse,
  parseOptions,
  TidingsError,
  type FieldError,
  type Limits,
  type Scope,
} from "../kernel/index.ts";
import {
  checkedKey,
  inputSchema,
  type Caller,
  type CommandOptions,
  type Context,
  type Executor,
  type Prepared,
  type RowProcedure,
  type ScopedRunner,
  type StreamEvent,
  type StreamItem,
  type TransientItem,
} from "../operations/index.ts";
import type { Store } from "../store/index.ts";
import { checkCommandOptions, checkStreamOptions, optionsOf } from "./options/call-options.ts";

interface RunnerOptions {
  readonly store: Store;
  readonly accounts: KnownAccounts;
  readonly streams: LiveStreams;
  readonly limits: Limits;
  readonly prepared: () => Promise<Prepared>;
  /** Runs a call of the host application when the storage is open. A stop waits for it. */
  readonly run: <T>(call: (prepared: Prepared) => Promise<T>) => Promise<T>;
}

const caller: Caller = { type: "host" };

/**
 * Parses the inputs of the handles of one account and mode, and runs their operations with the host
 * application as caller. The functions are fields, because the handles call them without `this`.
 */
export class OperationRunner implements ScopedRunner {
  readonly #scope: Scope;
  readonly #options: RunnerOptions;

  constructor(scope: Scope, options: RunnerOptions) {
    this.#scope = scope;
    this.#options = options;
  }

  readonly change: ScopedRunner["change"] = async (operation, input, options) => {
    const { limits, store } = this.#options;
    const parsed = parse(inputSchema(operation, limits), input, { options: optionsOf(operation) });
    const context = this.#context(options);
    const ended = options?.tx === undefined ? undefined : store.announce(options.tx);
    try {
      const outcome = await this.#run(
        (executor) => executor.execute(operation, parsed, context),
        options?.tx,
      );
      return outcome.value;
    } catch (error) {
      // The command ran in a group, so the stack does not lead to its caller. Only retryable errors
      // can be those of a whole group.
      if (error instanceof TidingsError && !error.retryable) Error.captureStackTrace(error);
      throw error;
    } finally {
      ended?.();
    }
  };

  readonly read: ScopedRunner["read"] = async (query, input) => {
    const parsed = parse(inputSchema(query, this.#options.limits), input);
    const context = this.#context();
    return this.#run((executor) => executor.query(query, parsed, context));
  };

  readonly yieldToEventLoop: ScopedRunner["yieldToEventLoop"] = () =>
    this.#options.store.yieldToEventLoop();

  readonly signal: ScopedRunner["signal"] = async (operation, input) => {
    const parsed = parse(inputSchema(operation, this.#options.limits), input);
    const context = this.#context();
    await this.#run((executor) => executor.signal(operation, parsed, context));
  };

  readonly rows: ScopedRunner["rows"] = (procedure, rows) =>
    this.#rows(procedure, rows, this.#context());

  readonly open: ScopedRunner["open"] = async (stream, input, show, options = {}) => {
    const { limits, streams } = this.#options;
    const parsed = parse(inputSchema(stream, limits), input);
    checkStreamOptions(options);
    const left = new AbortController();
    const signals = options.signal === undefined ? [] : [options.signal];
    const over = AbortSignal.any([left.signal, ...signals]);
    const executor = await this.#executor();
    const sources = streams.sources({ scope: this.#scope, caller, over });
    const opening = executor.open(stream, parsed, this.#context(), sources);
    return openStream(await opening.catch(throwInInput), show, () => left.abort());
  };

  #context(options?: CommandOptions): Context {
    if (options !== undefined) checkCommandOptions(options);
    return {
      scope: this.#scope,
      caller,
      request_id: this.#options.store.drawId("req"),
      idempotency_key: checkedKey(options?.idempotencyKey),
      tx: options?.tx,
    };
  }

  #run<T>(call: (executor: Executor) => Promise<T>, tx?: object): Promise<T> {
    const { run, accounts } = this.#options;
    return run(async ({ executor }) => {
      await accounts.check(this.#scope.account_id, tx);
      return call(executor).catch(throwInInput);
    });
  }

  async *#rows<Report, Total>(
    procedure: RowProcedure<Report, Total>,
    rows: Iterable<unknown> | AsyncIterable<unknown>,
    context: Context,
  ): AsyncGenerator<Report, Total> {
    parseOptions(`${procedure.name}: `, rowsArgument, { rows });
    const executor = await this.#executor();
    return yield* executor.runRows(procedure, rows, context);
  }

  /** For calls that last: a stop does not wait for them. */
  async #executor(): Promise<Executor> {
    const { prepared, accounts } = this.#options;
    const { executor } = await prepared();
    await accounts.check(this.#scope.account_id);
    return executor;
  }
}

const rowsArgument = optionsObject({
  rows: option<Iterable<unknown> | AsyncIterable<unknown>>(
    "an iterable or async iterable of rows",
    (given) =>
      typeof given === "object" &&
      given !== null &&
      (Symbol.iterator in given || Symbol.asyncIterator in given),
  ),
});

const isInParameter = ({ parameter }: FieldError): boolean => parameter !== undefined;

/** Throws the error of an operation. In process, a parameter of HTTP is a field of the input. */
function throwInInput(error: unknown): never {
  const inHttp = error instanceof TidingsError && error.errors.some(isInParameter);
  if (!inHttp) throw error;
  const { code, message, cause } = error;
  const errors = error.errors.map(({ parameter, ...others }) =>
    parameter === undefined ? others : { ...inBody([parameter]), ...others },
  );
  throw new TidingsError(code, message, { errors, cause });
}

/**
 * Returns the items of a stream as `show` shows them, without those that it leaves out. Calls
 * `leave` as soon as the reader leaves: a generator that was never read would not run its `finally`
 * blocks, and one that waits for an item would run them only after the wait.
 */
function openStream<Item, Shown>(
  events: AsyncIterable<StreamEvent<Item>>,
  show: (item: StreamItem<Item> | TransientItem) => Shown | undefined,
  leave: () => void,
): AsyncGenerator<Shown, void> {
  const stream = shownItems(events, show);
  const end = stream.return.bind(stream);
  const fail = stream.throw.bind(stream);
  stream.return = (value) => {
    leave();
    return end(value);
  };
  stream.throw = (error) => {
    leave();
    return fail(error);
  };
  return stream;
}

/** Leaves out the notices for a stream's connection, too. */
async function* shownItems<Item, Shown>(
  events: AsyncIterable<StreamEvent<Item>>,
  show: (item: StreamItem<Item> | TransientItem) => Shown | undefined,
): AsyncGenerator<Shown, void> {
  for await (const event of events) {
    const shown = "value" in event || "transient" in event ? show(event) : undefined;
    if (shown !== undefined) yield shown;
  }
}
