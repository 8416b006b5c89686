import { getOrInsert } from "../../src/kernel/cache.ts";
import type { Policy, Verdict } from "../../src/ports/policy.ts";
import { maxDelayMs } from "./faults.ts";
import type { World } from "./world.ts";

/** A policy of the host application that denies or defers messages at random, or fails. */
export class HostPolicy {
  readonly #world: World;
  /**
   * The times at which a message was allowed, by engine and message. An engine may evaluate the
   * policy twice at once and throw one result away, so only the time tells which one it has used.
   */
  readonly #allowedAt = new Map<string, Set<number>>();

  constructor(world: World) {
    this.#world = world;
  }

  forEngine(engine: string): Policy {
    return {
      name: "random",
      evaluate: ({ message: { id }, now }) => {
        const verdict = this.#verdict(now);
        if (id !== null && verdict.verdict === "allow") {
          getOrInsert(this.#allowedAt, `${engine} ${id}`, () => new Set<number>()).add(now);
        }
        return verdict;
      },
    };
  }

  /** Whether the policy allowed a message at a time, in milliseconds. */
  allowed(engine: string, message_id: string, at: number): boolean {
    return this.#allowedAt.get(`${engine} ${message_id}`)?.has(at) === true;
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
