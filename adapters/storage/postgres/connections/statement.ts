/** One SQL statement. */
export interface Statement {
  readonly text: string;
  /** One value for each placeholder, in PostgreSQL's text format. */
  readonly values: readonly (string | null)[];
  /**
   * False for a statement that is not kept prepared. It cannot fail because the host application
   * discarded the connection's prepared statements. Default: true.
   */
  readonly isKept?: boolean;
}

/**
 * Returns a statement that is not kept prepared, because it runs rarely or has to work even when
 * prepared statements were discarded.
 */
export const unprepared = (text: string): Statement => ({ text, values: [], isKept: false });

/** The result of one statement. */
export interface Result {
  readonly rows: readonly (readonly unknown[])[];
  /** The command tag, such as `COMMIT` or `UPDATE 3`. */
  readonly tag: string;
}
