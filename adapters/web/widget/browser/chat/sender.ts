/** Sends what the visitor wrote, one message after another, in order. */
import type { WebchatMessage } from "../../../../../src/index.ts";
import { mayRecover, type Retries } from "../connection/retries.ts";
import type { Session } from "../connection/session.ts";
import { Refused, type VisitorApi } from "../connection/visitor-api.ts";
import type { Outbox, Pending } from "./outbox.ts";

export class Sender {
  readonly #api: VisitorApi;
  readonly #outbox: Outbox;
  readonly #retries: Retries;
  readonly #onChange: () => void;
  readonly #onSent: (client_id: string, message: WebchatMessage) => void;
  #isBusy = false;

  constructor(
    api: VisitorApi,
    outbox: Outbox,
    retries: Retries,
    on: { change: () => void; sent: (client_id: string, message: WebchatMessage) => void },
  ) {
    this.#api = api;
    this.#outbox = outbox;
    this.#retries = retries;
    this.#onChange = on.change;
    this.#onSent = on.sent;
  }

  /** Sends all that waits. */
  async flush(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    while (this.#outbox.next !== undefined) {
      await this.#retries.repeat(
        () => this.#sendNext(),
        (error) => this.#noteFailure(error),
      );
      this.#onChange();
    }
    this.#isBusy = false;
  }

  /** Resolves with true when the next message needs no more work. */
  async #sendNext(): Promise<boolean> {
    const item = this.#outbox.next;
    if (item !== undefined) await this.#api.inSession((session) => this.#send(session, item));
    return true;
  }

  async #send(session: Session, item: Pending): Promise<void> {
    const { client_id, body } = item;
    // It may have been sent in an earlier session: before this call, or in its first attempt.
    const sentIn = this.#outbox.find(item)?.sentIn ?? session.id;
    if (sentIn !== session.id) {
      this.#outbox.change(item, { state: "unconfirmed" });
      return;
    }
    this.#outbox.change(item, { sentIn });
    try {
      const init = { method: "POST", body: JSON.stringify({ body, client_id }) };
      const response = await this.#api.request(session, "messages", init);
      this.#onSent(client_id, (await response.json()) as WebchatMessage);
    } catch (error) {
      // A message that was refused is surely not stored.
      const isRefused = error instanceof Refused && error.status < 500;
      if (isRefused) this.#outbox.change(item, { sentIn: undefined });
      throw error;
    }
  }

  /** Shows that the next message was not sent. Returns whether to try again. */
  #noteFailure(error: unknown): boolean {
    const item = this.#outbox.next;
    const goesOn = mayRecover(error);
    if (item !== undefined) {
      this.#outbox.change(item, { state: goesOn ? "waiting" : "failed" });
    }
    this.#onChange();
    return goesOn;
  }
}
