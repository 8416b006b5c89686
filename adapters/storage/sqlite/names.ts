/** The beginning of the names of tables and indexes. */
export const prefix = "tidings_";

/** A table with one row: the last position that any log used. */
export const positionsTable: string = `${prefix}positions`;

/** Quotes a name for SQL. */
export const quoted = (name: string): string => `"${name}"`;
