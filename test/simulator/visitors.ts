import { Browser } from "./browser.ts";
import type { World } from "./world.ts";

/** The visitors who chat on the host application's web pages. */
export class WebchatVisitors {
  readonly browsers: Browser[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  get present(): readonly Browser[] {
    return this.browsers.filter(({ isGone }) => !isGone);
  }

  /** Drops all connections. */
  disconnectAll(): void {
    for (const browser of this.browsers) browser.disconnect();
  }

  /** Opens a session for a new visitor, or for a known contact. */
  async open(contact_id?: string): Promise<void> {
    const { clients, words } = this.#world;
    const input = contact_id === undefined ? { name: `Visitor ${words.next()}` } : { contact_id };
    const idempotencyKey = clients.nextKey();
    const answer = await clients.askUntilAnswered((engine) =>
      engine.webchat.open(input, { idempotencyKey }),
    );
    if (answer.kind !== "done") return;
    const { id: session_id, token, contact_id: known } = answer.value;
    // The token is returned only once. If that answer was lost, the visitor needs a new session,
    // and reads its whole mailbox.
    if (token === null) return this.#openAgain(known);
    this.#enter({ session_id, token, contact_id: known, after: undefined });
  }

  async #openAgain(contact_id: string): Promise<void> {
    const { clients } = this.#world;
    for (;;) {
      const idempotencyKey = clients.nextKey();
      const answer = await clients.askUntilAnswered((engine) =>
        engine.webchat.open({ contact_id }, { idempotencyKey }),
      );
      if (answer.kind !== "done") return;
      const { id: session_id, token } = answer.value;
      if (token !== null) return this.#enter({ session_id, token, contact_id, after: 0 });
    }
  }

  #enter(admission: Browser["admission"]): void {
    const { session_id, contact_id } = admission;
    this.#world.trace.note(
      [session_id, contact_id],
      `visitor ${contact_id} opens session ${session_id}`,
    );
    this.browsers.push(new Browser(this.#world, admission));
  }
}
