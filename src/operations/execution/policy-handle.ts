/** What policies of the host application get as `tx`. */
import type { PolicyFacts } from "../../ports/index.ts";

export interface PolicyHandle {
  readonly value: object | undefined;
  /** Whether a policy has used a handle that stands for one of a transaction not yet open. */
  readonly isMissed: boolean;
}

/** A handle of an open transaction, or undefined if the storage has no transactions. */
export function handleOf(value: unknown): PolicyHandle {
  return { value: value as object | undefined, isMissed: false };
}

/**
 * Stands for the handle of a transaction that is opened only if a policy needs it. Most policies
 * decide by the facts, or query only for some messages. Whatever a policy does with a handle, it
 * first reads a property of it, and that throws here. The evaluation is then void, even if the
 * policy catches the error: it is made again with a handle.
 */
export class UnopenedHandle implements PolicyHandle {
  readonly value: object;
  #isMissed = false;

  constructor() {
    const miss = (): never => {
      this.#isMissed = true;
      throw new Error("A policy has used its transaction. It is evaluated again in an open one.");
    };
    // Every operation on the object looks up its trap, and finds `miss`.
    this.value = new Proxy({}, new Proxy({}, { get: () => miss }));
  }

  get isMissed(): boolean {
    return this.#isMissed;
  }
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
