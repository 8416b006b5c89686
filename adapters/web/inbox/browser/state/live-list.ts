/** A list that stays up to date: what it shows, its pages, and the rows that changed meanwhile. */
import { batch, signal } from "@preact/signals";
import type { Page } from "../../../../../src/index.ts";
import { ApiError, isBusy, Repetition } from "../../../shared/browser/index.ts";
import { Known } from "./known.ts";
import type { ListSource } from "./list-source.ts";
import { nextSequence } from "./order.ts";
import { OrderedList } from "./ordered-list.ts";
import { maxSingly, RowQueue } from "./row-queue.ts";

/** If more rows than these are to be read again, the list goes back to its first page. */
const maxQueued = 100;
/** The first page is small, so that it is there soon. */
const firstPage = 50;
const laterPages = 100;
/** Nobody scrolls further. A browser shows no element of more than some 30 million pixels. */
export const maxListed = 200_000;
/** How many rows the page remembers besides those of the list. */
const maxUnlisted = 2_000;
const placeDelayMs = 150;

type Ids = Pick<readonly string[], "length" | "at" | "indexOf">;

/** The rows of one kind that the page knows, and the list that shows them in their order, live. */
export class LiveList<Row extends { readonly id: string }, Query> {
  readonly ids = signal<Ids>([]);
  readonly isLoading = signal(false);
  readonly isComplete = signal(false);
  /** Whether more matches of a search exist than one page shows. */
  readonly isCut = signal(false);
  readonly error = signal<unknown>(undefined);
  /** How many changes of the order wait while someone is about to click. */
  readonly heldBack = signal(0);
  private readonly source: ListSource<Row, Query>;
  private readonly known = new Known<Row>();
  /** The rows that may not be at their place. */
  private readonly changed = new Set<string>();
  private query: Query;
  private rows: OrderedList<Row>;
  private cursor: string | null = null;
  private running: AbortController | undefined;
  private readonly repetition = new Repetition();
  /** False while the beginning is read, and after that has failed. */
  private isBeginningRead = false;
  private placing: ReturnType<typeof setTimeout> | undefined;
  private isHeld = false;
  private keeps: string | undefined;
  /** Whether rows may be missing after the first page. */
  private mayLackRows = false;
  private readonly queue = new RowQueue({
    readRow: (id) => this.fetch(id),
    readBeginning: (ids) => this.readBeginning(ids),
  });

  constructor(source: ListSource<Row, Query>) {
    this.source = source;
    this.query = source.first;
    this.rows = new OrderedList(source.order(source.first));
  }

  /** What the list shows. */
  get queryNow(): Query {
    return this.query;
  }

  /** A row, once the page knows it. */
  row(id: string): Row | undefined {
    return this.known.get(id);
  }

  /** A row as it is now, without a subscription to its changes. */
  rowNow(id: string): Row | undefined {
    return this.known.now(id);
  }

  /** The rows that the page knows, whether the list shows them or not. */
  rowsNow(): readonly Row[] {
    return [...this.known.ids()].flatMap((id) => this.known.now(id) ?? []);
  }

  /** Adds or replaces a row. The list places it again when it may. */
  put(next: Row, sequence = nextSequence()): void {
    if (this.source.isGone(next)) {
      this.drop(next.id);
      return;
    }
    this.known.put(next, sequence);
    this.changed.add(next.id);
    this.forgetUnlisted();
    this.placeSoon();
  }

  private forgetUnlisted(): void {
    const { known, changed } = this;
    if (known.size <= this.rows.length + maxUnlisted + changed.size) return;
    for (const id of known.ids()) {
      if (!this.has(id) && !changed.has(id)) known.forget(id);
    }
  }

  /**
   * Puts the answer to the request that began at `sequence`. If an event or another answer came in
   * between, nobody knows which is newer. Then the row is read again.
   */
  putResponse(response: Row, sequence: number): void {
    if (this.known.sequenceOf(response.id) <= sequence) this.put(response, sequence);
    else this.fetchSoon(response.id);
  }

  /** Changes some fields of a known row. */
  patch(id: string, fields: Partial<Row>): void {
    const held = this.rowNow(id);
    if (held !== undefined) this.put({ ...held, ...fields });
  }

  /** Forgets a row, and removes it from the list. */
  drop(id: string): void {
    this.known.forget(id);
    this.remove(id);
  }

