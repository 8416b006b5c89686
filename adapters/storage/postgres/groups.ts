import { TidingsError } from "../../../src/kernel/errors.ts";
import type { Access, Group, Lookup, Row, Write } from "../../../src/ports/storage.ts";
import {
  begin,
  commit,
  committed,
  type Connections,
  rolledBack,
  type Taken,
} from "./connections.ts";
import { translated } from "./errors.ts";
import { planLookups } from "./lookups.ts";
import type { Names } from "./names.ts";
import type { Result, Statement } from "./session/batch.ts";
import { commitSettings, positionSettings, planSettings, transactionSettings } from "./settings.ts";
import type { Table } from "./tables.ts";
import { nextPosition, planWrites } from "./writes.ts";

/** What groups work on. */
export interface Ground {
  readonly connections: Connections;
  readonly names: Names;
  readonly table: (name: string) => Table;
}

/**
 * The groups of one process. One that is shared and claims nothing reads on any connections of the pool and commits in one round trip: no
 * transaction stays open while its bodies run. An exclusive one, and one that claims rows, has a transaction from there on.
 */
export class Groups {
  readonly #ground: Ground;
  readonly #committed: () => void;
  #open = 0;
  #ended: (() => void) | undefined;

  /** `committed` is called after each commit. */
  constructor(ground: Ground, committed: () => void) {
    this.#ground = ground;
    this.#committed = committed;
  }

  begin(how: Access): Group {
    this.#open++;
    let over = false;
    let transaction: Transaction | undefined;
    const end = (): void => {
      if (over) return;
      over = true;
      if (--this.#open === 0) this.#ended?.();
    };
    return {
      read: (lookups) => {
        if (how === "exclusive" || lookups.some(({ claim }) => claim === true)) {
          transaction ??= new Transaction(this.#ground, how);
        }
        return this.#read(lookups, transaction);
      },
      commit: async (writes) => {
        try {
          await this.#commit(
            writes,
            transaction ?? (how === "exclusive" ? new Transaction(this.#ground, how) : undefined),
          );
        } finally {
          end();
        }
        this.#committed();
      },
      abort: async () => {
        await transaction?.abort();
        end();
      },
    };
  }

  /** Resolves when no group is under way. */
  async idle(): Promise<void> {
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
  }

  async #read(lookups: readonly Lookup[], transaction: Transaction | undefined): Promise<Row[][]> {
    const { connections, table } = this.#ground;
    const { statements, rows } = planLookups(lookups, table);
    if (transaction !== undefined) return rows(await transaction.run(statements));
    const [, ...results] = await connections.atomic([planSettings, ...statements]);
    return rows(results);
  }

  async #commit(writes: readonly Write[], transaction: Transaction | undefined): Promise<void> {
    const { connections, names, table } = this.#ground;
    try {
      const { rows, logs } = planWrites(writes, table, nextPosition(names));
      const statements = [...rows, ...(logs.length > 0 ? [positionSettings(names), ...logs] : [])];
      if (transaction === undefined) {
        await connections.atomic([commitSettings(names), ...statements]);
      } else await transaction.commit([...statements]);
    } catch (error) {
      await transaction?.abort();
      throw error;
    }
  }
}

/** One that is open while a group's bodies run. Begins with what is first run in it, in the same round trip. */
class Transaction {
  readonly #taken: Promise<Taken>;
  #before: readonly Statement[];
  #over = false;

  constructor({ connections, names }: Ground, how: Access) {
    this.#taken = connections.take();
    // Told to whoever runs the first statement.
    this.#taken.catch(() => {});
    this.#before = [begin, transactionSettings(names, how === "exclusive")];
  }

  async run(statements: readonly Statement[]): Promise<readonly Result[]> {
    const before = this.#before;
    this.#before = [];
    const { connection } = await this.#taken;
    if (this.#over) throw new TidingsError("storage_unavailable", "The transaction is over.");
    try {
      return (await connection.run([...before, ...statements])).slice(before.length);
    } catch (error) {
      throw translated(error);
    }
  }

  async commit(statements: readonly Statement[]): Promise<void> {
    committed(await this.run([...statements, commit]));
    this.#over = true;
    (await this.#taken).release();
  }

  /** Undoes it, unless it is over. Never throws. */
  async abort(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    const taken = await this.#taken.catch(() => undefined);
    if (taken === undefined) return;
    await rolledBack(taken.connection);
    taken.release();
  }
}
