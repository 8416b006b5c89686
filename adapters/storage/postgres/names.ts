import { createHash } from "node:crypto";

/** Quotes a name for SQL. */
export const quoted = (name: string): string => `"${name}"`;
/** Quotes a text for SQL. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The beginning of the names of tables, indexes and channels. */
export const prefix = "tidings_";

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

  constructor(schema: string) {
    this.schema = schema;
    const digest = createHash("sha256").update(`tidings ${schema}`).digest();
    this.#locks = digest.readInt32BE(0);
    this.channel = `${prefix}${digest.toString("hex", 0, 8)}`;
  }

  table(name: string): string {
    return `${quoted(this.schema)}.${quoted(prefix + name)}`;
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
