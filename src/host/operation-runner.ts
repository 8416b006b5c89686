import {
  describe,
  type FieldError,
  inBody,
  invalid,
  type Limits,
  option,
  optionsObject,
  parse,
  parseOptions,
  type Scope,
  suggestion,
  TidingsError,
} from "../kernel/index.ts";
import {
  checkedKey,
  type Command,
  type CommandOptions,
  type Context,
  type Executor,
  type HandleTable,
  inputSchema,
  type Procedure,
  type RowProcedure,
  type ScopedRunner,
  type StreamOptions,
  takesKey,
} from "../operations/index.ts";
import { KnownAccounts } from "../accounts/index.ts";
import type { ApiBackend } from "../api/index.ts";
import type { Store } from "../store/index.ts";
import type { EngineRuntime } from "./engine-runtime.ts";
import { openStream } from "./open-stream.ts";

/** Returns a function that creates handles with the methods of `table`. */
export function handleFactory(
  table: HandleTable,
): (scope: Scope, runner: ScopedRunner) => { readonly scope: Scope } {
  // Host applications may create a handle for each request, so the table is listed only once.
  const entries = Object.entries(table).map(([name, entry]) =>
    typeof entry === "function"
      ? { name, define: entry }
      : { name, methods: Object.entries(entry) },
  );
  return (scope, runner) => {
    const handle: Record<string, unknown> & { readonly scope: Scope } = { scope };
    for (const { name, define, methods } of entries) {
      if (define !== undefined) {
        handle[name] = define(runner);
        continue;
      }
      const group: Record<string, unknown> = {};
      for (const [method, defineMethod] of methods) group[method] = defineMethod(runner);
      handle[name] = group;
    }
    return handle;
  };
}

/** An engine whose storage is open. */
export interface Prepared {
  readonly runtime: EngineRuntime;
  readonly executor: Executor;
}

interface RunnerOptions extends Pick<ApiBackend, "streamSources"> {
  readonly store: Store;
  readonly limits: Limits;
  readonly prepared: () => Promise<Prepared>;
  /** Runs a call of the host application when the storage is open. A stop waits for it. */
  readonly run: <T>(call: (prepared: Prepared) => Promise<T>) => Promise<T>;
}

