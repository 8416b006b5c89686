/**
 * Evaluates the policies of the host application. They may query the host application's tables,
 * which a command cannot wait for. So a command that needs verdicts is interrupted. The engine then
 * opens a transaction, evaluates the policies in it, and runs the command in it too. Commands that
 * need no verdicts have no extra cost.
 */
import {
  PolicyFailure,
  Semaphore,
  TidingsError,
  withDeadline,
  type Scope,
} from "../../kernel/index.ts";
import {
  withoutMessage,
  type Clock,
  type HostVerdicts,
  type Logger,
  type NamedVerdict,
  type Policy,
  type PolicyFacts,
  type Verdict,
} from "../../ports/index.ts";
import { isContended, type Origin, type Store, type Tx } from "../../store/index.ts";
import { checkVerdict, UnusableVerdict } from "./check-verdict.ts";

interface HostPoliciesOptions {
  readonly policies: readonly Policy[];
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * Maximum number of transactions open for policies. If 0, the policies are evaluated between two
   * runs of the command.
   */
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

/** Maximum duration of one evaluation of a policy, in milliseconds. */
const maxPolicyMs = 5_000;
/** Maximum number of evaluations during one command. */
const maxEvaluations = 100;
/** How often a command that meets conflicts gets a new transaction. */
const maxTries = 8;
/** Maximum number of commands that wait for a transaction. */
const maxWaiting = 10_000;

/** Runs commands with the verdicts that they need. */
export class HostPolicies {
  readonly #options: HostPoliciesOptions;
  readonly #transactions: Semaphore;

  constructor(options: HostPoliciesOptions) {
    this.#options = options;
    const busy = (): Error =>
      new TidingsError(
        "overloaded",
        "Too many messages are waiting for policies. Try again later.",
      );
    this.#transactions = new Semaphore(options.transactions, maxWaiting, busy);
  }

  /** Whether there are policies to evaluate. */
  get any(): boolean {
    return this.#options.policies.length > 0;
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
    const { store, transactions } = this.#options;
    if (handle !== undefined) return this.#commitWithin(handle, scope, work);
    if (!this.any) return store.commit(scope, (tx) => work(tx, noVerdicts), { origin });
    const commit: Commit<T> = (body) => store.commit(scope, body, { origin });
    if (transactions === 0) return this.#collectVerdicts(work, commit, undefined);
    try {
      const none = new CollectedVerdicts();
      return await commit((tx) => work(tx, none));
    } catch (error) {
      if (!(error instanceof VerdictsMissing)) throw error;
    }
    return this.#transactions.run(() => this.#commitInTransaction(scope, work, origin));
  }

  /** Runs a command in a transaction of its own, in which the policies can query tables. */
  async #commitInTransaction<T>(scope: Scope, work: Work<T>, origin: Origin): Promise<T> {
    const { store } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        return await store.transaction((handle) => this.#commitWithin(handle, scope, work), {
          origin,
        });
      } catch (error) {
        if (!isContended(error) || tries >= maxTries) throw error;
      }
    }
  }

  /** Runs a command in the open transaction of a handle. */
  #commitWithin<T>(handle: unknown, scope: Scope, work: Work<T>): Promise<T> {
    const { store } = this.#options;
    if (!this.any) return store.within(handle, scope, (tx) => work(tx, noVerdicts));
    const commit: Commit<T> = (body) => store.within(handle, scope, body);
    return this.#collectVerdicts(work, commit, handle);
  }

  /**
   * Reruns a command until it has every verdict that it needs. An interrupted run writes nothing.
   */
  async #collectVerdicts<T>(work: Work<T>, commit: Commit<T>, handle: unknown): Promise<T> {
    const verdicts = new CollectedVerdicts();
    for (let count = 0; count < maxEvaluations; count++) {
      try {
        return await commit((tx) => work(tx, verdicts));
      } catch (error) {
        if (!(error instanceof VerdictsMissing)) throw error;
        verdicts.keep(error.facts, await this.#evaluate(error.facts, handle));
      }
    }
    throw new TidingsError(
      "storage_contended",
      "The facts that the policies evaluate kept changing. Try again.",
    );
  }

  /** Evaluates every policy in order: after one denies, another may give a more specific reason. */
  async #evaluate(facts: PolicyFacts, handle: unknown): Promise<readonly NamedVerdict[]> {
    const { policies, stopDeadline } = this.#options;
    const verdicts: NamedVerdict[] = [];
    for (const policy of policies) {
      stopDeadline.throwIfAborted();
      try {
        // The types of the engine make the policies accept the handles of its storage.
        const evaluated = policy.evaluate(facts, handle as object | undefined);
        const verdict = isThenable(evaluated) ? await this.#withDeadline(evaluated) : evaluated;
        verdicts.push({ policy: policy.name, ...checkVerdict(verdict, facts.now) });
      } catch (error) {
        stopDeadline.throwIfAborted();
        this.#logFailure(policy, facts, error);
        throw new PolicyFailure(policy.name, error);
      }
    }
    return verdicts;
  }

  #logFailure({ name }: Policy, facts: PolicyFacts, error: unknown): void {
    const { account_id, mode, message } = facts;
    // An error of the policy itself may quote the message.
    const err = error instanceof UnusableVerdict ? error : withoutMessage(error);
    const ids = { policy: name, account_id, mode, message_id: message.id };
    this.#options.logger.error({ err, ...ids }, "a policy failed");
  }

  #withDeadline<T>(evaluating: PromiseLike<T>): Promise<T> {
    const late = (): never => {
      throw new UnusableVerdict(`The policy took longer than ${maxPolicyMs} ms.`);
    };
    const { clock, stopDeadline } = this.#options;
    return withDeadline(clock, maxPolicyMs, async () => evaluating, late, stopDeadline);
  }
}

/** The verdicts of a host application without policies. */
export const noVerdicts: HostVerdicts = { any: false, of: () => [] };

/** Interrupts a command: the policies have not been evaluated with these facts. */
class VerdictsMissing extends Error {
  override readonly name = "VerdictsMissing";
  readonly facts: PolicyFacts;

  constructor(facts: PolicyFacts) {
    super("The policies of the host application have not been evaluated.");
    this.facts = facts;
  }
}

/**
 * The verdicts collected during one transaction. A rerun of the command reuses them unless a fact
 * other than the time changed.
 */
class CollectedVerdicts implements HostVerdicts {
  readonly any = true;
  readonly #known = new Map<string, readonly NamedVerdict[]>();

  of(facts: PolicyFacts): readonly NamedVerdict[] {
    const known = this.#known.get(cacheKey(facts));
    if (known === undefined) throw new VerdictsMissing(facts);
    return known;
  }

  keep(facts: PolicyFacts, verdicts: readonly NamedVerdict[]): void {
    this.#known.set(cacheKey(facts), verdicts);
  }
}

function cacheKey({ now: _, ...facts }: PolicyFacts): string {
  return JSON.stringify(facts);
}

/**
 * Whether a policy returned a promise. Query builders return their own thenables, and under
 * Jest the promises of Node's modules are not instances of the global `Promise`.
 */
function isThenable(evaluated: Verdict | PromiseLike<Verdict>): evaluated is PromiseLike<Verdict> {
  const { then } = (evaluated ?? {}) as Partial<PromiseLike<Verdict>>;
  return typeof then === "function";
}
