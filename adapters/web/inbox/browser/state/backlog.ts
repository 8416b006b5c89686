/** The messages or the notes of a conversation: the latest ones, as far back as they are loaded. */
import { batch, computed, signal, type ReadonlySignal } from "@preact/signals";
import type { Page } from "../../../../../src/index.ts";
import { Repetition } from "../../../shared/browser/connection/repetition.ts";
import { nextSequence } from "./order.ts";

interface Placed {
  readonly id: string;
  readonly at: string;
}

/** Where a backlog comes from. */
export interface BacklogSource<Item, Entry> {
  readonly pageSize: number;
  /** Reads a page: first what waits, then the rest, newest first. Null reads the first page. */
  readonly read: (cursor: string | null, limit: number) => Promise<Page<Item>>;
  /** Returns how the thread shows an item, which it may show already. */
  readonly entryOf: (item: Item, shown: Entry | undefined) => Entry;
  /** The time by which an item stands in the thread. */
  readonly timeOf: (item: Item) => string;
  /** Whether an item waits for its time. It stands after all others, in a place of the future. */
  readonly isWaiting: (item: Item) => boolean;
  /** Aborts when nobody sees the thread any more. */
  readonly stopped: AbortSignal;
}

interface Held<Entry> {
  readonly entry: Entry;
  /** The sequence of the request that read it. */
  readonly sequence: number;
  readonly isWaiting: boolean;
}

export class Backlog<Item extends Pick<Placed, "id">, Entry extends Placed> {
  private readonly source: BacklogSource<Item, Entry>;
  private readonly shown = signal<readonly Entry[]>([]);
  private readonly loads = signal(false);
  private readonly hasAll = signal(false);
  private readonly older = new Attempts();
  private readonly newest = new Attempts();
  private readonly failure = computed(() => this.newest.error.value ?? this.older.error.value);
  private readonly held = new Map<string, Held<Entry>>();
  private cursor: string | null = null;
  /** Whether a page was read. */
  private isBegun = false;
  /** From the earliest entry up to this place none is missing. */
  private gapless = "";
  private loading = Promise.resolve();

  constructor(source: BacklogSource<Item, Entry>) {
    this.source = source;
  }

  /** Oldest first. */
  get entries(): ReadonlySignal<readonly Entry[]> {
    return this.shown;
  }

  get isLoading(): ReadonlySignal<boolean> {
    return this.loads;
  }

  /** Whether the earliest entry is loaded. */
  get isComplete(): ReadonlySignal<boolean> {
    return this.hasAll;
  }

  /** Why the last read failed. Undefined if it did not. */
  get error(): ReadonlySignal<unknown> {
    return this.failure;
  }

  /** The time before which entries are still to be loaded. Empty if there are none. */
  get start(): string {
    return this.hasAll.value || !this.isBegun ? "" : (this.shown.value[0]?.at ?? "");
  }

  get(id: string): Entry | undefined {
    return this.held.get(id)?.entry;
  }

  /** The sequence of the request that read an entry, or 0. */
  sequenceOf(id: string): number {
    return this.held.get(id)?.sequence ?? 0;
  }

  /** Resolves when no page is being loaded. */
  settled(): Promise<void> {
    return this.loading;
  }

  /** Loads the page before the earliest entry. Waits instead for one that is being loaded. */
  async more(size = this.source.pageSize): Promise<void> {
    if (this.loads.peek()) return this.loading;
    if (this.hasAll.peek()) return undefined;
    this.loads.value = true;
    this.loading = this.readMore(size);
    await this.loading;
    this.loads.value = false;
  }

  private async readMore(size: number): Promise<void> {
    const sequence = nextSequence();
    const { cursor } = this;
    this.older.error.value = undefined;
    try {
      const page = await this.source.read(cursor, size);
      // A refresh meanwhile removed the entries that this page continues.
      if (this.cursor !== cursor) return;
      this.older.noteSuccess();
      batch(() => {
        this.take(page, sequence);
        this.cursor = page.next_cursor;
        this.hasAll.value = !page.has_more;
      });
    } catch (error) {
      this.fail(this.older, error, () => void this.more());
    }
  }