/** Parses the inputs of handles and runs their operations with the host application as caller. */
export class OperationRunner {
  readonly #options: RunnerOptions;
  readonly #accounts: KnownAccounts;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#accounts = new KnownAccounts(options.store);
  }

  in(scope: Scope): ScopedRunner {
    const { limits, store, streamSources } = this.#options;
    const caller: Context["caller"] = { type: "host" };
    const context = (options: CommandOptions | undefined): Context => {
      if (options !== undefined) checkCommandOptions(options);
      return {
        scope,
        caller,
        request_id: store.drawId("req"),
        idempotency_key: checkedKey(options?.idempotencyKey),
        tx: options?.tx,
      };
    };
    return {
      change: async (operation, input, options) => {
        const schema = inputSchema(operation, limits);
        const parsed = parse(schema, input, { options: optionsOf(operation) });
        const called = context(options);
        const ended = options?.tx === undefined ? undefined : store.announce(options.tx);
        try {
          const outcome = await this.#run(scope, options?.tx, (executor) =>
            operation.kind === "command"
              ? executor.execute(operation, parsed, called)
              : executor.runProcedure(operation, parsed, called),
          );
          return outcome.value;
        } catch (error) {
          // The command ran in a group, so the stack does not lead to its caller. Only retryable
          // errors can be those of a whole group.
          if (error instanceof TidingsError && !error.retryable) Error.captureStackTrace(error);
          throw error;
        } finally {
          ended?.();
        }
      },
      rows: (procedure, rows) => this.#rows(procedure, rows, context(undefined)),
      read: async (query, input) => {
        const parsed = parse(inputSchema(query, limits), input);
        const called = context(undefined);
        return this.#run(scope, undefined, (executor) => executor.query(query, parsed, called));
      },
      signal: async (operation, input) => {
        const parsed = parse(inputSchema(operation, limits), input);
        const called = context(undefined);
        await this.#run(scope, undefined, (executor) => executor.signal(operation, parsed, called));
      },
      open: async (stream, input, show, options = {}) => {
        const parsed = parse(inputSchema(stream, limits), input);
        checkStreamOptions(options);
        const left = new AbortController();
        const signals = options.signal === undefined ? [] : [options.signal];
        const signal = AbortSignal.any([left.signal, ...signals]);
        const { executor } = await this.#options.prepared();
        await this.#accounts.check(scope.account_id);
        const sources = streamSources({ scope, caller, over: signal });
        const called = context(undefined);
        const opening = executor.open(stream, parsed, called, sources, signal);
        return openStream(await opening.catch(throwInInput), show, () => left.abort());
      },
    };
  }

  #run<T>(
    scope: Scope,
    tx: object | undefined,
    call: (executor: Executor) => Promise<T>,
  ): Promise<T> {
    return this.#options.run(async ({ executor }) => {
      await this.#accounts.check(scope.account_id, tx);
      return call(executor).catch(throwInInput);
    });
  }

  async *#rows<Report, Total>(
    procedure: RowProcedure<Report, Total>,
    rows: Iterable<unknown> | AsyncIterable<unknown>,
    context: Context,
  ): AsyncGenerator<Report, Total> {
    parseOptions(`${procedure.name}: `, rowsArgument, { rows });
    const { executor } = await this.#options.prepared();
    await this.#accounts.check(context.scope.account_id);
    return yield* executor.runRows(procedure, rows, context);
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

const commandOptions = ["idempotencyKey", "tx"] satisfies (keyof CommandOptions)[];
const streamOptions = ["signal"] satisfies (keyof StreamOptions)[];

/** Returns the names of the options of a method. */
function optionsOf(
  operation:
    Pick<Command<never, unknown>, "kind" | "takesNoKey"> | Pick<Procedure<never, unknown>, "kind">,
): readonly string[] {
  if (!takesKey(operation)) return [];
  return operation.kind === "command" ? commandOptions : ["idempotencyKey"];
}

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
 * Refuses unknown options of a command. If a misspelled `idempotencyKey` or `tx` were ignored, a
 * message could be sent twice, or outside of the transaction.
 * @throws TidingsError `validation_failed`
 */
function checkCommandOptions(options: unknown): void {
  checkOptionNames(options, commandOptions, " To join a transaction, pass { tx: handle }.");
}

/** @throws TidingsError `validation_failed` */
function checkStreamOptions(options: StreamOptions): void {
  checkOptionNames(options, streamOptions, "");
  const { signal }: { readonly signal?: unknown } = options;
  if (signal === undefined || signal instanceof AbortSignal) return;
  const message = `Expected an AbortSignal, got ${describe(signal)}.`;
  throw invalid([{ parameter: "signal", code: "invalid_type", message }]);
}

function checkOptionNames(options: unknown, optionNames: readonly string[], advice: string): void {
  const isObject = typeof options === "object" && options !== null;
  const names = isObject ? Object.keys(options) : [];
  // A plain object's prototype has no prototype. A database handle is not plain.
  const prototype: unknown = isObject ? Object.getPrototypeOf(options) : undefined;
  const isPlain = prototype === null || (isObject && Object.getPrototypeOf(prototype) === null);
  const unknown = names.filter((name) => !optionNames.includes(name));
  if (!isPlain && unknown.length === names.length) {
    const expected = `{ ${optionNames.join(", ")} }`;
    const message = `Expected the options ${expected}, got ${describe(options)}.${advice}`;
    throw invalid([{ parameter: "options", code: "invalid_type", message }]);
  }
  if (unknown.length === 0) return;
  throw invalid(
    unknown.map((name) => {
      const hint = suggestion(name, optionNames) || ".";
      const message = `Unknown option. Expected ${optionNames.join(" or ")}${hint}`;
      return { parameter: name, code: "unknown_option", message };
    }),
  );
}
