import type { ById, Page } from "../kernel/index.ts";
import type { EventStream, StreamItem, TransientItem } from "./event-stream.ts";
import type { Change, Query, RowProcedure, SignalOperation } from "./operation.ts";

/** Defines a method of the handles. Called once for each handle. */
export type HandleMethod<Method = unknown> = (runner: ScopedRunner) => Method;

/** Definitions of methods, by name: of the handle itself, or grouped as in `messages.send`. */
export type HandleTable = Readonly<
  Record<string, HandleMethod | Readonly<Record<string, HandleMethod>>>
>;

/** The fields of an input besides its id. Without any, no value has the type. */
type OtherFields<Input extends ById> =
  Exclude<keyof Input, "id"> extends never ? never : Omit<Input, "id">;

/** A method `(input, options)`. */
export function command<Input, Output>(
  operation: Change<Input, Output>,
): HandleMethod<(input: Input, options?: CommandOptions) => Promise<Output>> {
  return ({ change }) =>
    (input, options) =>
      change(operation, input, options);
}

/** A method `(id, options)`, for commands whose input is only an id. */
export function commandById<Output>(
  operation: Change<ById, Output>,
): HandleMethod<(id: string, options?: CommandOptions) => Promise<Output>> {
  return ({ change }) =>
    (id, options) =>
      change(operation, { id }, options);
}

/** A method `(id, input, options)`. `input` holds the other fields. */
export function commandByIdAndInput<Input extends ById, Output>(
  operation: Change<Input, Output>,
): HandleMethod<
  (id: string, input?: OtherFields<Input>, options?: CommandOptions) => Promise<Output>
> {
  return ({ change }) =>
    (id, input, options) =>
      change(operation, inputWith({ id }, input), options);
}

/** A method `(input)`. */
export function query<Input extends object, Output>(
  operation: Query<Input, Output>,
): HandleMethod<(input?: Input) => Promise<Output>> {
  return ({ read }) =>
    (input: object = {}) =>
      read(operation, input);
}

/** A method `(id)`, for queries whose input is only an id. */
export function queryById<Output>(
  operation: Query<ById, Output>,
): HandleMethod<(id: string) => Promise<Output>> {
  return ({ read }) =>
    (id) =>
      read(operation, { id });
}

/** A method `(id, input)`. `input` holds the other fields. */
export function queryByIdAndInput<Input extends ById, Output>(
  operation: Query<Input, Output>,
): HandleMethod<(id: string, input?: OtherFields<Input>) => Promise<Output>> {
  return ({ read }) =>
    (id, input) =>
      read(operation, inputWith({ id }, input));
}

/** A method `(input)` that returns a page, or all items one by one. */
export function list<Input extends object, Item, OnePage extends Page<Item>>(
  operation: Query<Input, OnePage & Page<Item>>,
): HandleMethod<(input?: Input) => PagePromise<Item, OnePage>> {
  return (runner) => (input) => readPages(runner, operation, inputWith({}, input));
}

/** A method `(id, input)` that returns a page, or all items one by one. */
export function listById<Input extends ById, Item, OnePage extends Page<Item>>(
  operation: Query<Input, OnePage & Page<Item>>,
): HandleMethod<(id: string, input?: OtherFields<Input>) => PagePromise<Item, OnePage>> {
  return (runner) => (id, input) => readPages(runner, operation, inputWith({ id }, input));
}

/** `input` is a copy: the caller may change its filters while a loop goes over the pages. */
function readPages<Input, Item, OnePage extends Page<Item>>(
  { read, yieldToEventLoop }: Pick<ScopedRunner, "read" | "yieldToEventLoop">,
  operation: Query<Input, OnePage & Page<Item>>,
  input: unknown,
): PagePromise<Item, OnePage> {
  return pagePromise(async (cursor) => {
    if (cursor === undefined) return read(operation, input);
    // A storage that reads on the main thread does not yield. A loop over many pages would keep the
    // process from all other work.
    await yieldToEventLoop();
    return read(operation, inputWith({ cursor }, input));
  });
}

