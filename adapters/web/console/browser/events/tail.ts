/** The latest events, newest first. */
import { signal } from "@preact/signals";
import type { Event, Page } from "../../../../../src/index.ts";
import { api, Repetition } from "../../../shared/browser/index.ts";

/** How many events the page keeps. */
export const maxEvents = 1000;
const pageSize = 100;

/** Returns events without something, such as the text of a message. */
type Removal = (events: readonly Event[]) => Event[];

/** New events appear together, so that many a second do not draw the page as often. */
const flushMs = 120;

/**
 * Follows the events of one type, or of all. A read that failed is repeated after a pause if the
 * server cannot answer for now.
 */
export class Tail {
  /** Undefined until the first page is loaded. */
  readonly events = signal<readonly Event[] | undefined>(undefined);
  /** How many events arrived while the tail is paused or held. */
  readonly waiting = signal(0);
  readonly isPaused = signal(false);
  readonly hasMore = signal(false);
  readonly isLoading = signal(false);
  /** Why the latest events could not be read. Until they are, those that arrive wait. */
  readonly error = signal<unknown>(undefined);
  /** Why older events could not be read. */
  readonly olderError = signal<unknown>(undefined);

  private arrived: Event[] = [];
  private isHeld = false;
  /** Whether events may be missing between the list and what arrived. */
  private isStale = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private loading: AbortController | undefined;
  /** What was removed since that load began. Its page may be older. */
  private removals: Removal[] = [];
  private cursor: string | undefined;
  private readonly repetition = new Repetition();
  private readonly olderRepetition = new Repetition();
  private readonly type: string | undefined;

  constructor(type: string | undefined) {
    this.type = type;
  }

  /** Reads the latest events. Returns a function that ends the loading, as effects return it. */
  loadWhileShown(): () => void {
    void this.reload();
    return () => {
      this.loading?.abort();
      this.repetition.end();
      this.olderRepetition.end();
    };
  }

  /** Reads the latest events again. A list that stands still is read when it moves again. */
  async reload(): Promise<void> {
    if (this.isStill() && this.events.peek() !== undefined) {
      this.isStale = true;
      this.error.value = undefined;
    } else await this.loadLatest();
  }

  /** Reads older events. */
  async more(): Promise<void> {
    if (this.hasMore.peek() && !this.isLoading.peek()) await this.load(this.cursor);
  }

  private async loadLatest(): Promise<void> {
    this.isStale = false;
    this.arrived = [];
    this.waiting.value = 0;
    this.repetition.end();
    await this.load(undefined);
  }

  /** Reads a page. A load that is under way is given up. */
  private async load(cursor: string | undefined): Promise<void> {
    this.loading?.abort();
    const own = new AbortController();
    this.loading = own;
    this.removals = [];
    this.isLoading.value = true;
    try {
      const page = await api.get<Page<Event>>("v1/events", {
        query: { limit: pageSize, type: this.type, cursor },
        signal: own.signal,
      });
      if (own.signal.aborted) return;
      const before = cursor === undefined ? [] : (this.events.peek() ?? []);
      const data = this.removals.reduce((events, remove) => remove(events), page.data);
      this.events.value = [...before, ...data].slice(0, maxEvents);
      this.cursor = page.next_cursor ?? undefined;
      this.hasMore.value = page.has_more && before.length + page.data.length < maxEvents;
      if (cursor === undefined) {
        this.error.value = undefined;
        this.repetition.noteSuccess();
      }
      this.olderError.value = undefined;
      this.olderRepetition.noteSuccess();
    } catch (error) {
      if (own.signal.aborted) return;
      if (cursor === undefined) {
        this.error.value = error;
        this.isStale = true;
        this.repetition.noteFailure(error, () => void this.reload());
      } else {
        this.olderError.value = error;
        this.olderRepetition.noteFailure(error, () => void this.more());
      }
    }
    this.loading = undefined;
    this.isLoading.value = false;
    this.flush();
  }

  /** Takes an event of the stream. */
  take(event: Event): void {
    if (event.type === "message.redacted") this.redact(event.data.message_id);
    if (event.type === "contact.erased") this.forget(event.data.contact_id);
    if (this.type !== undefined && event.type !== this.type) return;
    this.arrived.unshift(event);
    this.arrived.length = Math.min(this.arrived.length, maxEvents);
    this.timer ??= setTimeout(() => this.flush(), flushMs);
  }

  /** Removes the text of a message. */
  private redact(message: string): void {
    this.remove((events) =>
      events.map((event) =>
        event.type === "message.received" && event.data.message_id === message
          ? { ...event, data: { ...event.data, body: "", media: [] } }
          : event,
      ),
    );
  }

  /** Removes the events that name a contact. */
  private forget(contact: string): void {
    this.remove((events) => events.filter(({ data }) => !JSON.stringify(data).includes(contact)));
  }

  /**
   * Removes something from what was loaded and from what is loading, also while the tail is paused.
   */
  private remove(removal: Removal): void {
    if (this.loading !== undefined) this.removals.push(removal);
    this.arrived = removal(this.arrived);
    const events = this.events.peek();
    if (events !== undefined) this.events.value = removal(events);
  }

  pause(isPaused: boolean): void {
    this.isPaused.value = isPaused;
    this.flush();
  }

  /** Keeps the list still while a pointer is over it. */
  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    this.flush();
  }

  /** Shows what has arrived, also while the list is held. Tries again after an error. */
  show(): void {
    if (this.isStale) {
      void this.loadLatest();
      return;
    }
    const added = this.added();
    this.arrived = [];
    this.waiting.value = 0;
    if (added.length === 0) return;
    this.events.value = [...added, ...(this.events.peek() ?? [])].slice(0, maxEvents);
  }

  private isStill(): boolean {
    return this.isPaused.peek() || this.isHeld;
  }

  /** What has arrived and is not in the list. */
  private added(): readonly Event[] {
    const known = new Set(this.events.peek()?.map(({ id }) => id));
    return this.arrived.filter(({ id }) => !known.has(id));
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const mayMove = !this.isStill() && this.error.peek() === undefined;
    if (!mayMove) this.waiting.value = this.added().length;
    // A page that is read now may precede what has arrived, and would replace it.
    else if (this.loading === undefined && this.events.peek() !== undefined) this.show();
  }
}

const texts = new WeakMap<Event, string>();

/** Whether the event has the words in its id, type or data. */
export function matches(event: Event, words: string): boolean {
  if (words === "") return true;
  let text = texts.get(event);
  if (text === undefined) {
    text = JSON.stringify(event).toLowerCase();
    texts.set(event, text);
  }
  return text.includes(words.toLowerCase());
}
