/** What the visitor has seen: the number of unread messages, and the marks for the server. */
import type { WebchatMessage } from "../../../../../src/index.ts";
import { Refused, type VisitorApi } from "../connection/visitor-api.ts";
import { placeOf } from "./thread.ts";

/** How many marks may wait to be reported. If there are more, the oldest are dropped. */
const maxMarks = 100;

export class Receipts {
  readonly #api: VisitorApi;
  #unreported: readonly string[] = [];
  #isBusy = false;

  constructor(api: VisitorApi) {
    this.#api = api;
  }

  /** Returns the messages to the visitor after the last one that was seen in this browser. */
  unseen(messages: readonly WebchatMessage[]): readonly WebchatMessage[] {
    // In a new browser, what the visitor answered counts as seen.
    const answered = messages.findLast(({ direction }) => direction === "inbound");
    const seen =
      this.#api.memory.recall<string>("seen") ?? (answered === undefined ? "" : placeOf(answered));
    return messages.filter((each) => each.direction === "outbound" && placeOf(each) > seen);
  }

  /** Remembers that the visitor sees these messages, and reports it. */
  see(messages: readonly WebchatMessage[]): void {
    const last = messages.at(-1);
    if (last === undefined) return;
    this.#api.memory.remember("seen", placeOf(last));
    this.#unreported = [...this.#unreported, ...messages.map(({ id }) => id)].slice(-maxMarks);
    void this.report();
  }

  /** Reports what was read. After a failure, the next call goes on. */
  async report(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let id = this.#unreported[0]; id !== undefined; id = this.#unreported[0]) {
      if (!(await this.mark(id, "read"))) break;
      this.#unreported = this.#unreported.filter((each) => each !== id);
    }
    this.#isBusy = false;
  }

  /** Reports one mark. Resolves with false if it must be reported again. */
  async mark(message_id: string, mark: "delivered" | "read"): Promise<boolean> {
    try {
      const init = { method: "POST", body: JSON.stringify({ message_id, mark }) };
      await this.#api.inSession(async (session) => {
        try {
          await this.#api.request(session, "marks", init);
        } catch (error) {
          // A message that the server does not know, such as an erased one, needs no mark. If the
          // session is gone too, other requests notice it.
          if (!(error instanceof Refused) || error.status !== 404) throw error;
        }
      });
    } catch (error) {
      return error instanceof Refused && !error.isTemporary;
    }
    return true;
  }

  /** Forgets all that was seen, since it belongs to another contact. */
  forget(): void {
    this.#unreported = [];
    this.#api.memory.remember("seen", undefined);
  }
}
