/** What the visitor has seen: the number of unread messages, and the marks for the server. */
import type { WebchatMessage } from "../../../../../src/index.ts";
import { mayRecover, type Retries } from "../connection/retries.ts";
import { Refused, type VisitorApi } from "../connection/visitor-api.ts";
import { placeOf } from "./thread.ts";

/** How many marks may wait to be reported. If there are more, the oldest are dropped. */
const maxMarks = 100;

/** What the server is told of a message. */
interface Mark {
  readonly message_id: string;
  readonly mark: "delivered" | "read";
}

export class Receipts {
  readonly #api: VisitorApi;
  readonly #retries: Retries;
  #unreported: readonly Mark[] = [];
  #isBusy = false;

  constructor(api: VisitorApi, retries: Retries) {
    this.#api = api;
    this.#retries = retries;
  }

  /** Returns the messages to the visitor that were not seen in this browser. */
  unseen(messages: readonly WebchatMessage[]): readonly WebchatMessage[] {
    const seen = this.#seenUpTo(messages);
    const late = new Set(this.#late);
    return messages.filter(
      (each) => each.direction === "outbound" && (placeOf(each) > seen || late.has(each.id)),
    );
  }

  /** The place of the last message that was seen in this browser. */
  #seenUpTo(messages: readonly WebchatMessage[]): string {
    // In a new browser, what the visitor answered counts as seen.
    const answered = messages.findLast(({ direction }) => direction === "inbound");
    return (
      this.#api.memory.recall<string>("seen") ?? (answered === undefined ? "" : placeOf(answered))
    );
  }

  /** The messages that were not seen and stand before one that was. */
  get #late(): readonly string[] {
    return this.#api.memory.recall<string[]>("late") ?? [];
  }

  #setLate(ids: readonly string[]): void {
    const kept = ids.slice(-maxMarks);
    this.#api.memory.remember("late", kept.length === 0 ? undefined : kept);
  }

  /**
   * Notes that a message has just come from the stream. `messages` are all other messages that are
   * shown. It may stand before some that the visitor has seen: those that came while it was handed
   * over.
   */
  noteArrival(message: WebchatMessage, messages: readonly WebchatMessage[]): void {
    const place = placeOf(message);
    const last = messages.at(-1);
    // If it is the last one, another tab that has seen it has read the stream before.
    const isLast = last === undefined || place > placeOf(last);
    if (isLast || place > this.#seenUpTo(messages)) return;
    this.#setLate([...this.#late, message.id]);
  }

  /** Reports that the browser has a message. */
  reportDelivered({ id: message_id }: WebchatMessage): void {
    this.#add([{ message_id, mark: "delivered" }]);
  }

  /** Remembers that the visitor sees `unseen`, which are some of `messages`, and reports it. */
  see(unseen: readonly WebchatMessage[], messages: readonly WebchatMessage[]): void {
    const places = [this.#seenUpTo(messages), ...unseen.map(placeOf)];
    const ids = new Set<string>(unseen.map(({ id }) => id));
    this.#setLate(this.#late.filter((id) => !ids.has(id)));
    this.#api.memory.remember("seen", places.toSorted().at(-1));
    this.#add([...ids].map((message_id) => ({ message_id, mark: "read" })));
  }

  #add(marks: readonly Mark[]): void {
    this.#unreported = [...this.#unreported, ...marks].slice(-maxMarks);
    void this.#report();
  }

  /**
   * Reports one mark after another. One that fails for a while is repeated: a visitor who opens a
   * chat with many new messages exceeds the limit of requests.
   */
  async #report(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let mark = this.#unreported[0]; mark !== undefined; mark = this.#unreported[0]) {
      const due = mark;
      await this.#retries.repeat(() => this.#send(due), mayRecover);
      this.#unreported = this.#unreported.filter((each) => each !== due);
    }
    this.#isBusy = false;
  }

  /** Resolves with true. */
  async #send(mark: Mark): Promise<boolean> {
    const init = { method: "POST", body: JSON.stringify(mark) };
    await this.#api.inSession(async (session) => {
      try {
        await this.#api.request(session, "marks", init);
      } catch (error) {
        // A message that the server does not know, such as an erased one, needs no mark. If the
        // session is gone too, other requests notice it.
        if (!(error instanceof Refused) || error.status !== 404) throw error;
      }
    });
    return true;
  }

  /** Forgets all that was seen, since it belongs to another contact. */
  forget(): void {
    this.#unreported = [];
    this.#api.memory.remember("seen", undefined);
    this.#setLate([]);
  }
}
