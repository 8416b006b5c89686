import type { Page } from "../../../../../src/index.ts";

/** Which part of a list is read. */
export interface PageRequest {
  readonly cursor: string | null;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** What a list shows, and where it comes from. */
export interface ListSource<Row, Query> {
  /** What the list shows before a person has chosen. */
  readonly first: Query;
  readonly order: (query: Query) => (a: Row, b: Row) => number;
  /** Whether the rows stay in the order of the server, as the matches of a search do. */
  readonly isRanked: (query: Query) => boolean;
  /** Whether a row belongs in the list. */
  readonly isShown: (query: Query, row: Row) => boolean;
  /** Whether nothing of a row may be kept: its contact was erased, or merged into another one. */
  readonly isGone: (row: Row) => boolean;
  readonly readPage: (query: Query, page: PageRequest) => Promise<Page<Row>>;
  readonly readRow: (id: string, signal?: AbortSignal) => Promise<Row>;
}
