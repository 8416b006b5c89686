import type { Command, Procedure, Query, RowProcedure } from "./operation.ts";

/** Options of every command. */
export interface CommandOptions {
  /**
   * 1 to 255 visible ASCII characters. A repeated call with the same key runs once and returns the
   * same result.
   */
  readonly idempotencyKey?: string;
  /**
   * The handle from `engine.transaction`, or your own database handle with an open transaction. The
   * change commits or rolls back with that transaction. On SQLite, pass a `node:sqlite` or
   * better-sqlite3 handle of the same file. If you commit your own handle, handlers of `engine.on`
   * are not called.
   */
  readonly tx?: object | undefined;
}

/** Options of an operation that uses several transactions and so cannot join yours. */
export type Keyed = Pick<CommandOptions, "idempotencyKey">;

/** The input of an operation without the id, which is a separate argument of the method. */
export type Changes<Input> = Omit<Input, "id">;

/**
 * Runs operations of the host application in one account and mode. It parses the inputs, so their
 * types are unknown here.
 */
export interface ScopedRunner {
  readonly change: <Input, Output>(
    operation: Command<Input, Output> | Procedure<Input, Output>,
    input: unknown,
    options: CommandOptions | undefined,
  ) => Promise<Output>;
  readonly read: <Input, Output>(query: Query<Input, Output>, input: unknown) => Promise<Output>;
  readonly rows: <Report, Total>(
    procedure: RowProcedure<Report, Total>,
    rows: Iterable<unknown> | AsyncIterable<unknown>,
  ) => AsyncGenerator<Report, Total>;
}
