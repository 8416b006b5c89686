/** The messages and notes of the open conversation. */
import { batch, computed, type Signal, signal } from "@preact/signals";
import type { Message, Note, Page } from "../../../../../src/index.ts";
import { api, ApiError, go, placeNow, toastError } from "../../../shared/browser/index.ts";
import { removeArrived } from "./drafts.ts";
import { nextSequence } from "./order.ts";
import { conversationLink } from "./views.ts";

interface MessageEntry {
  readonly kind: "message";
  readonly id: string;
  readonly at: string;
  readonly message: Message;
}

interface NoteEntry {
  readonly kind: "note";
  readonly id: string;
  readonly at: string;
  readonly note: Note;
}

/** One entry of a thread, oldest first. It stays the same object until it is read again. */
export type Entry = MessageEntry | NoteEntry;

const pageSize = 40;
/** While a message is looked for, pages are as large as the server allows. */
const seekPageSize = 100;
const maxSeekPages = 20;
/** How many messages are searched for one, from the newest. */
export const maxSought = seekPageSize * maxSeekPages;
/** More notes than these are shown only as far as messages of their time are. */
const noteSize = 100;

/** More changed messages than these are read together. */
const maxSingly = 3;
/** The pause between two rounds of reading changed messages, in milliseconds. */
const refreshPauseMs = 250;
/** The pause after a message that could not be read. */
const retryPauseMs = 2000;

/** The thread of one conversation. */
export class Thread {
  readonly entries = signal<readonly Entry[]>([]);
  readonly isLoading = signal(false);
  readonly isComplete = signal(false);
  readonly error = computed<unknown>(() => this.messagesError.value ?? this.notesError.value);
  readonly id: string;
  private readonly messagesError = signal<unknown>(undefined);
  private readonly notesError = signal<unknown>(undefined);
  /** Each message, with the sequence of the request that read it. */
  private readonly messages = new Map<string, { entry: MessageEntry; sequence: number }>();
  private readonly notes = new Map<string, NoteEntry>();
  private cursor: string | null = null;
  /** From the earliest message up to this place none is missing. */
  private gapless = "";
  private loading = Promise.resolve();
  /** The messages that events have said to have changed, until they are read again. */
  private readonly changed = new Set<string>();
  private isRefreshing = false;
  private readonly stop = new AbortController();

  constructor(id: string) {
    this.id = id;
    void this.loadOlder();
    void this.loadNotes();
  }

  /** Loads the page of messages before the oldest one. */
  async loadOlder(size = pageSize): Promise<void> {
    if (this.isLoading.peek() || this.isComplete.peek()) return;
    this.isLoading.value = true;
    this.loading = this.readOlder(size);
    await this.loading;
    this.isLoading.value = false;
  }

  /** Loads older messages until this one is there. Returns whether it is. */
  async seek(id: string): Promise<boolean> {
    for (let page = 0; page < maxSeekPages; page++) {
      // The first page, or one for a reader who scrolls, may be under way.
      await this.loading;
      if (this.messages.has(id)) return true;
      if (this.isComplete.peek() || this.messagesError.peek() !== undefined) return false;
      await this.loadOlder(seekPageSize);
      if (this.stop.signal.aborted) return false;
    }
    return this.messages.has(id);
  }

  private async readOlder(size: number): Promise<void> {
    const sequence = nextSequence();
    const { cursor } = this;
    this.messagesError.value = undefined;
    try {
      const page = await this.read<Message>("messages", size, cursor);
      // A refresh meanwhile removed the messages that this page continues.
      if (this.cursor !== cursor) return;
      const [newest] = page.data;
      if (newest !== undefined) this.noteGapless(placeOf(newest));
      batch(() => {
        for (const message of page.data) this.keep(message, sequence);
        this.cursor = page.next_cursor;
        this.isComplete.value = !page.has_more;
        this.show();
      });
    } catch (error) {
      this.fail(this.messagesError, error);
    }
  }

  /** Reads the latest messages and the notes again, because some may have been missed. */
  async refresh(): Promise<void> {
    await Promise.all([this.refreshMessages(), this.loadNotes()]);
  }

  private async refreshMessages(): Promise<void> {
    // What is being loaded may have been read before the messages that were missed.
    await this.loading;
    if (this.messages.size === 0 && !this.isComplete.peek()) {
      await this.loadOlder();
      return;
    }
    const sequence = nextSequence();
    try {
      const page = await this.read<Message>("messages", pageSize, null);
      this.messagesError.value = undefined;
      const [newest = "", oldest = ""] = [page.data[0], page.data.at(-1)].map(
        (message) => message && placeOf(message),
      );
      // What lies between is read again by scrolling. What came during the request stays.
      if (page.has_more && oldest > this.gapless) {
        for (const [id, { entry }] of this.messages) {
          if (placeOf(entry.message) <= newest) this.messages.delete(id);
        }
        this.cursor = page.next_cursor;
        this.isComplete.value = false;
      }
      for (const message of page.data) this.keep(message, sequence);
      this.noteGapless(newest);
      this.show();
    } catch (error) {
      this.fail(this.messagesError, error);
    }
  }

  /** Reads one message again, because an event said that it changed. */
  refreshMessage(id: string): void {
    this.changed.add(id);
    if (!this.isRefreshing) void this.refreshChanged();
  }

  /** Whether a message belongs above those that are loaded. Those in between would be missing. */
  private isAbove(message: Message): boolean {
    const first = this.entries.peek().find((entry) => entry.kind === "message");
    if (first === undefined || this.isComplete.peek()) return false;
    return placeOf(message) < placeOf(first.message);
  }

