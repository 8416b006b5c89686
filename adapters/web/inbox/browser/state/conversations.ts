/** The conversations that the page knows, and the lists that show them. */
import { batch, type Signal, signal } from "@preact/signals";
import type { Conversation, Page } from "../../../../../src/index.ts";
import { api } from "../../../shared/browser/index.ts";
import { placeNow } from "./order.ts";
import { byView, isShown, type ListQuery, requestOf } from "./views.ts";

const known = new Map<string, Signal<Conversation>>();
/** When the page learned what it knows of each conversation. */
const places = new Map<string, number>();

/** A conversation that the page knows. */
export const conversation = (id: string): Conversation | undefined => known.get(id)?.value;

/** Its value now, without listening to changes. */
export const conversationNow = (id: string): Conversation | undefined => known.get(id)?.peek();

const changed = new Set<string>();

/** Adds or replaces a conversation. The list places it again when it may. */
export function put(next: Conversation, place = placeNow()): void {
  places.set(next.id, place);
  const held = known.get(next.id);
  if (held === undefined) known.set(next.id, signal(next));
  else held.value = next;
  changed.add(next.id);
  list.placeSoon();
}

/**
 * Puts the answer to the request that began at `place`. If an event or another answer came in
 * between, nobody knows which is newer. Then the conversation is read again.
 */
export function putAnswer(answer: Conversation, place: number): void {
  if ((places.get(answer.id) ?? 0) <= place) put(answer, place);
  else fetchSoon(answer.id);
}

/** Removes a conversation, because its contact was erased. */
export function drop(id: string): void {
  known.delete(id);
  places.delete(id);
  list.remove(id);
}

/** Changes some fields of a known conversation. */
export function patch(id: string, fields: Partial<Conversation>): void {
  const held = known.get(id)?.peek();
  if (held !== undefined) put({ ...held, ...fields });
}

/** Asks the server for a conversation. */
export async function fetchConversation(id: string, signal?: AbortSignal): Promise<Conversation> {
  const place = placeNow();
  const found = await api.get<Conversation>(`v1/conversations/${id}`, {}, { signal });
  putAnswer(found, place);
  return found;
}

const fetchDelayMs = 400;
const maxFetched = 10;
const wanted = new Set<string>();
let fetching: ReturnType<typeof setTimeout> | undefined;

/** Reads a conversation, or the beginning of the list if many changed at once. */
export function fetchSoon(id: string): void {
  wanted.add(id);
  fetching ??= setTimeout(() => {
    fetching = undefined;
    const ids = [...wanted];
    wanted.clear();
    if (ids.length > maxFetched) {
      void list.reload();
      return;
    }
    for (const each of ids) void fetchConversation(each).catch(() => {});
  }, fetchDelayMs);
}

const pageSize = 50;
const placeDelayMs = 150;

/** The list of one view, with its filters and its words of search. */
class ConversationList {
  readonly ids = signal<readonly string[]>([]);
  readonly isLoading = signal(false);
  readonly isComplete = signal(false);
  readonly error = signal<unknown>(undefined);
  /** How many changes of the order wait while someone is about to click. */
  readonly heldBack = signal(0);
  private query: ListQuery = { view: "all" };
  private cursor: string | null = null;
  private running: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isHeld = false;
  private keeps: string | undefined;

  /** Shows another view. */
  async show(query: ListQuery): Promise<void> {
    this.query = query;
    this.ids.value = [];
    await this.reload();
  }

  /** Reads the beginning again, and keeps the rest. */
  async reload(): Promise<void> {
    const isFirst = this.ids.peek().length === 0;
    const place = placeNow();
    const page = await this.read(null);
    if (page === undefined) return;
    batch(() => {
      for (const each of page.data) putAnswer(each, place);
      const fresh = page.data.map(({ id }) => id);
      if (isFirst) {
        // Events may have placed rows since the request began.
        for (const id of this.ids.peek()) changed.add(id);
        this.ids.value = [];
        this.append(fresh);
        this.cursor = page.next_cursor;
        this.isComplete.value = !page.has_more;
      } else {
        for (const id of fresh) changed.add(id);
      }
    });
    this.placeSoon();
  }

