import { type ReadonlySignal, signal } from "@preact/signals";
import type { Page } from "../../../../src/index.ts";

/** The rows of a list that were loaded so far. */
export interface PagedRows<Row> {
  /** Undefined until the first page is loaded. */
  readonly rows: readonly Row[] | undefined;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly error: unknown;
}

const maxRows = 2000;

/** A list of `/v1`, loaded page by page. */
export class PagedList<Row extends { readonly id: string }> {
  private readonly inner = signal<PagedRows<Row>>({
    rows: undefined,
    hasMore: false,
    isLoading: false,
    error: undefined,
  });
  private cursor: string | undefined;
  private running: AbortController | undefined;
  private readonly load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Row>>;

  constructor(load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Row>>) {
    this.load = load;
  }

  get state(): ReadonlySignal<PagedRows<Row>> {
    return this.inner;
  }

  /** Loads the first page again. */
  reload(): Promise<void> {
    return this.read(undefined);
  }

  /** Loads the next page. */
  async more(): Promise<void> {
    const { hasMore, isLoading } = this.inner.peek();
    if (hasMore && !isLoading) await this.read(this.cursor);
  }

  /** Replaces a row that the list has. */
  put(row: Row): void {
    const state = this.inner.peek();
    const rows = state.rows?.map((each) => (each.id === row.id ? row : each));
    this.inner.value = { ...state, rows };
  }

  /** Adds a row before the others, or replaces it. */
  add(row: Row): void {
    const state = this.inner.peek();
    const others = (state.rows ?? []).filter(({ id }) => id !== row.id);
    this.inner.value = { ...state, rows: [row, ...others] };
  }

  /** Removes a row. */
  remove(id: string): void {
    const state = this.inner.peek();
    this.inner.value = { ...state, rows: state.rows?.filter((each) => each.id !== id) };
  }

  private async read(cursor: string | undefined): Promise<void> {
    this.running?.abort();
    const own = new AbortController();
    this.running = own;
    this.inner.value = { ...this.inner.peek(), isLoading: true };
    try {
      const page = await this.load(cursor, own.signal);
      if (own.signal.aborted) return;
      const before = cursor === undefined ? [] : (this.inner.peek().rows ?? []);
      const known = new Set(before.map(({ id }) => id));
      const rows = [...before, ...page.data.filter(({ id }) => !known.has(id))];
      this.cursor = page.next_cursor ?? undefined;
      const hasMore = page.has_more && rows.length < maxRows;
      this.inner.value = { rows, hasMore, isLoading: false, error: undefined };
    } catch (error) {
      if (own.signal.aborted) return;
      this.inner.value = { ...this.inner.peek(), isLoading: false, error };
    }
  }
}
