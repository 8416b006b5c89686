import type { MessagingEngine } from "../../adapters/entry.ts";
import type { CommandOptions } from "../../src/operations/handle-methods.ts";
import { told, type Answer } from "./clients.ts";
import { laws } from "./invariant.ts";
import type { World } from "./world.ts";

/** A call to the API, with the options that carry its idempotency key. */
export type ApiCall<T> = (engine: MessagingEngine, options: CommandOptions) => Promise<T>;

export interface Merge {
  readonly survivor: string;
  readonly other: string;
}

/**
 * The ids that calls under way concern. A call whose outcome is unknown stays in here, since it
 * may take effect at any time.
 */
class InFlight {
  readonly #calls = new Map<string, number>();

  begin(id: string): void {
    this.#calls.set(id, (this.#calls.get(id) ?? 0) + 1);
  }

  end(id: string): void {
    this.#calls.set(id, (this.#calls.get(id) ?? 0) - 1);
  }

  has(id: string): boolean {
    return (this.#calls.get(id) ?? 0) > 0;
  }
}

/** The people who work at the host application, with a record of what they asked for. */
export class Operators {
  /** Conversations that somebody is marking as read. */
  readonly markingRead = new InFlight();
  /** Conversations that somebody is marking as unread. */
  readonly markingUnread = new InFlight();
  /** Conversations that somebody is opening, and the contacts and numbers they are with. */
  readonly opening = new InFlight();
  /** Conversations that somebody is assigning or handing off, and their contacts. */
  readonly assigning = new InFlight();
  /** Conversations that somebody is closing. */
  readonly closing = new InFlight();
  /** Runs that somebody asked to approve. */
  readonly approvedRuns = new Set<string>();
  /** Agents that somebody asked to disable or delete. */
  readonly removedAgents = new Set<string>();
  /** Contacts that somebody asked to erase. */
  readonly requestedErasures = new Set<string>();
  /** Erasures and merges that were acknowledged, in the order of the answers. */
  readonly completedErasures: string[] = [];
  readonly completedMerges: Merge[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Whether somebody asked to erase the contact, or one that was merged with it. */
  erases(contact_id: string): boolean {
    const { history } = this.#world;
    const survivor = history.survivorOf(contact_id);
    return [...this.requestedErasures].some((id) => history.survivorOf(id) === survivor);
  }

  /**
   * Makes a call: mostly under an idempotency key until it is answered, else once without a key.
   * A call may be refused as `not_found` only if one of its `subjects` is erased or deleted.
   */
  async request<T>(
    text: string,
    subjects: string | readonly string[],
    call: ApiCall<T>,
  ): Promise<Answer<T>> {
    const { clients, dice, trace } = this.#world;
    const about = text.match(/\b(?:ct|conv|wh|dlv|agt|run)_[0-9A-Z]{26}\b/g) ?? [];
    trace.note(about, `operator: ${text}`);
    const answer = dice.chance(0.75)
      ? await this.#retry(call, about)
      : await clients.ask((engine) => call(engine, {}));
    trace.note(about, `operator: ${text}: ${told(answer)}`);
    if (answer.kind === "refused") this.#checkRefusal(text, [subjects].flat(), answer.code);
    return answer;
  }

  #retry<T>(call: ApiCall<T>, about: readonly string[]): Promise<Answer<T>> {
    const { clients } = this.#world;
    const idempotencyKey = clients.nextKey();
    return clients.askUntilAnswered((engine) => call(engine, { idempotencyKey }), about);
  }

  #checkRefusal(text: string, subjects: readonly string[], code: string): void {
    const description = `the request "${text}" was refused as ${code}`;
    if (code === "not_found" && !subjects.some((id) => this.#world.history.isGone(id))) {
      this.#world.report(laws.acknowledgedIsStored, subjects, description);
    } else if (!expectedCodes.has(code)) {
      this.#world.report(laws.noUnexpectedErrors, subjects, description);
    }
  }
}

/** The refusals that a request may meet while others work on the same resources. */
const expectedCodes = new Set([
  "not_found",
  "erased",
  "conflict",
  "validation_failed",
  "recipient_opted_out",
  "policy_denied",
]);