  /** Reads a message again that was redacted, if it is shown. */
  async refreshRedacted(id: string): Promise<void> {
    // The page that has it may have been read before.
    await this.loading;
    if (this.messages.has(id)) this.refreshMessage(id);
  }

  /**
   * Reads what changed: a few messages one by one, and many with the page of the latest. Changes
   * that come meanwhile wait for the next round, so a mailing costs a few requests a second.
   */
  private async refreshChanged(): Promise<void> {
    this.isRefreshing = true;
    while (this.changed.size > 0 && !this.stop.signal.aborted) {
      const ids = [...this.changed];
      this.changed.clear();
      const sequence = nextSequence();
      if (ids.length > maxSingly) await this.refreshMessages();
      const isRead = (id: string): boolean => (this.messages.get(id)?.sequence ?? 0) > sequence;
      const left = ids.filter((id) => !isRead(id));
      const failed: string[] = [];
      const read = async (id: string): Promise<void> => {
        if (!(await this.readMessage(id))) failed.push(id);
      };
      await Promise.all(left.splice(0, maxSingly).map(read));
      for (const id of [...left, ...failed]) this.changed.add(id);
      await pause(failed.length > 0 ? retryPauseMs : refreshPauseMs);
    }
    this.isRefreshing = false;
  }

  /** Returns false if it must be tried again: this may be the last event of the message. */
  private async readMessage(id: string): Promise<boolean> {
    const sequence = nextSequence();
    try {
      const found = await api.get<Message>(`v1/messages/${id}`, {}, { signal: this.stop.signal });
      // The page that has it, or begins after it, may be under way.
      await this.loading;
      if (!this.isAbove(found)) this.put(found, sequence);
      return true;
    } catch (error) {
      // What was erased, or what the person may not see, stays so.
      return error instanceof ApiError && !error.isTemporary;
    }
  }

  async loadNotes(): Promise<void> {
    try {
      const page = await this.read<Note>("notes", noteSize, null);
      this.notesError.value = undefined;
      for (const note of page.data) this.keepNote(note);
      this.show();
    } catch (error) {
      this.fail(this.notesError, error);
    }
  }

  /** Shows the answer to the request that began at `sequence`. */
  put(message: Message, sequence: number): void {
    if (message.conversation_id !== this.id) return;
    this.keep(message, sequence);
    this.show();
  }

  private noteGapless(place: string): void {
    if (place > this.gapless) this.gapless = place;
  }

  /** A message that a later request has read stays as it is. */
  private keep(message: Message, sequence: number): void {
    const held = this.messages.get(message.id);
    if (held !== undefined && held.sequence > sequence) return;
    const { id, created_at: at } = message;
    this.messages.set(id, { entry: { kind: "message", id, at, message }, sequence });
    removeArrived(message);
  }

  putNote(note: Note): void {
    this.keepNote(note);
    this.show();
  }

  /** Nobody can change a note. */
  private keepNote(note: Note): void {
    const { id, created_at: at } = note;
    if (!this.notes.has(id)) this.notes.set(id, { kind: "note", id, at, note });
  }

  message(id: string): Message | undefined {
    return this.messages.get(id)?.entry.message;
  }

  end(): void {
    this.stop.abort();
  }

  private read<Item>(part: string, limit: number, cursor: string | null): Promise<Page<Item>> {
    return api.get<Page<Item>>(
      `v1/conversations/${encodeURIComponent(this.id)}/${part}`,
      { limit, cursor: cursor ?? undefined },
      { signal: this.stop.signal },
    );
  }

  private fail(shown: Signal<unknown>, error: unknown): void {
    if (!this.stop.signal.aborted) shown.value = error;
  }

  private show(): void {
    const messages = [...this.messages.values()].map(({ entry }) => entry).toSorted(byTime);
    const oldest = this.isComplete.peek() ? "" : (messages[0]?.at ?? "");
    const notes = [...this.notes.values()].filter(({ at }) => at >= oldest);
    this.entries.value = notes.length === 0 ? messages : [...messages, ...notes].toSorted(byTime);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const byTime = (a: Entry, b: Entry): number =>
  a.at < b.at ? -1 : a.at > b.at ? 1 : idTime(a.id) < idTime(b.id) ? -1 : 1;

/** The part of an id that grows with time. */
const idTime = (id: string): string => id.slice(id.indexOf("_") + 1);

/** Sorts messages by time. */
const placeOf = ({ created_at, id }: Message): string => `${created_at} ${idTime(id)}`;

/** The open thread. */
export const thread = signal<Thread | undefined>(undefined);

interface Target {
  readonly id: string;
  readonly conversation_id: string;
}

/** The message that a person goes to, until its thread has shown it. */
export const target = signal<Target | undefined>(undefined);

/** Shows a message of the contact. It may be in another conversation. */
export async function goToMessage(id: string): Promise<void> {
  const place = placeNow();
  try {
    const { conversation_id } =
      thread.peek()?.message(id) ?? (await api.get<Message>(`v1/messages/${id}`));
    // Whoever has gone elsewhere meanwhile stays there.
    if (placeNow().path[1] !== place.path[1]) return;
    target.value = { id, conversation_id };
    if (conversation_id !== place.path[1]) go(conversationLink(conversation_id, place));
  } catch (error) {
    toastError(error);
  }
}

/** Opens a conversation's thread; undefined closes it. */
export function openThread(id: string | undefined): void {
  if (thread.peek()?.id === id) return;
  thread.peek()?.end();
  thread.value = id === undefined ? undefined : new Thread(id);
}
