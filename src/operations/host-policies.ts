/**
 * Asks the host's policies. They may ask the host's own tables, which takes time that no command has: so a command that finds a message
 * to be judged is broken off, a transaction is opened, the policies are asked in it, and the command is run in it too. What is judged by
 * nobody, and an engine without policies, pays nothing for that.
 */
import { AskedOpinions, noOpinions, Unasked } from "./opinions.ts";
import { maxScheduleAhead, type Scope, TidingsError, withDeadline } from "../kernel/index.ts";
import type { Clock, HostOpinions, Opinion, Policy, PolicyFacts, Verdict } from "../ports/index.ts";
import { Semaphore } from "../queue/index.ts";
import type { Store, Tx } from "../store/index.ts";

export interface HostPoliciesOptions {
  readonly policies: readonly Policy[];
  readonly store: Store;
  readonly clock: Clock;
  /** Transactions that may be open for this at once; without any the policies are asked between two runs of the command. */
  readonly transactions: number;
}

export interface JudgedCommit {
  /** The host's, where the command is to join its open transaction. */
  readonly handle?: unknown;
  /** The engine's own work. */
  readonly own?: boolean;
}

type Work<T> = (tx: Tx, opinions: HostOpinions) => Promise<T>;

/** How long a policy may take, in milliseconds. */
const policyMs = 5_000;
/** Messages that one command may find to be judged, one after the other. */
const maxAsked = 100;
/** How often a transaction is opened for one command that meets conflicts. */
const maxTries = 8;
/** Commands that may wait for a transaction. */
const maxWaiting = 10_000;

export class HostPolicies {
  readonly #options: HostPoliciesOptions;
  readonly #transactions: Semaphore;

  constructor(options: HostPoliciesOptions) {
    this.#options = options;
    const busy = (): Error =>
      new TidingsError("overloaded", "Too many messages wait for the policies. Try again.");
    this.#transactions = new Semaphore(options.transactions, maxWaiting, busy);
  }

  /**
   * Runs a command in a scope and answers when it is committed.
   * @throws TidingsError `internal`, retryable, where a policy failed; and what the command and its transaction throw
   */
  async commit<T>(
    scope: Scope,
    work: Work<T>,
    { handle, own = false }: JudgedCommit = {},
  ): Promise<T> {
    const { policies, store, transactions } = this.#options;
    const commit = <U>(alone: (tx: Tx) => Promise<U>): Promise<U> =>
      handle === undefined
        ? store.commit(scope, alone, { own })
        : store.within(handle, scope, alone);
    if (policies.length === 0) return commit((tx) => work(tx, noOpinions));
    if (handle !== undefined || transactions === 0) return this.#judged(work, commit, handle);
    try {
      const unasked = new AskedOpinions();
      return await commit((tx) => work(tx, unasked));
    } catch (error) {
      if (!(error instanceof Unasked)) throw error;
    }
    return this.#transactions.run(() => this.#inTransaction(scope, work, own));
  }

  async #inTransaction<T>(scope: Scope, work: Work<T>, own: boolean): Promise<T> {
    const { store } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        return await store.transaction(
          (handle) => this.#judged(work, (alone) => store.within(handle, scope, alone), handle),
          {
            own,
          },
        );
      } catch (error) {
        const isContended = error instanceof TidingsError && error.code === "storage_contended";
        if (!isContended || tries >= maxTries) throw error;
      }
    }
  }

  /** Runs a command as often as it finds what nobody has judged yet. A run that is broken off leaves nothing. */
  async #judged<T>(
    work: Work<T>,
    commit: (alone: (tx: Tx) => Promise<T>) => Promise<T>,
    handle: unknown,
  ): Promise<T> {
    const opinions = new AskedOpinions();
    for (let asked = 0; asked < maxAsked; asked++) {
      try {
        return await commit((tx) => work(tx, opinions));
      } catch (error) {
        if (!(error instanceof Unasked)) throw error;
        opinions.keep(error.facts, await this.#ask(error.facts, handle));
      }
    }
    throw new TidingsError(
      "storage_contended",
      "What the policies judge by kept changing. Try again.",
    );
  }

  /** All of them, in their order: what one denies, another one may know a better reason for. */
  async #ask(facts: PolicyFacts, handle: unknown): Promise<readonly Opinion[]> {
    const opinions: Opinion[] = [];
    for (const policy of this.#options.policies) {
      try {
        // The storage that gives the handle says what it is, and the engine's type that the policies take it.
        const evaluated = policy.evaluate(facts, handle as object | undefined);
        const verdict = evaluated instanceof Promise ? await this.#inTime(evaluated) : evaluated;
        opinions.push({ policy: policy.name, ...sound(verdict, facts.now) });
      } catch (cause) {
        throw new TidingsError("internal", `The policy ${policy.name} failed; nothing was sent.`, {
          cause,
        });
      }
    }
    return opinions;
  }

  #inTime<T>(evaluating: Promise<T>): Promise<T> {
    const late = (): never => {
      throw new Error(`It took longer than ${policyMs} ms.`);
    };
    return withDeadline(this.#options.clock, policyMs, () => evaluating, late);
  }
}

/** What a policy answered, if it is a verdict: its author may not have been held to types. */
function sound(answered: unknown, now: number): Verdict {
  const { verdict, code, message, until, reason } = (answered ?? {}) as {
    readonly [K in keyof AnyVerdict]: unknown;
  };
  if (verdict === "allow") return { verdict };
  if (
    verdict === "deny" &&
    typeof code === "string" &&
    /^[a-z][a-z0-9_]{0,63}$/.test(code) &&
    isText(message)
  ) {
    return { verdict, code, message };
  }
  if (
    verdict === "defer" &&
    typeof until === "number" &&
    until <= now + maxScheduleAhead &&
    isText(reason)
  ) {
    return until > now ? { verdict, until: Math.ceil(until), reason } : { verdict: "allow" };
  }
  throw new TypeError(
    "It answered no verdict: { verdict: allow }, { verdict: deny, code, message } or { verdict: defer, until, reason }.",
  );
}

interface AnyVerdict {
  verdict: string;
  code: string;
  message: string;
  until: number;
  reason: string;
}

/** What the database takes, and who reads it. */
function isText(text: unknown): text is string {
  return (
    typeof text === "string" && text.length <= 1_000 && text.isWellFormed() && !text.includes("\0")
  );
}
