/** What the visitor has seen: the number of unread messages, and the marks for the server. */
import type { WebchatMessage } from "../../../../src/index.ts";
import { placeOf } from "./thread.ts";
import type { VisitorApi } from "./visitor-api.ts";
import { Refused } from "./visitor-api.ts";

/** Marks that may wait to be reported. */
const maxMarks = 100;

export class Receipts {
  readonly #api: VisitorApi;
  #toMark: readonly string[] = [];
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
    this.#toMark = [...this.#toMark, ...messages.map(({ id }) => id)].slice(-maxMarks);
    void this.report();
  }

  /** Reports what was read and not reported yet. */
  async report(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let id = this.#toMark[0]; id !== undefined; id = this.#toMark[0]) {
      if (!(await this.mark(id, "read"))) break;
      this.#toMark = this.#toMark.filter((each) => each !== id);
    }
    this.#isBusy = false;
  }

  /** Resolves with false if the mark must be reported again. */
  async mark(message_id: string, mark: "delivered" | "read"): Promise<boolean> {
    try {
      const init = { method: "POST", body: JSON.stringify({ message_id, mark }) };
      await this.#api.request(await this.#api.session(), "marks", init);
    } catch (error) {
      // A message that the server does not know, such as an erased one, needs no mark.
      return error instanceof Refused && !error.isTemporary;
    }
    return true;
  }

  forget(): void {
    this.#toMark = [];
    this.#api.memory.remember("seen", undefined);
  }
}
