/**
 * Evaluates the policies of the host application. A command calls them itself, and goes on if they
 * decide at once by the facts. But it cannot wait for a policy, and it has no handle with which a
 * policy could query the host application's tables. If a policy needs time or a handle, the command
 * is interrupted. It runs again when the policies have decided, in a transaction if one queries.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { TidingsError, type Scope } from "../../kernel/index.ts";
import type { Clock, HostVerdicts, Logger, Policy, PolicyFacts } from "../../ports/index.ts";
import type { Origin, Store, Tx } from "../../store/index.ts";
import {
  FailedEvaluation,
  PolicyEvaluator,
  type OpenEvaluation,
  type Verdicts,
} from "./evaluate-policies.ts";
import { handleOf, NeedsTransaction, UnopenedHandle } from "./policy-handle.ts";
import { PolicyTransactions } from "./policy-transactions.ts";

interface HostPoliciesOptions {
  readonly policies: readonly Policy[];
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Maximum number of transactions open for policies. If 0, policies get no handle. */
  readonly transactions: number;
  /** Aborts at the deadline of a stop. Commands that still wait for verdicts then fail. */
  readonly stopDeadline: AbortSignal;
}

interface CommitOptions {
  /** The handle of an open transaction of the host application that the command joins. */
  readonly handle?: unknown;
  /** Who gave the command. By default `caller`. */
  readonly origin?: Origin;
}

/** The body of a command that needs verdicts. */
type Work<T> = (tx: Tx, verdicts: HostVerdicts) => Promise<T>;
/** Runs a body in one transaction. */
type Commit<T> = (body: (tx: Tx) => Promise<T>) => Promise<T>;

/** Maximum number of evaluations that one command waits for. */
const maxEvaluations = 100;

/** Runs commands with the verdicts that they need. */
export class HostPolicies {
  readonly #options: HostPoliciesOptions;
  readonly #evaluator: PolicyEvaluator;
  readonly #transactions: PolicyTransactions;
  /** Whether the last evaluation without a transaction ended at once. */
  #decideAtOnce = true;

  constructor(options: HostPoliciesOptions) {
    this.#options = options;
    this.#evaluator = new PolicyEvaluator(options);
    this.#transactions = new PolicyTransactions(options);
  }

