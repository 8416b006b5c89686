import { createHash } from "node:crypto";

export const quoted = (name: string): string => `"${name}"`;
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export const prefix = "tidings_";

/** What the storage is called in its database. Everything that all processes must agree on follows from the schema's name. */
export class Names {
  readonly schema: string;
  /** LISTEN and NOTIFY, whose channels are the database's. */
  readonly channel: string;
  /** The first half of the keys of advisory locks, which are the database's too. */
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

  /** One row: the version of the schema, and an id by which a host's connection is known to be on this database. */
  get schemaTable(): string {
    return this.table("schema");
  }

  /** A sequence: the last position given in any log. It is not undone with a transaction, so no position is given twice. */
  get positions(): string {
    return this.table("positions");
  }

  get admissions(): string {
    return this.table("admissions");
  }

  /** Commits of groups share it; an exclusive group has it alone. */
  get commitLock(): string {
    return `${this.#locks}, 1`;
  }

  /** Held from the first position that a transaction gives to its end: positions ascend as transactions become visible. */
  get positionLock(): string {
    return `${this.#locks}, 2`;
  }

  get migrationLock(): string {
    return `${this.#locks}, 3`;
  }
}
