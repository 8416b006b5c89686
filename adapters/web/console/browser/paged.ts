import { signal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Page } from "../../../../src/index.ts";
import { Repetition } from "../../shared/browser/connection/repetition.ts";

/** The rows of a list that were loaded so far. */
export interface PagedRows<Row> {
  /** Undefined until the first page is loaded. */
  readonly rows: readonly Row[] | undefined;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly error: unknown;
}

const maxRows = 2000;

type LoadPage<Row> = (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Row>>;

/**
 * A list of `/v1`, loaded page by page. A read that failed is repeated after a pause if the server
 * cannot answer for now.
 */
export class PagedList<Row extends { readonly id: string }> {
  private readonly inner = signal<PagedRows<Row>>({
    rows: undefined,
    hasMore: false,
    isLoading: false,
    error: undefined,
  });
  private cursor: string | undefined;
  /** The read that is under way. */
  private running: AbortController | undefined;
  /** The changes of rows since that read began. Its page may be older than they are. */
  private readonly changes = new Map<string, Partial<Row>>();
  /** The rows that were added since that read began, newest first. Its page may lack them. */
  private added: readonly Row[] = [];
  /** Ends with the read that was asked for last. */
  private last: Promise<void> = Promise.resolve();
  private reloads = 0;
  /** What the last read was for, if it failed. */
  private failed: Part = "all";
  private readonly repetition = new Repetition();
  private readonly load: LoadPage<Row>;

  constructor(load: LoadPage<Row>) {
    this.load = load;
  }

  get state(): ReadonlySignal<PagedRows<Row>> {
    return this.inner;
  }

  /** Loads the first page again. The later ones are dropped. */
  reload(): Promise<void> {
    this.reloads += 1;
    return (this.last = this.read("all"));
  }

  /** Loads the first page, and returns a function that ends the loading, as effects return it. */
  loadWhileShown(): () => void {
    void this.reload();
    return () => {
      // Reads that wait for their turn are needless, too.
      this.reloads += 1;
      this.running?.abort();
      this.repetition.end();
    };
  }

  /** Repeats the read that failed. */
  retry(): Promise<void> {
    return this.readInTurn(this.failed);
  }

  /** Loads the next page. */
  async more(): Promise<void> {
    const state = this.inner.peek();
    if (!state.hasMore || state.isLoading) return;
    this.inner.value = { ...state, isLoading: true };
    await this.readInTurn("next");
  }

  /** Loads the first page again, and keeps the later ones. */
  refresh(): Promise<void> {
    return this.readInTurn("latest");
  }

  /** Reads a part after the reads that are under way. A reload meanwhile makes it needless. */
  private readInTurn(part: Part): Promise<void> {
    const { reloads } = this;
    return (this.last = this.last.then(() =>
      reloads === this.reloads ? this.read(part) : undefined,
    ));
  }

  /** Changes a row that the list has, or gets with the page that is being read. */
  change(id: string, change: Partial<Row>): void {
    if (this.running !== undefined) {
      this.changes.set(id, { ...this.changes.get(id), ...change });
    }
    const changed = (row: Row): Row => (row.id === id ? { ...row, ...change } : row);
    this.added = this.added.map(changed);
    const state = this.inner.peek();
    this.inner.value = { ...state, rows: state.rows?.map(changed) };
  }

  /** Adds a row before the others, or replaces it. */
  add(row: Row): void {
    if (this.running !== undefined) this.added = joined([row], this.added);
    const state = this.inner.peek();
    this.inner.value = { ...state, rows: joined([row], state.rows ?? []) };
  }

  private async read(part: Part): Promise<void> {
    this.running?.abort();
    this.repetition.end();
    const own = new AbortController();
    this.running = own;
    this.changes.clear();
    this.added = [];
    if (part !== "latest") this.inner.value = { ...this.inner.peek(), isLoading: true };
    try {
      const page = await this.load(part === "next" ? this.cursor : undefined, own.signal);
      if (own.signal.aborted) return;
      this.running = undefined;
      this.repetition.noteSuccess();
      const read = page.data.map((row) => ({ ...row, ...this.changes.get(row.id) }));
      const data = part === "next" ? read : joined(this.added, read);
      this.take(part, { ...page, data });
    } catch (error) {
      if (own.signal.aborted) return;
      this.running = undefined;
      this.failed = part;
      this.inner.value = { ...this.inner.peek(), isLoading: false, error };
      this.repetition.noteFailure(error, () => void this.retry());
    }
  }

  private take(part: Part, page: Page<Row>): void {
    const { rows: before = [], hasMore } = this.inner.peek();
    const later = part === "latest" ? rowsAfter(page, before) : [];
    if (later.length > 0) {
      const rows = [...page.data, ...later];
      this.inner.value = { rows, hasMore, isLoading: false, error: undefined };
      return;
    }
    const rows = part === "next" ? joined(before, page.data) : page.data;
    this.cursor = page.next_cursor ?? undefined;
    const mayHaveMore = page.has_more && rows.length < maxRows;
    this.inner.value = { rows, hasMore: mayHaveMore, isLoading: false, error: undefined };
  }
}

/** Loads a list while the component is shown. Another one of `keys` stands for another list. */
export function usePagedList<Row extends { readonly id: string }>(
  load: LoadPage<Row>,
  keys: readonly unknown[],
): PagedList<Row> {
  const list = useMemo(() => new PagedList(load), keys);
  useEffect(() => list.loadWhileShown(), [list]);
  return list;
}

/** `all` and `latest` read the first page. `latest` keeps the rows that follow it. */
type Part = "all" | "next" | "latest";

/** The rows that follow the first page. None if so many are new that some would be missing. */
function rowsAfter<Row extends { readonly id: string }>(
  { data, has_more }: Page<Row>,
  rows: readonly Row[],
): readonly Row[] {
  const last = has_more ? rows.findIndex(({ id }) => id === data.at(-1)?.id) : -1;
  return last === -1 ? [] : rows.slice(last + 1);
}

function joined<Row extends { readonly id: string }>(
  before: readonly Row[],
  next: readonly Row[],
): Row[] {
  const known = new Set(before.map(({ id }) => id));
  return [...before, ...next.filter(({ id }) => !known.has(id))];
}
