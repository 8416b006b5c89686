/** Calls the policies of the host application on one message. */
import { PolicyFailure, withDeadline } from "../../kernel/index.ts";
import {
  withoutMessage,
  type Clock,
  type Logger,
  type NamedVerdict,
  type Policy,
  type PolicyFacts,
  type Verdict,
} from "../../ports/index.ts";
import { checkVerdict, UnusableVerdict } from "./check-verdict.ts";
import { NeedsTransaction, type PolicyHandle } from "./policy-handle.ts";

interface PolicyEvaluatorOptions {
  readonly policies: readonly Policy[];
  readonly clock: Clock;
  /** Aborts at the deadline of a stop. Evaluations that still wait for a policy then fail. */
  readonly stopDeadline: AbortSignal;
}

/** The verdicts of all policies on a message, in order. */
export type Verdicts = readonly NamedVerdict[];

/**
 * An evaluation that did not end at once: a policy returned a promise, has failed or needs a
 * transaction.
 */
export interface OpenEvaluation {
  /**
   * Waits for the policies that are left.
   * @throws NeedsTransaction if a policy needs the handle of a transaction; FailedEvaluation if one
   *   fails; `shutting_down` at the deadline of a stop
   */
  finish(): Promise<Verdicts>;
}

/** Maximum duration of one evaluation of a policy, in milliseconds. */
const maxPolicyMs = 5_000;

export class PolicyEvaluator {
  readonly #options: PolicyEvaluatorOptions;

  constructor(options: PolicyEvaluatorOptions) {
    this.#options = options;
  }

  /**
   * Evaluates every policy in order: after one denies, another may give a more specific reason.
   * Returns the verdicts if every policy decides at once. Never throws.
   */
  evaluate(facts: PolicyFacts, handle: PolicyHandle): Verdicts | OpenEvaluation {
    const verdicts: NamedVerdict[] = [];
    for (const policy of this.#options.policies) {
      const verdict = this.#call(policy, facts, handle);
      if (verdict instanceof Promise || handle.isMissed) {
        return { finish: () => this.#finish(facts, handle, verdicts, verdict) };
      }
      verdicts.push({ policy: policy.name, ...verdict });
    }
    return verdicts;
  }

  /** Returns a rejected promise if the policy fails. Nobody has to handle the rejection. */
  #call(policy: Policy, facts: PolicyFacts, { value }: PolicyHandle): Verdict | Promise<Verdict> {
    const { stopDeadline } = this.#options;
    let evaluated: Promise<Verdict>;
    try {
      stopDeadline.throwIfAborted();
      // By the types of the engine, its policies accept the transaction handles of its storage.
      const returned = policy.evaluate(facts, value);
      if (!isThenable(returned)) return checkVerdict(returned, facts.now);
      evaluated = Promise.resolve(returned);
    } catch (error) {
      evaluated = Promise.reject(error);
    }
    evaluated.catch(() => {});
    return evaluated;
  }

  /** Waits for the first policy that has not decided. Then calls the later ones in order. */
  async #finish(
    facts: PolicyFacts,
    handle: PolicyHandle,
    decided: readonly NamedVerdict[],
    next: Verdict | Promise<Verdict>,
  ): Promise<Verdicts> {
    if (handle.isMissed) throw new NeedsTransaction(facts);
    const verdicts = [...decided];
    for (const policy of this.#options.policies.slice(decided.length)) {
      const isNext = verdicts.length === decided.length;
      const verdict = isNext ? next : this.#call(policy, facts, handle);
      verdicts.push(await this.#wait(policy, facts, handle, verdict));
    }
    return verdicts;
  }

  async #wait(
    policy: Policy,
    facts: PolicyFacts,
    handle: PolicyHandle,
    called: Verdict | Promise<Verdict>,
  ): Promise<NamedVerdict> {
    try {
      const verdict =
        called instanceof Promise
          ? await this.#inTime(handle.untilMissed(called), facts.now)
          : called;
      if (!handle.isMissed) return { policy: policy.name, ...verdict };
    } catch (error) {
      this.#options.stopDeadline.throwIfAborted();
      if (!handle.isMissed) throw new FailedEvaluation(policy.name, facts, error);
    }
    // The policy had no open transaction, so its verdict or error does not count.
    throw new NeedsTransaction(facts);
  }

  async #inTime(evaluating: Promise<Verdict>, now: number): Promise<Verdict> {
    const late = (): never => {
      throw new UnusableVerdict(`The policy took longer than ${maxPolicyMs} ms.`);
    };
    const { clock, stopDeadline } = this.#options;
    const evaluated = await withDeadline(clock, maxPolicyMs, () => evaluating, late, stopDeadline);
    return checkVerdict(evaluated, now);
  }
}

/** A failure that is not logged yet. The policies may be evaluated again. */
export class FailedEvaluation extends PolicyFailure {
  // Private, so that a log of the error does not contain the message.
  readonly #facts: PolicyFacts;
  readonly #policy: string;

  constructor(policy: string, facts: PolicyFacts, cause: unknown) {
    super(policy, cause);
    this.#policy = policy;
    this.#facts = facts;
  }

  log(logger: Logger): void {
    const { account_id, mode, message } = this.#facts;
    // An error of the policy itself may quote the message.
    const err = this.cause instanceof UnusableVerdict ? this.cause : withoutMessage(this.cause);
    const ids = { policy: this.#policy, account_id, mode, message_id: message.id };
    logger.error({ err, ...ids }, "a policy failed");
  }
}

/**
 * Whether a policy returned a promise. Query builders return their own thenables, and under
 * Jest the promises of Node's modules are not instances of the global `Promise`.
 */
function isThenable(evaluated: Verdict | PromiseLike<Verdict>): evaluated is PromiseLike<Verdict> {
  const { then } = (evaluated ?? {}) as Partial<PromiseLike<Verdict>>;
  return typeof then === "function";
}
