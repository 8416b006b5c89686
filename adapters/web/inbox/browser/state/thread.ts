/** The messages and notes of the open conversation. */
import { computed, signal } from "@preact/signals";
import type { Message, Note, Page } from "../../../../../src/index.ts";
import { api, ApiError, go, placeNow, toastError } from "../../../shared/browser/index.ts";
import { Backlog, byTime } from "./backlog.ts";
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

/**
 * The time by which a message stands in the thread. One that waits for its time stands after all
 * others, where it will be sent.
 */
export const timeOf = ({ placed_at, send_at, created_at }: Message): string =>
  placed_at ?? send_at ?? created_at;

type Part = Pick<Backlog<never, never>, "isComplete" | "error">;

/** While a message is looked for, pages are as large as the server allows. */
const maxPageSize = 100;
const maxSeekPages = 20;
/** How many messages are searched for one, from the newest. */
export const maxSought = maxPageSize * maxSeekPages;

/** More changed messages than these are read together. */
const maxSingly = 3;
/** The pause between two rounds of reading changed messages, in milliseconds. */
const refreshPauseMs = 250;
/** The pause after a message that could not be read. */
const retryPauseMs = 2000;

/** The thread of one conversation. */
export class Thread {
  readonly entries = computed(() => this.joined());
  readonly isLoading = computed(() => this.messages.isLoading.value || this.notes.isLoading.value);
  readonly isComplete = computed(
    () => this.messages.isComplete.value && this.notes.isComplete.value,
  );
  readonly error = computed(() => this.messages.error.value ?? this.notes.error.value);
  readonly id: string;
  private readonly messages: Backlog<Message, MessageEntry>;
  private readonly notes: Backlog<Note, NoteEntry>;
  /** The messages that events have said to have changed, until they are read again. */
  private readonly changed = new Set<string>();
  private isRefreshing = false;
  private readonly stop = new AbortController();

  constructor(id: string) {
    this.id = id;
    const stopped = this.stop.signal;
    this.messages = new Backlog<Message, MessageEntry>({
      pageSize: 40,
      read: (cursor, limit) => this.read("messages", limit, cursor),
      entryOf: (message) => {
        removeArrived(message);
        return { kind: "message", id: message.id, at: timeOf(message), message };
      },
      timeOf,
      isWaiting: ({ placed_at }) => placed_at === null,
      stopped,
    });
    this.notes = new Backlog<Note, NoteEntry>({
      pageSize: maxPageSize,
      read: (cursor, limit) => this.read("notes", limit, cursor),
      // Nobody can change a note.
      entryOf: (note, shown) => shown ?? { kind: "note", id: note.id, at: note.created_at, note },
      timeOf: ({ created_at }) => created_at,
      isWaiting: () => false,
      stopped,
    });
    void this.messages.more();
    void this.notes.more();
  }

  /** Messages and notes in their order, from where none of either is missing. */
  private joined(): readonly Entry[] {
    const { messages, notes } = this;
    const start = messages.start > notes.start ? messages.start : notes.start;
    const isShown = ({ at }: Entry): boolean => at >= start;
    return [...messages.entries.value, ...notes.entries.value].filter(isShown).toSorted(byTime);
  }

  /** Loads earlier entries: of the messages or of the notes, whichever begin later. */
  async loadOlder(): Promise<void> {
    const { messages, notes } = this;
    if (this.isLoading.peek()) return;
    const isFromNotes = messages.isComplete.peek() || notes.start > messages.start;
    await (isFromNotes ? notes : messages).more();
  }

  /** Loads older entries until this message is shown. Returns whether it is. */
  async seek(id: string): Promise<boolean> {
    const { messages, notes } = this;
    const mayLoad = ({ isComplete, error }: Part): boolean =>
      !isComplete.peek() && error.peek() === undefined && !this.stop.signal.aborted;
    for (let page = 0; page < maxSeekPages; page++) {
      // The first page, or one for a reader who scrolls, may be under way.
      await messages.settled();
      if (messages.get(id) !== undefined || !mayLoad(messages)) break;
      await messages.more(maxPageSize);
    }
    const found = messages.get(id);
    if (found === undefined) return false;
    while (found.at < notes.start && mayLoad(notes)) await notes.more();
    return found.at >= notes.start;
  }

  /** Reads the latest messages and the notes again, because some may have been missed. */
  async refresh(): Promise<void> {
    await Promise.all([this.messages.refresh(), this.notes.refresh()]);
  }

  /** Reads one message again, because an event said that it changed. */
  refreshMessage(id: string): void {
    this.changed.add(id);
    if (!this.isRefreshing) void this.refreshChanged();
  }

  /**
   * Whether a message belongs above those that are loaded. Those in between would be missing. One
   * that is loaded waited for its time: what stands between is what still waits.
   */
  private isAbove(message: Message): boolean {
    const [first] = this.messages.entries.peek();
    const isLoaded = this.messages.get(message.id) !== undefined;
    if (isLoaded || first === undefined || this.messages.isComplete.peek()) return false;
    return byTime({ at: timeOf(message), id: message.id }, first) < 0;
  }

  /** Reads a message again that was redacted, if it is shown. */
  async refreshRedacted(id: string): Promise<void> {
    // The page that has it may have been read before.
    await this.messages.settled();
    if (this.messages.get(id) !== undefined) this.refreshMessage(id);
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
      if (ids.length > maxSingly) await this.messages.refresh();
      const left = ids.filter((id) => this.messages.sequenceOf(id) <= sequence);
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
      const found = await api.get<Message>(`v1/messages/${id}`, { signal: this.stop.signal });
      // The page that has it, or begins after it, may be under way.
      await this.messages.settled();
      if (!this.isAbove(found)) this.put(found, sequence);
      return true;
    } catch (error) {
      // What was erased, or what the person may not see, stays so.
      return error instanceof ApiError && !error.isTemporary;
    }
  }

  /** Reads the latest notes again, because an event said that the conversation changed. */
  refreshNotes(): void {
    void this.notes.refresh();
  }

  /** Shows the answer to the request that began at `sequence`. */
  put(message: Message, sequence: number): void {
    if (message.conversation_id === this.id) this.messages.put(message, sequence);
  }

  putNote(note: Note): void {
    this.notes.put(note, nextSequence());
  }

  message(id: string): Message | undefined {
    return this.messages.get(id)?.message;
  }

  /** The latest messages that are loaded, newest first. */
  latest(count: number): readonly Message[] {
    const entries = this.messages.entries.peek().slice(-count);
    return entries.map(({ message }) => message).toReversed();
  }

  end(): void {
    this.stop.abort();
  }

  private read<Item>(part: string, limit: number, cursor: string | null): Promise<Page<Item>> {
    return api.get<Page<Item>>(`v1/conversations/${encodeURIComponent(this.id)}/${part}`, {
      query: { limit, cursor },
      signal: this.stop.signal,
    });
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

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
