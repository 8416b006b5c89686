import { TidingsError } from "../../../../src/kernel/index.ts";
import {
  StorageConflict,
  type Access,
  type Group,
  type Lookup,
  type Row,
  type Write,
} from "../../../../src/ports/index.ts";
import { OpenGroups } from "../../open-groups.ts";
import type { ConnectionPool, PooledConnection } from "../connections/pool.ts";
import type { Result, Statement } from "../connections/statement.ts";
import {
  againIfDiscarded,
  begin,
  checkCommitted,
  commit,
  rollBack,
} from "../connections/transaction-control.ts";
import type { StorageContext } from "../context.ts";
import { asUnavailable } from "../errors.ts";
import type { Names } from "../names.ts";
import { planLookups } from "../reads/lookups.ts";
import { assignStatement } from "../writes/positions.ts";
import { addStatement, nextPosition, planWrites, type ContendedWrites } from "../writes/writes.ts";
import { commitSettings, planSettings, positionSettings, transactionSettings } from "./settings.ts";

/**
 * The groups of one process. A shared group that locks no rows reads on any connections of the
 * pool and commits in one round trip, so no transaction is open while its commands run. An
 * exclusive group has a transaction from its first read on, and a group that locks rows from its
 * first lock on.
 */
export class Groups {
  readonly #context: StorageContext;
  readonly #onCommit: () => void;
  readonly #open = new OpenGroups();

  /** `onCommit` is called after each commit. */
  constructor(context: StorageContext, onCommit: () => void) {
    this.#context = context;
    this.#onCommit = onCommit;
  }

  begin(access: Access): Group {
    const group = this.#open.begin();
    let transaction: GroupTransaction | undefined;
    return {
      read: (lookups) => {
        if (access === "exclusive" || lookups.some(({ lock }) => lock === true)) {
          // Nothing would end a transaction that begins after its group.
          this.#open.refuseEnded(group);
          transaction ??= new GroupTransaction(this.#context, access);
        }
        return this.#read(lookups, transaction);
      },
      commit: async (writes) => {
        if (access === "exclusive") transaction ??= new GroupTransaction(this.#context, access);
        try {
          await this.#commit(writes, transaction);
        } finally {
          this.#open.end(group);
        }
        this.#onCommit();
      },
      abort: async () => {
        // Without a transaction the group ends in the same step, so that no read can begin one.
        if (transaction !== undefined) await transaction.abort();
        this.#open.end(group);
      },
    };
  }

  /** Resolves when no group is open. */
  idle(): Promise<void> {
    return this.#open.idle();
  }

  async #read(
    lookups: readonly Lookup[],
    transaction: GroupTransaction | undefined,
  ): Promise<Row[][]> {
    const { pool, tableOf } = this.#context;
    const { statements, toRows } = planLookups(lookups, tableOf);
    if (transaction !== undefined) return toRows(await transaction.run(statements));
    const [, ...results] = await pool.atomic([planSettings, ...statements]).catch(failIfLocked);
    return toRows(results);
  }

  async #commit(
    writes: readonly Write[],
    transaction: GroupTransaction | undefined,
  ): Promise<void> {
    const { pool, names, tableOf } = this.#context;
    try {
      const { rows, logs } = planWrites(writes, tableOf, groupWrites(names));
      const statements = [...rows, ...(logs.length > 0 ? [positionSettings(names), ...logs] : [])];
      if (transaction === undefined) {
        await pool.atomic([commitSettings(names), ...statements]);
      } else {
        await transaction.commit(statements);
      }
    } catch (error) {
      await transaction?.abort();
      throw error;
    }
  }
}

/**
 * Throws an error that fails the commands if their read has waited too long for a locked table. If
 * they ran again, they would wait as long again.
 */
function failIfLocked(error: unknown): never {
  if (error instanceof StorageConflict && error.isLocked) asUnavailable(error);
  throw error;
}

/** How a group writes to logs and counters: it assigns positions, and adds to the counters. */
export const groupWrites = (names: Names): ContendedWrites => ({
  position: nextPosition(names),
  // What a transaction of the host application has committed comes before this group.
  beforeLog: (table) => [assignStatement(names, table)],
  add: addStatement,
});

/**
 * A transaction that stays open while a group's commands run. It begins in the round trip of its
 * first statements.
 */
class GroupTransaction {
  readonly #pool: ConnectionPool;
  readonly #pooled: Promise<PooledConnection>;
  readonly #opening: readonly Statement[];
  /** The first statements, which begin the transaction. */
  #first: Promise<readonly Result[]> | undefined;
  #hasEnded = false;

  constructor({ pool, names }: StorageContext, access: Access) {
    this.#pool = pool;
    this.#pooled = pool.take();
    // The first `run` reports this error.
    this.#pooled.catch(() => {});
    this.#opening = [begin, transactionSettings(names, access)];
  }

  async run(statements: readonly Statement[]): Promise<readonly Result[]> {
    try {
      if (this.#first === undefined) return await (this.#first = this.#begin(statements));
      // The first statements may have to begin the transaction twice. These follow.
      await this.#first;
      return await this.#run(statements);
    } catch (error) {
      throw this.#pool.toError(error);
    }
  }

  async commit(statements: readonly Statement[]): Promise<void> {
    checkCommitted(await this.run([...statements, commit]));
    this.#hasEnded = true;
    (await this.#pooled).release();
  }

  /** Rolls back, unless the transaction has ended. Never throws. */
  async abort(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const pooled = await this.#pooled.catch(() => undefined);
    if (pooled === undefined) return;
    await rollBack(pooled.connection);
    pooled.release();
  }

  async #begin(statements: readonly Statement[]): Promise<readonly Result[]> {
    const results = await againIfDiscarded(
      () => this.#run([...this.#opening, ...statements]),
      async () => {
        const { connection } = await this.#pooled;
        // After the end, `abort` rolls back, and then the connection belongs to others.
        if (!this.#hasEnded) await rollBack(connection);
      },
    );
    return results.slice(this.#opening.length);
  }

  async #run(statements: readonly Statement[]): Promise<readonly Result[]> {
    const { connection } = await this.#pooled;
    if (this.#hasEnded) {
      throw new TidingsError("storage_unavailable", "The transaction has already ended.");
    }
    return connection.run(statements);
  }
}
