import { Browser } from "./browser.ts";
import type { World } from "./world.ts";

/** Those who came to the host's pages to chat. */
export class Visitors {
  readonly browsers: Browser[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  get present(): readonly Browser[] {
    return this.browsers.filter(({ isGone }) => !isGone);
  }

  /** All lines break. */
  cut(): void {
    for (const browser of this.browsers) browser.cut();
  }

  /** Somebody new, or one whom the host knows. */
  async come(contact_id?: string): Promise<void> {
    const { clients, words } = this.#world;
    const input = contact_id === undefined ? { name: `Visitor ${words.draw()}` } : { contact_id };
    const idempotencyKey = clients.drawKey();
    const answer = await clients.persist((engine) =>
      engine.webchat.open(input, { idempotencyKey }),
    );
    if (answer.kind !== "done") return;
    const { id: session_id, token, contact_id: known } = answer.value;
    // The token is told once, and it was told to nobody: the host opens another one, and the browser wants all that there is.
    if (token === null) return this.#comeAgain(known);
    this.#enter({ session_id, token, contact_id: known, after: undefined });
  }

  async #comeAgain(contact_id: string): Promise<void> {
    const { clients } = this.#world;
    for (;;) {
      const idempotencyKey = clients.drawKey();
      const answer = await clients.persist((engine) =>
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
      `visitor of ${contact_id} comes in as ${session_id}`,
    );
    this.browsers.push(new Browser(this.#world, admission));
  }
}
