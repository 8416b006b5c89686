/** What policies of the host application get as `tx`. */
import type { PolicyFacts } from "../../ports/index.ts";

export interface PolicyHandle {
  readonly value: object | undefined;
  /** Whether a policy has used a handle that stands for one of a transaction not yet open. */
  readonly isMissed: boolean;
  /** Waits for a policy, but no longer than until it misses its handle. Then it rejects. */
  orMissed<T>(evaluating: Promise<T>): Promise<T>;
}

/** A handle of an open transaction, or undefined if the storage has no transactions. */
export function handleOf(value: unknown): PolicyHandle {
  return {
    value: value as object | undefined,
    isMissed: false,
    orMissed: (evaluating) => evaluating,
  };
}

/** What each method of an unopened handle returns. */
const neverSettled = (): Promise<never> => new Promise(() => {});

/**
 * Stands for the handle of a transaction that is opened only if a policy needs it. Most policies
 * decide by the facts, or query only for some messages. Whatever a policy does with a handle, it
 * first reads a property of it. The evaluation is then void, and is made again with a handle.
 *
 * Queries through it never settle. If they failed, a policy that has started two and awaits one
 * would leave the rejection of the other unhandled, which ends a Node process. Code that does not
 * await its queries fails by itself, since a promise is no statement and no row.
 */
export class UnopenedHandle implements PolicyHandle {
  readonly value: object;
  #isMissed = false;
  #onMiss = (): void => {};

  constructor() {
    const miss = (): typeof neverSettled => {
      this.#isMissed = true;
      this.#onMiss();
      return neverSettled;
    };
    const missAndFail = (): never => {
      miss();
      throw missed();
    };
    // Every operation on the object looks up its trap.
    const traps = { get: (_: object, trap: string) => (trap === "get" ? miss : missAndFail) };
    this.value = new Proxy({}, new Proxy({}, traps));
  }

  get isMissed(): boolean {
    return this.#isMissed;
  }

  orMissed<T>(evaluating: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#onMiss = () => reject(missed());
      if (this.#isMissed) this.#onMiss();
      evaluating.then(resolve, reject);
    });
  }
}

function missed(): Error {
  return new Error("A policy has used its transaction. It is evaluated again in an open one.");
}

/** Interrupts a command: a policy needs the handle of a transaction to decide by these facts. */
export class NeedsTransaction extends Error {
  override readonly name = "NeedsTransaction";
  readonly facts: PolicyFacts;

  constructor(facts: PolicyFacts) {
    super("A policy of the host application queries tables.");
    this.facts = facts;
  }
}
