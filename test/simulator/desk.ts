import type { CommandOptions } from "../../src/handles.ts";
import type { MessagingEngine } from "../../adapters/entry.ts";
import type { Answer } from "./clients.ts";
import type { World } from "./world.ts";

/** One thing that an operator asks of an engine; it goes in with the options, under whose key it can be asked again. */
export type Errand<T> = (engine: MessagingEngine, options: CommandOptions) => Promise<T>;

export interface Merge {
  readonly survivor: string;
  readonly other: string;
}

/** What was asked of and not answered yet; and of which there was no answer, for that may come to be at any time. */
class Underway {
  readonly #asked = new Map<string, number>();

  begin(id: string): void {
    this.#asked.set(id, (this.#asked.get(id) ?? 0) + 1);
  }

  end(id: string): void {
    this.#asked.set(id, (this.#asked.get(id) ?? 0) - 1);
  }

  has(id: string): boolean {
    return (this.#asked.get(id) ?? 0) > 0;
  }
}

/** What the host's people have asked for, kept outside the engines. */
export class Desk {
  /** Conversations that somebody is marking read. */
  readonly reading = new Underway();
  /** Conversations that somebody is opening by hand; and contacts and numbers with whom. */
  readonly opening = new Underway();
  /** Conversations that somebody is giving to others, and contacts whose. */
  readonly handling = new Underway();
  /** Runs whose actions somebody wanted to approve. */
  readonly approvals = new Set<string>();
  /** Agents that somebody wanted disabled or deleted. */
  readonly dismissed = new Set<string>();
  /** Contacts that somebody wanted erased. */
  readonly erasures = new Set<string>();
  /** Those of which it was answered that they are, and merges that were answered, in the order of the answers. */
  readonly erased: string[] = [];
  readonly merged: Merge[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Asks until there is an answer, or once and never mind. `subject` is whose matter it is: a contact, an agent, or both. */
  async run<T>(
    says: string,
    subject: string | readonly string[],
    errand: Errand<T>,
  ): Promise<Answer<T>> {
    const { clients, dice, trace } = this.#world;
    const about = says.match(/\b(?:ct|conv|wh|dlv|agt|run)_[0-9A-Z]{26}\b/g) ?? [];
    trace.note(about, `operator: ${says}`);
    const answer = dice.chance(0.75)
      ? await this.#insist(errand)
      : await clients.ask((engine) => errand(engine, {}));
    trace.note(
      about,
      `operator: ${says}: ${answer.kind === "refused" ? answer.code : answer.kind}`,
    );
    if (answer.kind === "refused") this.#judge(says, [subject].flat(), answer.code);
    return answer;
  }

  #insist<T>(errand: Errand<T>): Promise<Answer<T>> {
    const { clients } = this.#world;
    const idempotencyKey = clients.drawKey();
    return clients.persist((engine) => errand(engine, { idempotencyKey }));
  }

  #judge(says: string, subjects: readonly string[], code: string): void {
    if (code === "not_found" && !subjects.some((id) => this.#world.registry.isGone(id))) {
      this.#world.accuse(
        "what was acknowledged is there",
        subjects,
        `${says} was answered ${code}`,
      );
    } else if (!expected.has(code)) {
      this.#world.accuse("no surprises", subjects, `${says} was answered ${code}`);
    }
  }
}

/** What may become of a request while others work on the same. */
const expected = new Set([
  "not_found",
  "erased",
  "conflict",
  "validation_failed",
  "recipient_opted_out",
  "policy_denied",
]);
