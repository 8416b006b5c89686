/** The conversations that the page knows, and the lists that show them. */
import { batch, type Signal, signal } from "@preact/signals";
import type { Conversation, Page } from "../../../../../src/index.ts";
import { api, ApiError } from "../../../shared/browser/index.ts";
import { nextSequence } from "./order.ts";
import { OrderedList } from "./ordered-list.ts";
import { byView, isShown, type ListQuery, requestOf } from "./views.ts";

const known = new Map<string, Signal<Conversation>>();
/** When the page learned what it knows of each conversation. */
const sequences = new Map<string, number>();

/** Increases when the page learns of another conversation. */
const learned = signal(0);

/** A conversation, once the page knows it. */
export function conversation(id: string): Conversation | undefined {
  const held = known.get(id);
  // Whoever waits for it is drawn when it comes.
  if (held === undefined) void learned.value;
  return held?.value;
}

/** Its value now, without listening to changes. */
export const conversationNow = (id: string): Conversation | undefined => known.get(id)?.peek();

const changed = new Set<string>();

/**
 * The contacts that were erased while the page was open. A response that the server prepared before
 * the erasure may still contain their conversations.
 */
const erased = new Set<string>();
const maxErased = 1_000;

/** Adds or replaces a conversation. The list places it again when it may. */
export function put(next: Conversation, sequence = nextSequence()): void {
  if (erased.has(next.contact.id)) return;
  sequences.set(next.id, sequence);
  const held = known.get(next.id);
  if (held !== undefined) held.value = next;
  else {
    known.set(next.id, signal(next));
    learned.value += 1;
  }
  changed.add(next.id);
  forgetUnlisted();
  list.placeSoon();
}

/** How many conversations the page remembers besides those of the list. */
const maxUnlisted = 2_000;

function forgetUnlisted(): void {
  if (known.size <= list.ids.peek().length + maxUnlisted + changed.size) return;
  for (const id of known.keys()) {
    if (list.has(id) || changed.has(id)) continue;
    known.delete(id);
    sequences.delete(id);
  }
}

/**
 * Puts the answer to the request that began at `sequence`. If an event or another answer came in
 * between, nobody knows which is newer. Then the conversation is read again.
 */
export function putResponse(response: Conversation, sequence: number): void {
  if ((sequences.get(response.id) ?? 0) <= sequence) put(response, sequence);
  else fetchSoon(response.id);
}

/** Removes the conversations of a contact that was erased. Returns their ids. */
export function dropErased(contactId: string): readonly string[] {
  erased.add(contactId);
  const [first = ""] = erased;
  if (erased.size > maxErased) erased.delete(first);
  const dropped = [...known.keys()].filter((id) => conversationNow(id)?.contact.id === contactId);
  for (const id of dropped) {
    known.delete(id);
    sequences.delete(id);
    list.remove(id);
  }
  return dropped;
}

/** Changes some fields of a known conversation. */
export function patch(id: string, fields: Partial<Conversation>): void {
  const held = known.get(id)?.peek();
  if (held !== undefined) put({ ...held, ...fields });
}

/** Asks the server for a conversation. */
export async function fetchConversation(id: string, signal?: AbortSignal): Promise<Conversation> {
  const sequence = nextSequence();
  const found = await api.get<Conversation>(`v1/conversations/${id}`, {}, { signal });
  putResponse(found, sequence);
  return found;
}

/** Reads a conversation again. Its row goes if no event has told that its contact was erased. */
async function refetch(id: string): Promise<void> {
  try {
    await fetchConversation(id);
  } catch (error) {
    // After other errors, the row stays as it is.
    if (error instanceof ApiError && error.status === 404) list.remove(id);
  }
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
    for (const each of ids) void refetch(each);
  }, fetchDelayMs);
}

/** The first page is small, so that it is there soon. */
const firstPage = 50;
const laterPages = 100;
/** Nobody scrolls further. A browser shows no element of more than some 30 million pixels. */
export const maxListed = 200_000;
const placeDelayMs = 150;

type Ids = Pick<readonly string[], "length" | "at" | "indexOf">;

/** The list of one view, with its filters and its words of search. */
class ConversationList {
  readonly ids = signal<Ids>([]);
  readonly isLoading = signal(false);
  readonly isComplete = signal(false);
  /** Whether more matches of a search exist than one page shows. */
  readonly isCut = signal(false);
  readonly error = signal<unknown>(undefined);
  /** How many changes of the order wait while someone is about to click. */
  readonly heldBack = signal(0);
  private query: ListQuery = { view: "all" };
  private rows = new OrderedList(byView("all"));
  private cursor: string | null = null;
  private running: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isHeld = false;
  private keeps: string | undefined;

  /** Whether a conversation is in the list, or stays known because it is open. */
  has(id: string): boolean {
    return id === this.keeps || this.rows.has(id);
  }

