/** Sends what the visitor wrote, one message after another, in order. */
import type { WebchatMessage } from "../../../../../src/index.ts";
import type { BrowserTabs } from "../connection/browser-tabs.ts";
import { mayRecover, type Retries } from "../connection/retries.ts";
import type { Session } from "../connection/session.ts";
import { Refused, type VisitorApi } from "../connection/visitor-api.ts";
import type { Outbox, Pending } from "./outbox.ts";

/** What a sender works with. */
export interface SenderContext {
  readonly api: VisitorApi;
  readonly outbox: Outbox;
  readonly retries: Retries;
  readonly tabs: BrowserTabs;
  /** The outbox has changed. */
  readonly onChange: () => void;
  readonly onSent: (client_id: string, message: WebchatMessage) => void;
}

export class Sender {
  readonly #context: SenderContext;
  #isBusy = false;
  /** The message that was tried last. */
  #tried: Pending | undefined;

  constructor(context: SenderContext) {
    this.#context = context;
  }

  /** Sends all that waits. */
  async flush(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    const { outbox, retries, onChange } = this.#context;
    while (outbox.next !== undefined) {
      await retries.repeat(
        () => this.#sendNext(),
        (error) => this.#noteFailure(error),
      );
      onChange();
    }
    this.#isBusy = false;
  }

  /**
   * Resolves with true when the next message needs no more work. All tabs have the outbox, and the
   * one whose turn it is sends.
   */
  async #sendNext(): Promise<boolean> {
    const { api, outbox, tabs } = this.#context;
    await tabs.inTurn(async () => {
      const item = outbox.next;
      this.#tried = item;
      if (item !== undefined) await api.inSession((session) => this.#send(session, item));
    });
    return true;
  }

  async #send(session: Session, item: Pending): Promise<void> {
    const { api, outbox, onSent } = this.#context;
    const { client_id, body } = item;
    // It may have been sent in an earlier session: before this call, or in its first attempt.
    const sentIn = outbox.find(item)?.sentIn ?? session.id;
    if (sentIn !== session.id) {
      outbox.change(item, { state: "unconfirmed" });
      return;
    }
    outbox.change(item, { sentIn });
    try {
      const init = { method: "POST", body: JSON.stringify({ body, client_id }) };
      const response = await api.request(session, "messages", init);
      onSent(client_id, (await response.json()) as WebchatMessage);
    } catch (error) {
      // A message that was refused is surely not stored.
      const isRefused = error instanceof Refused && error.status < 500;
      if (isRefused) outbox.change(item, { sentIn: undefined });
      throw error;
    }
  }

  /** Shows that the message was not sent. Returns whether to try again. */
  #noteFailure(error: unknown): boolean {
    const { outbox, onChange } = this.#context;
    const goesOn = mayRecover(error);
    if (this.#tried !== undefined) {
      outbox.change(this.#tried, { state: goesOn ? "waiting" : "failed" });
    }
    onChange();
    return goesOn;
  }
}
