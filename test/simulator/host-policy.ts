import type { Policy, Verdict } from "../../src/ports/policy.ts";
import { maxDelayMs } from "./faults.ts";
import type { World } from "./world.ts";

/** A policy of the host application that denies or defers messages at random, or fails. */
export class HostPolicy {
  readonly #world: World;
  /** The last verdict by engine and message. */
  readonly #last = new Map<string, Verdict["verdict"]>();

  constructor(world: World) {
    this.#world = world;
  }

  forEngine(engine: string): Policy {
    return {
      name: "random",
      evaluate: ({ message: { id }, now }) => {
        const verdict = this.#verdict(now);
        if (id !== null) this.#last.set(`${engine} ${id}`, verdict.verdict);
        return verdict;
      },
    };
  }

  lastVerdict(engine: string, message_id: string): Verdict["verdict"] | undefined {
    return this.#last.get(`${engine} ${message_id}`);
  }

  #verdict(now: number): Verdict {
    const world = this.#world;
    const { dice } = world;
    if (world.occurs("policyFails", "policy")) throw new Error("the policy fails");
    if (world.occurs("policyDenies", "policy")) {
      return { verdict: "deny", code: "random", message: "Not today." };
    }
    if (!world.occurs("policyDefers", "policy")) return { verdict: "allow" };
    const until = now + dice.between(1, maxDelayMs.deferral);
    return { verdict: "defer", until, reason: "Not now." };
  }
}