  /** Shows another view. */
  async show(query: ListQuery): Promise<void> {
    this.query = query;
    this.clear();
    await this.reload();
  }

  /** Reads the beginning again, and keeps the rest unless much of the beginning has left it. */
  async reload(): Promise<void> {
    const isFirst = this.rows.length === 0;
    const sequence = nextSequence();
    const page = await this.read(null, firstPage);
    if (page === undefined) return;
    const unlisted = this.unlistedBy(page, sequence);
    batch(() => {
      if (isFirst || unlisted.length > maxFetched) {
        // Events may have placed rows since the request began.
        for (let i = 0; i < this.rows.length; i++) changed.add(this.rows.at(i) ?? "");
        const kept = this.kept();
        this.clear();
        this.take(page, sequence);
        if (kept !== undefined && !this.isBeyond(kept) && this.rows.place(kept)) this.publish();
      } else {
        for (const each of page.data) {
          putResponse(each, sequence);
          changed.add(each.id);
        }
        for (const id of unlisted) void refetch(id);
      }
    });
    this.placeSoon();
  }

  /**
   * Returns the rows that the first page, requested at `sequence`, should have but has not: they
   * changed, and no event told it.
   */
  private unlistedBy({ data, has_more }: Page<Conversation>, sequence: number): readonly string[] {
    // The matches of a search have an order of their own.
    if (this.query.words !== undefined) return [];
    const listed = new Set(data.map(({ id }) => id));
    const [last] = data.slice(-1);
    const order = byView(this.query.view);
    const unlisted: string[] = [];
    for (let i = 0; i < this.rows.length; i++) {
      const row = conversationNow(this.rows.at(i) ?? "");
      if (row === undefined || listed.has(row.id)) continue;
      if (has_more && last !== undefined && order(row, last) > 0) break;
      if ((sequences.get(row.id) ?? 0) <= sequence) unlisted.push(row.id);
    }
    return unlisted;
  }

  /** Reads the next page. */
  async more(): Promise<void> {
    if (this.isLoading.peek() || this.isComplete.peek() || this.error.peek() !== undefined) return;
    // A filter may leave a page without a row although more follow.
    for (let added = 0; added === 0 && !this.isComplete.peek();) {
      const sequence = nextSequence();
      const page = await this.read(this.cursor, laterPages);
      if (page === undefined) return;
      added = batch(() => this.take(page, sequence));
    }
  }

  /** Appends a page. Returns how many rows it added. */
  private take(page: Page<Conversation>, sequence: number): number {
    for (const each of page.data) putResponse(each, sequence);
    const fresh = page.data.filter(({ id }) => known.has(id) && !this.rows.has(id));
    // Rows that the server put in order need no placing.
    for (const { id } of fresh) changed.delete(id);
    this.rows.append(fresh);
    this.publish();
    this.cursor = page.next_cursor;
    this.isCut.value = page.has_more && page.next_cursor === null;
    this.isComplete.value = page.next_cursor === null || this.rows.length >= maxListed;
    return fresh.length;
  }

  private clear(): void {
    this.rows = new OrderedList(byView(this.query.view));
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

  private async read(
    cursor: string | null,
    limit: number,
  ): Promise<Page<Conversation> | undefined> {
    this.running?.abort();
    const own = new AbortController();
    this.running = own;
    this.isLoading.value = true;
    this.error.value = undefined;
    try {
      const page = await requestOf(this.query, { cursor, limit, signal: own.signal });
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
    void (this.rows.length === 0 ? this.reload() : this.more());
  }

  /** Keeps this row although it no longer belongs to the view, while it is open. */
  keep(id: string | undefined): void {
    if (this.keeps !== undefined) changed.add(this.keeps);
    this.keeps = id;
    this.placeSoon();
  }

  /** The open conversation, if it is in the list. The list of another view need not have it. */
  private kept(): Conversation | undefined {
    const { keeps } = this;
    const isListed = keeps !== undefined && this.rows.has(keeps);
    return isListed && this.query.words === undefined ? conversationNow(keeps) : undefined;
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
    if (this.rows.remove(id)) this.publish();
  }

  /** Places changed rows soon, many at once. */
  placeSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
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
    changed.clear();
    this.heldBack.value = 0;
    if (isMoved) this.publish();
  }

  /** The best match of a search stays first. */
  private unplaced(): Iterable<string> {
    return this.query.words === undefined ? changed : [];
  }

  /** A conversation, if it belongs into the list. */
  private shown(id: string): Conversation | undefined {
    const row = conversationNow(id);
    const belongs = row !== undefined && (isShown(this.query, row) || id === this.kept()?.id);
    return belongs && (!this.isBeyond(row) || this.rows.has(id)) ? row : undefined;
  }

  /** What follows the last row belongs to a page that was not read yet. */
  private isBeyond(row: Conversation): boolean {
    return !this.isComplete.peek() && this.rows.isAfterAll(row);
  }
}

export const list = new ConversationList();