  /**
   * The verdicts for a command that can do without them. Undefined if the policies did not decide
   * at once the last time, since they probably will not now.
   */
  get verdictsAtOnce(): HostVerdicts | undefined {
    if (!this.#hasPolicies) return noVerdicts;
    return this.#decideAtOnce ? this.#withoutTransaction() : undefined;
  }

  /**
   * Runs a command in a scope, with the verdicts that it needs. Resolves when it is committed.
   * @throws TidingsError the retryable `internal` if a policy fails; `shutting_down` if the
   *   verdicts are not there at the deadline of a stop
   */
  async commitWithVerdicts<T>(
    scope: Scope,
    work: Work<T>,
    { handle, origin = "caller" }: CommitOptions = {},
  ): Promise<T> {
    try {
      return await (handle === undefined
        ? this.#commit(scope, work, origin)
        : this.#commitWithin(handle, scope, work));
    } catch (error) {
      if (error instanceof FailedEvaluation) error.log(this.#options.logger);
      throw error;
    }
  }

  /** Runs a command in a group, or in a transaction if a policy queries tables. */
  async #commit<T>(scope: Scope, work: Work<T>, origin: Origin): Promise<T> {
    const { store, clock } = this.#options;
    const commit: Commit<T> = (body) => store.commit(scope, body, { origin });
    if (!this.#hasPolicies) return commit((tx) => work(tx, noVerdicts));
    try {
      return await waitForVerdicts(work, commit, this.#withoutTransaction());
    } catch (error) {
      if (!(error instanceof NeedsTransaction)) throw error;
      const { facts } = error;
      return this.#transactions.run((opened) => {
        // The command may have waited for a long time.
        const now = Math.max(facts.now, clock.now());
        return this.#commitWithin(opened, scope, work, { ...facts, now });
      });
    }
  }

  /**
   * Runs a command in the open transaction of a handle. `facts` are those that the policies will
   * probably get.
   */
  async #commitWithin<T>(
    handle: unknown,
    scope: Scope,
    work: Work<T>,
    facts?: PolicyFacts,
  ): Promise<T> {
    const { store } = this.#options;
    const commit: Commit<T> = (body) => store.within(handle, scope, body);
    if (!this.#hasPolicies) return commit((tx) => work(tx, noVerdicts));
    const opened = handleOf(handle);
    const verdicts = new CommandVerdicts((each) => this.#evaluator.evaluate(each, opened));
    // Otherwise, a policy that needs time would first interrupt the command.
    if (facts !== undefined) await verdicts.collect(facts);
    return waitForVerdicts(work, commit, verdicts);
  }

  get #hasPolicies(): boolean {
    return this.#options.policies.length > 0;
  }

  /** The verdicts of policies that query no tables. */
  #withoutTransaction(): CommandVerdicts {
    const handle = this.#options.transactions === 0 ? handleOf(undefined) : new UnopenedHandle();
    return new CommandVerdicts((facts) => {
      const evaluated = this.#evaluator.evaluate(facts, handle);
      this.#decideAtOnce = !isOpen(evaluated);
      return evaluated;
    });
  }
}

/** Runs a command. If policies interrupt it, it runs again when they have decided. */
async function waitForVerdicts<T>(
  work: Work<T>,
  commit: Commit<T>,
  verdicts: CommandVerdicts,
): Promise<T> {
  for (let count = 0; count < maxEvaluations; count++) {
    try {
      return await commit((tx) => work(tx, verdicts));
    } catch (error) {
      // An interrupted run has written nothing.
      if (!(error instanceof VerdictsOpen)) throw error;
      await verdicts.wait(error);
    }
  }
  throw new TidingsError(
    "storage_contended",
    "The facts that the policies evaluate kept changing. Try again.",
  );
}

/** The verdicts of a host application without policies. */
export const noVerdicts: HostVerdicts = { any: false, of: () => [] };

/** Interrupts a command: the policies have not decided at once. */
class VerdictsOpen extends Error {
  override readonly name = "VerdictsOpen";
  readonly facts: PolicyFacts;
  readonly evaluation: OpenEvaluation;

  constructor(facts: PolicyFacts, evaluation: OpenEvaluation) {
    super("The policies of the host application have not decided.");
    this.facts = facts;
    this.evaluation = evaluation;
  }
}

/**
 * The verdicts for one command with one handle. Those that the command has waited for are used
 * again unless a fact other than the time changed.
 */
class CommandVerdicts implements HostVerdicts {
  readonly any = true;
  readonly #evaluate: (facts: PolicyFacts) => Verdicts | OpenEvaluation;
  readonly #known = new Map<string, Verdicts>();

  constructor(evaluate: (facts: PolicyFacts) => Verdicts | OpenEvaluation) {
    // A group runs the commands of many callers. Each policy must run in the asynchronous context
    // of its own caller.
    this.#evaluate = AsyncLocalStorage.bind(evaluate);
  }

  of(facts: PolicyFacts): Verdicts {
    const known = this.#known.size > 0 ? this.#known.get(cacheKey(facts)) : undefined;
    if (known !== undefined) return known;
    const evaluated = this.#evaluate(facts);
    if (isOpen(evaluated)) throw new VerdictsOpen(facts, evaluated);
    return evaluated;
  }

  /** Evaluates the policies before the command asks for their verdicts. */
  async collect(facts: PolicyFacts): Promise<void> {
    const evaluated = this.#evaluate(facts);
    this.#keep(facts, isOpen(evaluated) ? await evaluated.finish() : evaluated);
  }

  /** Waits for the policies that have interrupted the command. */
  async wait({ facts, evaluation }: VerdictsOpen): Promise<void> {
    this.#keep(facts, await evaluation.finish());
  }

  #keep(facts: PolicyFacts, verdicts: Verdicts): void {
    this.#known.set(cacheKey(facts), verdicts);
  }
}

function isOpen(evaluated: Verdicts | OpenEvaluation): evaluated is OpenEvaluation {
  return "finish" in evaluated;
}

function cacheKey({ now: _, ...facts }: PolicyFacts): string {
  return JSON.stringify(facts);
}
