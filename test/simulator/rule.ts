import type { Policy, Verdict } from "../../src/ports/policy.ts";
import { longest } from "./faults.ts";
import type { World } from "./world.ts";

/** A rule of the host's that now and then denies a message, puts it off, or fails. */
export class Rule {
  readonly #world: World;
  /** What it last said to an engine of a message. */
  readonly #last = new Map<string, Verdict["verdict"]>();

  constructor(world: World) {
    this.#world = world;
  }

  asked(engine: string): Policy {
    return {
      name: "whims",
      evaluate: ({ message: { id }, now }) => {
        const verdict = this.#verdict(now);
        if (id !== null) this.#last.set(`${engine} ${id}`, verdict.verdict);
        return verdict;
      },
    };
  }

  lastTo(engine: string, message_id: string): Verdict["verdict"] | undefined {
    return this.#last.get(`${engine} ${message_id}`);
  }

  #verdict(now: number): Verdict {
    const { dice, faults } = this.#world;
    if (dice.chance(faults.ruleFails)) throw new Error("the rule fails");
    if (dice.chance(faults.ruleDenies)) {
      return { verdict: "deny", code: "whim", message: "Not today." };
    }
    if (!dice.chance(faults.ruleDefers)) return { verdict: "allow" };
    return { verdict: "defer", until: now + dice.between(1, longest.deferral), reason: "Not now." };
  }
}
