import { createHash } from "node:crypto";
import { namePrefix, quoted } from "../sql.ts";

/**
 * The names of the storage's objects in the database. All processes have to agree on them, so they
 * depend on the schema's name only.
 */
export class Names {
  readonly schema: string;
  /**
   * The channel of LISTEN and NOTIFY. Channels are shared by the whole database, so the name
   * depends on the schema.
   */
  readonly channel: string;
  /** The first half of the keys of advisory locks, which the whole database shares too. */
  readonly #locks: number;
  /** The same for the locks of engines. Their ids are the second half. */
  readonly engineLocks: number;

  constructor(schema: string) {
    this.schema = schema;
    const digest = createHash("sha256").update(`tidings ${schema}`).digest();
    this.#locks = digest.readInt32BE(0);
    this.engineLocks = digest.readInt32BE(8);
    this.channel = `${namePrefix}${digest.toString("hex", 0, 8)}`;
  }

  table(name: string): string {
    return `${quoted(this.schema)}.${quoted(namePrefix + name)}`;
  }

  /**
   * A table with one row: the schema's version, and an id that shows whether a client of the host
   * application is connected to this database.
   */
  get schemaTable(): string {
    return this.table("schema");
  }

  /**
   * A sequence with the last position that any log used. A rollback does not reset it, so no
   * position is used twice.
   */
  get positions(): string {
    return this.table("positions");
  }

  get admissions(): string {
    return this.table("admissions");
  }

  /** What transactions of the host application add to counters (`writes/pending-counts.ts`). */
  get pendingCounts(): string {
    return this.table("pending_counts");
  }

  /** Commits hold it shared. An exclusive group holds it exclusively. */
  get commitLock(): string {
    return `${this.#locks}, 1`;
  }

  /**
   * A transaction holds it from the first position that it assigns to its end. Positions therefore
   * become visible in ascending order.
   */
  get positionLock(): string {
    return `${this.#locks}, 2`;
  }

  get migrationLock(): string {
    return `${this.#locks}, 3`;
  }
}
