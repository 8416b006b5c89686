/** What policies of the host application get as `tx`. */
import type { PolicyFacts } from "../../ports/index.ts";

export interface PolicyHandle {
  readonly value: object | undefined;
  /** Whether a policy has used the handle although its transaction is not open. */
  readonly isMissed: boolean;
  /** Waits for a policy. Rejects as soon as the policy uses a handle that is not open. */
  untilMissed<T>(evaluating: Promise<T>): Promise<T>;
}

/** A handle of an open transaction, or undefined if the storage has no transactions. */
export function handleOf(value: unknown): PolicyHandle {
  return {
    value: value as object | undefined,
    isMissed: false,
    untilMissed: (evaluating) => evaluating,
  };
}

/** What each method of an unopened handle returns. */
const neverSettled = (): Promise<never> => new Promise(() => {});

/**
 * Stands for the handle of a transaction that is opened only if a policy needs it. Most policies
 * decide by the facts, or query only for some messages. Whatever a policy does with this object, it
 * first reads a property of it. Then the verdict no longer counts, and the policies are evaluated
 * again with the handle of an open transaction.
 *
 * Queries through this object never settle. If they failed, a policy that has started two queries
 * and awaits one would leave the rejection of the other unhandled, which ends a Node process. Code
 * that uses the promise as a statement or a row, without awaiting it, throws by itself.
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
    // Every operation on the outer proxy reads its trap from the inner one.
    const traps = { get: (_: object, trap: string) => (trap === "get" ? miss : missAndFail) };
    this.value = new Proxy({}, new Proxy({}, traps));
  }

  get isMissed(): boolean {
    return this.#isMissed;
  }

  untilMissed<T>(evaluating: Promise<T>): Promise<T> {
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