  /** Reads the next page. */
  async more(): Promise<void> {
    if (this.isLoading.peek() || this.isComplete.peek() || this.error.peek() !== undefined) return;
    const place = placeNow();
    const page = await this.read(this.cursor);
    if (page === undefined) return;
    batch(() => {
      const has = new Set(this.ids.peek());
      for (const each of page.data) putAnswer(each, place);
      const fresh = page.data.map(({ id }) => id).filter((id) => !has.has(id));
      this.append(fresh);
      this.cursor = page.next_cursor;
      this.isComplete.value = !page.has_more;
    });
    // A filter may leave a page without a row although more follow.
    if (page.has_more && page.data.length === 0) await this.more();
  }

  /** Rows that the server put in order need no placing, which takes longer in a long list. */
  private append(ids: readonly string[]): void {
    for (const id of ids) changed.delete(id);
    this.ids.value = [...this.ids.peek(), ...ids];
  }

  private async read(cursor: string | null): Promise<Page<Conversation> | undefined> {
    this.running?.abort();
    const own = new AbortController();
    this.running = own;
    this.isLoading.value = true;
    this.error.value = undefined;
    try {
      const page = await requestOf(this.query, { cursor, limit: pageSize, signal: own.signal });
      return own.signal.aborted ? undefined : page;
    } catch (error) {
      if (!own.signal.aborted) this.error.value = error;
      return undefined;
    } finally {
      if (this.running === own) this.isLoading.value = false;
    }
  }

  /** Tries again after an error. */
  retry(): void {
    this.error.value = undefined;
    void (this.ids.peek().length === 0 ? this.reload() : this.more());
  }

  /** Keeps this row although it no longer belongs to the view, while it is open. */
  keep(id: string | undefined): void {
    if (this.keeps !== undefined) changed.add(this.keeps);
    this.keeps = id;
    this.placeSoon();
  }

  /** Holds the order back while someone points at the list. */
  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    if (!isHeld) this.placeSoon();
  }

  /** Shows what was held back. */
  showHeld(): void {
    this.place();
  }

  remove(id: string): void {
    this.ids.value = this.ids.peek().filter((each) => each !== id);
  }

  /** Places changed rows soon, many at once. */
  placeSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      if (this.isHeld && this.moves() > 0) this.heldBack.value = this.moves();
      else this.place();
    }, placeDelayMs);
  }

  private moves(): number {
    const ids = this.ids.peek();
    const after = this.placed();
    let moves = 0;
    for (const id of changed) if (ids.indexOf(id) !== after.indexOf(id)) moves += 1;
    return moves;
  }

  private place(): void {
    const next = this.placed();
    changed.clear();
    this.heldBack.value = 0;
    const now = this.ids.peek();
    if (next.length !== now.length || next.some((id, index) => id !== now[index])) {
      this.ids.value = next;
    }
  }

  /** The order with all changed rows in their places. */
  private placed(): readonly string[] {
    const { query } = this;
    // The best match of a search stays first.
    if (query.words !== undefined) return this.ids.peek();
    const order = byView(query.view);
    const rest = this.ids.peek().filter((id) => !changed.has(id));
    const last = rest.at(-1);
    const bound = last === undefined ? undefined : known.get(last)?.peek();
    for (const id of changed) {
      const row = known.get(id)?.peek();
      if (row === undefined || !(isShown(query, row) || id === this.keeps)) continue;
      // What follows the last row belongs to a page that was not read yet.
      const isBeyond = bound !== undefined && order(row, bound) > 0 && !this.isComplete.peek();
      const wasThere = this.ids.peek().includes(id);
      if (isBeyond && !wasThere) continue;
      rest.splice(placeOf(rest, row, order), 0, id);
    }
    return rest;
  }
}

/** The index of the first row that comes after `row`. */
function placeOf(
  ids: readonly string[],
  row: Conversation,
  order: (a: Conversation, b: Conversation) => number,
): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = known.get(ids[middle] ?? "")?.peek();
    if (other !== undefined && order(other, row) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

export const list = new ConversationList();
