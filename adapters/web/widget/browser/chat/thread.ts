/** The messages that are shown, each once and in order of time. */
import type { WebchatMessage, WebchatMessagePage, WebchatState } from "../../../../../src/index.ts";
import { keepLatest } from "../../../shared/browser/keep-latest.ts";

/** The place of a message in the order of time. Both parts have a fixed length. */
export const placeOf = ({ placed_at, id }: WebchatMessage): string => `${placed_at} ${id}`;

/** The maximum number of messages. If there are more, the page of the newest ones replaces them. */
export const maxMessages = 1_000;

/** What a thread shows when a page is requested. */
export interface Shown {
  /** The ids of its messages. */
  readonly ids: ReadonlySet<string>;
  /** How often its state was changed before. */
  readonly changes: number;
}

const noState: WebchatState = { read_at: null, assignee: null, queued: false };

export class Thread {
  messages: readonly WebchatMessage[] = [];
  /** The number of the last message that came from the visitor's mailbox. */
  number = 0;
  #state = noState;
  /** How often the state was changed by `changeState`. */
  #changes = 0;
  /** Where earlier messages continue. Null if there are none. */
  older: string | null = null;
  /** The number up to which the page of the newest messages that is shown had all. */
  #pageNumber = 0;
  /** How often messages were dropped. An older page that was requested before does not fit. */
  cuts = 0;
  /**
   * The ids of messages that were redacted. A page of messages that the server read before a
   * redaction, but that arrives after it, still has the text.
   */
  readonly #redacted = new Set<string>();

  /** Who has the conversation, and which messages were read. */
  get state(): WebchatState {
    return this.#state;
  }

  /** What is shown now, for the request of a page of messages. */
  get shown(): Shown {
    return { ids: new Set(this.messages.map(({ id }) => id)), changes: this.#changes };
  }

  has(id: string): boolean {
    return this.messages.some((each) => each.id === id);
  }

  /** Adds messages. One that is known already is replaced. */
  add(added: readonly WebchatMessage[]): void {
    const all = [...this.messages, ...added].map((each) =>
      this.#redacted.has(each.id) ? { ...each, body: null, media: [] } : each,
    );
    const byId = new Map(all.map((message) => [message.id, message]));
    this.messages = [...byId.values()].toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
  }

  /** Removes the text and the files of a message, also of one that is not shown yet. */
  redact({ id }: WebchatMessage): void {
    this.#redacted.add(id);
    keepLatest(this.#redacted, maxMessages);
    this.add([]);
  }

  changeState(state: WebchatState): void {
    this.#changes++;
    this.#state = state;
  }

  /**
   * Shows the page of the newest messages in place of the messages that were shown when the page
   * was requested. Messages between these and the page may be missing, and an earlier one may have
   * been redacted meanwhile. Messages that are newer than the page stay. So do messages that
   * arrived since the request and are newer than the oldest one of the page. A state that arrived
   * since the request is newer than that of the page.
   *
   * A page that the server read before one that is shown may arrive after it. It has nothing new
   * and may have texts that were redacted meanwhile, so it is left out.
   */
  showNewest(
    { data, next_cursor, last_event_id, state }: WebchatMessagePage,
    { ids, changes }: Shown,
  ): void {
    const number = Number(last_event_id ?? 0);
    if (number < this.#pageNumber) return;
    this.#pageNumber = number;
    const [newest = "", oldest = ""] = [data[0], data.at(-1)].map((each) => each && placeOf(each));
    this.messages = this.messages.filter((each) => {
      const place = placeOf(each);
      return place > newest || (place > oldest && !ids.has(each.id));
    });
    this.older = next_cursor;
    this.cuts++;
    this.add(data);
    this.number = Math.max(this.number, number);
    if (changes === this.#changes) this.#state = state;
  }

  /**
   * Adds the page before the earliest message, if none was dropped since there were `cuts`. Returns
   * whether it did.
   */
  addOlder(
    { data, next_cursor }: Pick<WebchatMessagePage, "data" | "next_cursor">,
    cuts: number,
  ): boolean {
    if (cuts !== this.cuts) return false;
    this.add(data);
    this.older = next_cursor;
    return true;
  }

  clear(): void {
    this.cuts++;
    this.messages = [];
    this.number = 0;
    this.#pageNumber = 0;
    this.older = null;
    this.#state = noState;
  }
}