/**
 * What a list returns. `await` gives its first page. `for await` goes over all items of the list,
 * page by page. Each page is read when the loop needs it.
 */
export interface PagePromise<Item, OnePage extends Page<Item> = Page<Item>>
  extends Promise<OnePage>, AsyncIterable<Item> {}

/** Reads the first page at once. `read` gets the cursor of a page, which the first one lacks. */
export function pagePromise<Item, OnePage extends Page<Item>>(
  read: (cursor?: string) => Promise<OnePage & Page<Item>>,
): PagePromise<Item, OnePage> {
  const first = read();
  async function* items(): AsyncGenerator<Item, void> {
    let page = await first;
    yield* page.data;
    while (page.next_cursor !== null) {
      page = await read(page.next_cursor);
      yield* page.data;
    }
  }
  return Object.assign(first, { [Symbol.asyncIterator]: items });
}

/**
 * Adds the fields that are separate arguments of a method to its input. What is no object is passed
 * on, to be refused.
 */
export function inputWith(fields: object, input: unknown = {}): unknown {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return isObject ? { ...input, ...fields } : input;
}

/** A method with other parameters. */
export function method<Method>(define: HandleMethod<Method>): HandleMethod<Method> {
  return define;
}

/** Options of every command. An unknown option is refused with `validation_failed`. */
export interface CommandOptions {
  /**
   * 1 to 255 visible ASCII characters. A repeated call with the same key runs once and returns the
   * same result.
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * The handle from `engine.transaction`, or your own database handle with an open transaction. The
   * change commits or rolls back with that transaction. On SQLite, pass a `DatabaseSync` of
   * `node:sqlite` on the same file. If you commit your own handle, handlers of `engine.on` are not
   * called.
   */
  readonly tx?: object | undefined;
}

/** Options of an operation that uses several transactions and so cannot join yours. */
export interface KeyOptions extends Pick<CommandOptions, "idempotencyKey"> {
  /** Not available, because this operation uses several transactions and cannot join yours. */
  readonly tx?: never;
}

/** Options of a call without an idempotency key. It is no replay, so it returns each secret. */
export interface TxOptions extends Pick<CommandOptions, "tx"> {
  /** With a key, the call may be a replay, which returns null instead of the secret. */
  readonly idempotencyKey?: never;
}

/** The output of a command that is no replay: its secrets are there. */
export type WithSecrets<Output, Secret extends keyof Output> = Output & {
  readonly [Name in Secret]: string;
};

/** Options of every stream. An unknown option is refused with `validation_failed`. */
export interface StreamOptions {
  /** Ends the stream when it aborts. Without it, the stream ends when its reader leaves. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs operations of the host application in one account and mode. It parses the inputs, so their
 * types are unknown here.
 */
export interface ScopedRunner {
  readonly change: <Input, Output>(
    operation: Change<Input, Output>,
    input: unknown,
    options: CommandOptions | undefined,
  ) => Promise<Output>;
  readonly read: <Input, Output>(query: Query<Input, Output>, input: unknown) => Promise<Output>;
  /** Resolves after pending timers, sockets and other work had a chance to run. */
  readonly yieldToEventLoop: () => Promise<void>;
  readonly rows: <Report, Total>(
    procedure: RowProcedure<Report, Total>,
    rows: Iterable<unknown> | AsyncIterable<unknown>,
  ) => AsyncGenerator<Report, Total>;
  readonly signal: <Input>(operation: SignalOperation<Input>, input: unknown) => Promise<void>;
  /**
   * Resolves when the stream is open. It yields what `show` returns for each item, except
   * undefined.
   */
  readonly open: <Input, Item, Shown>(
    stream: EventStream<Input, Item>,
    input: unknown,
    show: (item: StreamItem<Item> | TransientItem) => Shown | undefined,
    options: StreamOptions | undefined,
  ) => Promise<AsyncGenerator<Shown, void>>;
}