  /** Reads the newest page again, because entries may have been missed. */
  async refresh(): Promise<void> {
    // What is being loaded may have been read before the entries that were missed.
    await this.loading;
    if (!this.isBegun) {
      await this.more();
      return;
    }
    const sequence = nextSequence();
    try {
      const page = await this.source.read(null, this.source.pageSize);
      batch(() => {
        this.newest.noteSuccess();
        // What failed is read by scrolling on.
        this.older.noteSuccess();
        this.takeNewest(page, sequence);
      });
    } catch (error) {
      this.fail(this.newest, error, () => void this.refresh());
    }
  }

  private takeNewest(page: Page<Item>, sequence: number): void {
    const placed = this.placesOf(page);
    const [newest, oldest] = [placed[0], placed.at(-1)];
    // What lies between is read again by scrolling. What came during the request stays: it stands
    // after the page, or was read later if one of both only waits.
    if (page.has_more && (oldest === undefined || oldest > this.gapless)) {
      for (const [id, { entry, isWaiting, sequence: readAt }] of this.held) {
        const hasPlace = !isWaiting && newest !== undefined;
        if (hasPlace ? placeOf(entry) <= newest : readAt <= sequence) this.held.delete(id);
      }
      this.cursor = page.next_cursor;
      this.hasAll.value = false;
    }
    this.take(page, sequence);
  }

  private take({ data }: Page<Item>, sequence: number): void {
    this.isBegun = true;
    for (const item of data) this.keep(item, sequence);
    const [newest = ""] = this.placesOf({ data });
    if (newest > this.gapless) this.gapless = newest;
    this.show();
  }

  /** Shows the answer to the request that began at `sequence`. */
  put(item: Item, sequence: number): void {
    this.keep(item, sequence);
    this.show();
  }

  /** An entry that a later request has read stays as it is. */
  private keep(item: Item, sequence: number): void {
    if (this.sequenceOf(item.id) > sequence) return;
    const entry = this.source.entryOf(item, this.get(item.id));
    this.held.set(item.id, { entry, sequence, isWaiting: this.source.isWaiting(item) });
  }

  /** The places of the items that have taken one. */
  private placesOf({ data }: Pick<Page<Item>, "data">): readonly string[] {
    const { timeOf, isWaiting } = this.source;
    return data
      .filter((item) => !isWaiting(item))
      .map((item) => placeOf({ id: item.id, at: timeOf(item) }));
  }

  private show(): void {
    this.shown.value = [...this.held.values()].map(({ entry }) => entry).toSorted(byTime);
  }

  private fail(attempts: Attempts, error: unknown, again: () => void): void {
    if (!this.source.stopped.aborted) attempts.noteFailure(error, again);
  }
}

/** The reads of one kind. A success of the other kind does not make up for their failure. */
class Attempts {
  /** Why the last one failed. Undefined if it did not. */
  readonly error = signal<unknown>(undefined);
  private readonly repetition = new Repetition();

  noteSuccess(): void {
    this.error.value = undefined;
    this.repetition.noteSuccess();
  }

  noteFailure(error: unknown, again: () => void): void {
    this.error.value = error;
    this.repetition.noteFailure(error, again);
  }
}

/** The order of a thread, oldest first. */
export const byTime = (a: Placed, b: Placed): number =>
  a.at < b.at ? -1 : a.at > b.at ? 1 : idTime(a.id) < idTime(b.id) ? -1 : 1;

/** The part of an id that grows with time. */
const idTime = (id: string): string => id.slice(id.indexOf("_") + 1);

/** Sorts entries by time. */
const placeOf = ({ at, id }: Placed): string => `${at} ${idTime(id)}`;
