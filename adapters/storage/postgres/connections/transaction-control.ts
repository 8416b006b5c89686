/** Beginning and ending transactions, and running their work again. */
import { TidingsError } from "../../../../src/kernel/index.ts";
import { sqlState, unknownStatement } from "../errors.ts";
import type { Connection } from "./connection.ts";
import { unprepared, type Result, type Statement } from "./statement.ts";

/** Begins a transaction. The database may have another default isolation level. */
export const begin = unprepared("BEGIN ISOLATION LEVEL READ COMMITTED");
export const commit = unprepared("COMMIT");
const rollback = unprepared("ROLLBACK");

/** Runs statements in a READ COMMITTED transaction. Rolls back when one of them fails. */
export async function runInTransaction(
  connection: Connection,
  statements: readonly Statement[],
): Promise<readonly Result[]> {
  try {
    const results = await connection.run([begin, ...statements, commit]);
    checkCommitted(results);
    return results.slice(1, -1);
  } catch (error) {
    await rollBack(connection);
    throw error;
  }
}

/**
 * Throws if a transaction was not committed. For COMMIT in a failed transaction, PostgreSQL reports
 * ROLLBACK without an error.
 */
export function checkCommitted(results: readonly Result[]): void {
  if (results.at(-1)?.tag === "COMMIT") return;
  throw new TidingsError(
    "storage_unavailable",
    "The transaction had already failed. Nothing in it was committed.",
  );
}

/** Rolls back. A connection where that fails is lost. Never throws. */
export async function rollBack(connection: Connection): Promise<void> {
  if (connection.isLost) return;
  await connection.run([rollback]).catch(() => connection.lose());
}

/**
 * Calls `work` again if the host application had discarded the connection's prepared statements
 * (DISCARD ALL). The second call prepares them again. `undo` is called in between, for work that
 * does not roll back by itself.
 */
export async function againIfDiscarded<T>(
  work: () => Promise<T>,
  undo: () => Promise<void> = async () => {},
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (sqlState(error) !== unknownStatement) throw error;
    await undo();
    return work();
  }
}