  /** Asks the server for a row. Drops the row if it is gone: its contact was erased. */
  async fetch(id: string, signal?: AbortSignal): Promise<Row> {
    const sequence = nextSequence();
    try {
      const found = await this.source.readRow(id, signal);
      this.putResponse(found, sequence);
      return found;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) this.drop(id);
      throw error;
    }
  }

  /** Reads a row. If many changed at once, reads the beginning of the list, which may have them. */
  fetchSoon(id: string): void {
    this.queue.add(id);
  }

  /** Reads the beginning of the list. Returns the rows that may belong in the list after it. */
  private async readBeginning(ids: readonly string[]): Promise<readonly string[]> {
    const sequence = nextSequence();
    if (ids.length > maxQueued) this.mayLackRows = true;
    const page = isBusy(this.error.peek()) ? undefined : await this.reload();
    // The list reads its beginning itself when the server can answer.
    if (page === undefined) {
      this.mayLackRows = true;
      return [];
    }
    // What belongs after the last row of a list that is not complete is read with its page.
    const isLonger = page.next_cursor !== null && this.rows.length > firstPage;
    const mayBeListed = (id: string): boolean => isLonger || this.has(id);
    return ids.filter((id) => mayBeListed(id) && this.known.sequenceOf(id) < sequence);
  }

  /** Whether a row is in the list, or stays known because it is open. */
  private has(id: string): boolean {
    return id === this.keeps || this.rows.has(id);
  }

  /** Shows something else. */
  async show(query: Query): Promise<void> {
    this.query = query;
    this.clear();
    await this.reload();
  }

  /** Reads the beginning again. Keeps the rest unless much of the beginning has changed. */
  async reload(): Promise<Page<Row> | undefined> {
    const isFirst = this.rows.length === 0;
    const sequence = nextSequence();
    this.isBeginningRead = false;
    const page = await this.read(null, firstPage);
    if (page === undefined) return undefined;
    this.isBeginningRead = true;
    const isFresh = isFirst || this.mayLackRows || !this.continues(page);
    this.mayLackRows = false;
    const unlisted = this.unlistedBy(page, sequence);
    batch(() => {
      if (isFresh || unlisted.length > maxSingly) {
        // Events may have placed rows since the request began.
        for (let i = 0; i < this.rows.length; i++) this.changed.add(this.rows.at(i) ?? "");
        const kept = this.kept();
        this.clear();
        this.take(page, sequence);
        if (kept !== undefined && !this.isBeyond(kept) && this.rows.place(kept)) this.publish();
      } else {
        for (const each of page.data) {
          this.putResponse(each, sequence);
          this.changed.add(each.id);
        }
        for (const id of unlisted) this.fetchSoon(id);
      }
      this.isLoading.value = false;
      // A filter may leave even the first page without a row.
      if (this.rows.length === 0) void this.more();
    });
    this.placeSoon();
    return page;
  }

  /**
   * Returns the rows that are missing in the first page, which was requested at `sequence`: they
   * have changed, and no event said so.
   */
  private unlistedBy({ data, has_more }: Page<Row>, sequence: number): readonly string[] {
    const listed = new Set(data.map(({ id }) => id));
    const [last] = data.slice(-1);
    const order = this.source.order(this.query);
    const unlisted: string[] = [];
    for (let i = 0; i < this.rows.length; i++) {
      const row = this.rowNow(this.rows.at(i) ?? "");
      if (row === undefined || listed.has(row.id)) continue;
      // The matches of a search are one page, in an order of their own.
      if (!this.isRanked && has_more && last !== undefined && order(row, last) > 0) break;
      if (this.known.sequenceOf(row.id) <= sequence) unlisted.push(row.id);
    }
    return unlisted;
  }

  /**
   * Whether the rows that the list has continue the first page. If no row of the page is where it
   * was, rows that the page does not show may be missing between them.
   */
  private continues({ data, has_more }: Page<Row>): boolean {
    const order = this.source.order(this.query);
    const isInPlace = (each: Row): boolean => {
      const row = this.rows.has(each.id) ? this.rowNow(each.id) : undefined;
      return row !== undefined && order(row, each) === 0;
    };
    return !has_more || data.some(isInPlace);
  }

  /** Reads the next page. */
  async more(): Promise<void> {
    if (this.isLoading.peek() || this.isComplete.peek() || this.error.peek() !== undefined) return;
    // A filter may leave a page without a row although more follow.
    for (let added = 0; added === 0 && !this.isComplete.peek();) {
      const sequence = nextSequence();
      const page = await this.read(this.cursor, laterPages);
      if (page === undefined) return;
      added = batch(() => {
        const taken = this.take(page, sequence);
        this.isLoading.value = taken === 0 && !this.isComplete.peek();
        return taken;
      });
    }
  }

  /** Appends a page. Returns how many rows it added. */
  private take(page: Page<Row>, sequence: number): number {
    for (const each of page.data) this.putResponse(each, sequence);
    const fresh = page.data.filter(({ id }) => this.known.has(id) && !this.rows.has(id));
    // Rows that the server put in order need no placing.
    for (const { id } of fresh) this.changed.delete(id);
    this.rows.append(fresh);
    this.publish();
    this.cursor = page.next_cursor;
    this.isCut.value = page.has_more && page.next_cursor === null;
    this.isComplete.value = page.next_cursor === null || this.rows.length >= maxListed;
    return fresh.length;
  }

  private clear(): void {
    this.rows = new OrderedList(this.source.order(this.query));
    this.publish();
  }

  private publish(): void {
    const { rows } = this;
    this.ids.value = {
      length: rows.length,
      at: (index) => rows.at(index),
      indexOf: (id) => rows.indexOf(id),
    };
  }

  /** Reads a page. The list still counts as loading until the caller has taken the page. */
  private async read(cursor: string | null, limit: number): Promise<Page<Row> | undefined> {
    this.running?.abort();
    this.repetition.end();
    const own = new AbortController();
    this.running = own;
    this.isLoading.value = true;
    this.error.value = undefined;
    try {
      const page = await this.source.readPage(this.query, { cursor, limit, signal: own.signal });
      if (own.signal.aborted) return undefined;
      this.repetition.noteSuccess();
      return page;
    } catch (error) {
      if (own.signal.aborted) return undefined;
      this.error.value = error;
      this.isLoading.value = false;
      this.repetition.noteFailure(error, () => this.retry());
      return undefined;
    }
  }

  /** Tries again after an error. */
  retry(): void {
    this.error.value = undefined;
    void (this.isBeginningRead ? this.more() : this.reload());
  }

  /** Keeps this row while it is open, although it no longer belongs in the list. */
  keep(id: string | undefined): void {
    if (this.keeps !== undefined) this.changed.add(this.keeps);
    this.keeps = id;
    this.placeSoon();
  }

  /** The open row, if it is in the list. The list of another view need not have it. */
  private kept(): Row | undefined {
    const { keeps } = this;
    const isListed = keeps !== undefined && this.rows.has(keeps);
    return isListed && !this.isRanked ? this.rowNow(keeps) : undefined;
  }

  /** Holds the order back while someone points at the list. */
  hold(isHeld: boolean): void {
    if (isHeld === this.isHeld) return;
    this.isHeld = isHeld;
    if (!isHeld) this.placeSoon();
  }

  /** Shows what was held back. */
  showHeld(): void {
    this.place();
  }

  private remove(id: string): void {
    if (this.rows.remove(id)) this.publish();
  }

  /** Places changed rows soon, many at once. */
  private placeSoon(): void {
    this.placing ??= setTimeout(() => {
      this.placing = undefined;
      const moves = this.isHeld ? this.moves() : 0;
      if (moves > 0) this.heldBack.value = moves;
      else this.place();
    }, placeDelayMs);
  }

  private moves(): number {
    let moves = 0;
    for (const id of this.unplaced()) {
      const row = this.shown(id);
      if (row === undefined ? this.rows.has(id) : this.rows.moves(row)) moves += 1;
    }
    return moves;
  }

  private place(): void {
    let isMoved = false;
    for (const id of this.unplaced()) {
      const row = this.shown(id);
      if (row === undefined ? this.rows.remove(id) : this.rows.place(row)) isMoved = true;
    }
    this.changed.clear();
    this.heldBack.value = 0;
    if (isMoved) this.publish();
  }

  private get isRanked(): boolean {
    return this.source.isRanked(this.query);
  }

  private unplaced(): Iterable<string> {
    return this.isRanked ? [] : this.changed;
  }

  /** A row, if it belongs in the list. */
  private shown(id: string): Row | undefined {
    const row = this.rowNow(id);
    const belongs =
      row !== undefined && (this.source.isShown(this.query, row) || id === this.kept()?.id);
    return belongs && (!this.isBeyond(row) || this.rows.has(id)) ? row : undefined;
  }

  /** What follows the last row belongs to a page that was not read yet. */
  private isBeyond(row: Row): boolean {
    return !this.isComplete.peek() && this.rows.isAfterAll(row);
  }
}
