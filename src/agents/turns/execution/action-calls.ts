import { storable, withDeadline } from "../../../kernel/index.ts";
import { canonicalJson } from "../../../operations/index.ts";
import { errorFacts, withoutMessage, type ActionPort, type Json } from "../../../ports/index.ts";
import { retry, type Claim, type JobRun } from "../../../queue/index.ts";
import { background, type Tx } from "../../../store/index.ts";
import {
  callAction,
  checkInput,
  defaultActionMs,
  type Checked,
} from "../../actions/call-action.ts";
import type { AgentRuntime } from "../../agent-runtime.ts";
import type { Act } from "../../moves.ts";
import { outcomeOf, withCall, withoutCall } from "../../runs/call-rules.ts";
import type { ActionCall } from "../../runs/types.ts";
import { recordCall, recordPendingCall, takeBackCall } from "../save-progress.ts";
import type { BegunTurn, Progress, TurnFacts } from "../turn-types.ts";
import { actionStep, recordOf } from "./run-steps.ts";

/** The turn that is carried out, and the signals of its job. */
export interface TurnWork extends Pick<JobRun, "abort" | "stopping"> {
  readonly runtime: AgentRuntime;
  readonly claim: Claim<"turn">;
  readonly begun: BegunTurn;
  readonly facts: TurnFacts;
}

interface ActionCallsOptions extends TurnWork {
  /** How much of the turn's time is left, in milliseconds. */
  readonly left: () => number;
  /** What the turn has done so far. */
  readonly progress: () => Progress;
}

/** Calls of one run, over all its turns. */
const maxCalls = 20;

/** A call that was made, refused or begins to wait for an approval. */
interface CallResult {
  readonly call: ActionCall;
  /** Whether that happened earlier, in this run or before a crash. */
  readonly isKnown: boolean;
}

/**
 * Makes the action calls of one run. Each is made once, or again under the same key, also after a
 * crash.
 */
export class ActionCalls {
  readonly #options: ActionCallsOptions;
  #all: readonly ActionCall[];
  /**
   * Ids of calls whose known outcomes must not be used again: calls that this turn has used, and
   * those of turns that have ended. The other recorded calls waited for an approval, or this turn
   * made them before a crash or before it was taken again.
   */
  readonly #used: Set<string>;
  /** Calls beyond the maximum, up to as many again. They are not recorded. */
  readonly #refused: ActionCall[] = [];
  /** Ids of the calls that this turn has recorded as pending. */
  readonly #begun = new Set<string>();

  constructor(options: ActionCallsOptions) {
    this.#options = options;
    const { calls } = options.begun.run;
    this.#all = calls;
    this.#used = new Set(calls.filter((call) => call.turn_ended).map(({ id }) => id));
  }

  get all(): readonly ActionCall[] {
    return this.#all;
  }

  /** The calls that the model sees. It must see the refused ones, or it asks for them again. */
  get shown(): readonly ActionCall[] {
    return [...this.#all, ...this.#refused];
  }

  /** Whether a call of this turn may still be under way. */
  get isCalling(): boolean {
    return this.#all.some(({ id, status }) => status === "pending" && this.#begun.has(id));
  }

  /**
   * Makes a call, or returns the outcome of an earlier one. Undefined if the call must not be made,
   * because the lease was lost, the contact has written again or the run may no longer act, or if
   * the engine stops.
   */
  async make({ action: name, input, by }: Act): Promise<CallResult | undefined> {
    const earlier = this.#findEarlier(name, input);
    if (earlier === undefined && this.#all.length >= maxCalls) return this.#refuse(name, input);
    const id = earlier?.id ?? this.#idFor(name);
    this.#used.add(id);
    // A call that was late may be repeated, or was not made at all. Whoever asks for it again wants
    // it to be made, also if the turn is taken again.
    if (earlier && outcomeOf(earlier) !== undefined && earlier.error !== timedOut) {
      return { call: earlier, isKnown: true };
    }
    const pending = {
      id,
      action: name,
      input,
      status: "pending",
      output: null,
      error: null,
    } as const;
    const call = await this.#makeIfAllowed(pending, earlier, by);
    if (call === undefined) return undefined;
    this.#all = withCall(this.#all, call);
    return { call, isKnown: false };
  }

  /**
   * The calls that are made even if neither the model nor the playbook asks for them again: those
   * that a person has approved, and those that an earlier turn of the run had begun when its engine
   * stopped.
   */
  get unsettled(): readonly ActionCall[] {
    return this.#all.filter(({ status }) => status === "approved" || status === "pending");
  }

  /**
   * Makes one of the `unsettled` calls with its key, or records that its outcome is unknown.
   * Returns undefined in the same cases as `make`. A call that was under way does not count as
   * used, because the model or the playbook repeats it.
   */
  async settle(earlier: ActionCall): Promise<ActionCall | undefined> {
    if (earlier.status === "approved") this.#used.add(earlier.id);
    const call = { ...earlier, status: "pending" } as const;
    // The call was allowed when it was recorded.
    const made = await this.#makeIfAllowed(call, earlier, "host");
    if (made !== undefined) this.#all = withCall(this.#all, made);
    return made;
  }

  /**
   * Returns the recorded call with the same action and input. Prefers calls that no turn has used
   * yet, approved ones first. Otherwise returns a call whose outcome is unknown: the action
   * may have happened, so a new key could make it happen twice.
   */
  #findEarlier(action: string, input: Json): ActionCall | undefined {
    const json = canonicalJson(input);
    const same = this.#all.filter(
      (call) => call.action === action && canonicalJson(call.input) === json,
    );
    const unused = same.filter(({ id }) => !this.#used.has(id));
    return (
      unused.find(({ status }) => status === "approved") ??
      unused[0] ??
      same.find(({ error }) => error === outcomeUnknown || error === timedOut)
    );
  }

  #refuse(action: string, input: Json): CallResult {
    const id = this.#options.runtime.store.drawId("req");
    const failed = { status: "failed", output: null, error: "too_many_calls" } as const;
    const call: ActionCall = { id, action, input, ...failed };
    if (this.#refused.length < maxCalls) this.#refused.push(call);
    return { call, isKnown: false };
  }

  /**
   * Returns the id of a call, which is its idempotency key. A call with risk `read` gets a random
   * id: it is not recorded before it is made, so a counted number could be used twice.
   */
  #idFor(action: string): string {
    const { begun, runtime } = this.#options;
    const { services, store } = runtime;
    if (services.actions.get(action)?.risk === "read") return store.drawId("req");
    return `${begun.run.id}.${this.#all.length + 1}`;
  }

  /**
   * Makes a call, or refuses it. `earlier` is the recorded call that it continues. Undefined in the
   * same cases as for `make`.
   */
  async #makeIfAllowed(
    call: ActionCall,
    earlier: ActionCall | undefined,
    by: Act["by"],
  ): Promise<ActionCall | undefined> {
    const { begun, left, runtime, abort } = this.#options;
    const { services } = runtime;
    const fail = (error: string): ActionCall => ({ ...call, status: "failed", error });
    const isOffered = by === "host" || begun.agent.actions.includes(call.action);
    const action = isOffered ? services.actions.get(call.action) : undefined;
    const mayBeDone = earlier?.status === "pending";
    if (mayBeDone && (action === undefined || !mayRepeat(action))) return fail(outcomeUnknown);
    if (action === undefined) return fail("unknown_action");
    const checked = await this.#check(action, call.input);
    if (checked === undefined) return undefined;
    if (!checked.ok) return fail(checked.error);
    if (action.risk === "approval" && earlier === undefined) {
      return { ...call, status: "awaiting_approval" };
    }
    if (left() <= 0) return fail(timedOut);
    const isRecorded = action.risk !== "read";
    if (isRecorded && !(await this.#recordPending(call, earlier))) return undefined;
    if (abort.aborted) {
      if (isRecorded) await this.#takeBack(call, earlier);
      return undefined;
    }
    // The process may have stalled meanwhile. By now, another engine may have made the call.
    if (left() <= 0) return fail(timedOut);
    return this.#call(action, checked.input, call);
  }

  /** Checks an input with the action's schema. Undefined if the engine stops. */
  async #check(action: ActionPort, input: Json): Promise<Checked | undefined> {
    const { runtime, begun, abort, left } = this.#options;
    try {
      return await withDeadline<Checked>(
        runtime.clock,
        left(),
        () => checkInput(action, input),
        // The call was not made, so it may be made if the turn is taken again.
        () => ({ ok: false, error: timedOut }),
        abort,
      );
    } catch (error) {
      // The next engine checks it again. A call that counts as failed would not be made any more.
      if (abort.aborted) return undefined;
      runtime.logger.warn(
        { err: withoutMessage(error), action: action.name, run_id: begun.run.id },
        "the input schema of an action failed",
      );
      return { ok: false, error: "the input could not be checked" };
    }
  }

  /**
   * Records that the call is about to be made. Returns false if it must not be made. The answer to
   * the commit may be lost, and only this process knows that the call was not made. So the commit
   * is retried, or undone if the engine stops.
   */
  async #recordPending(call: ActionCall, earlier: ActionCall | undefined): Promise<boolean> {
    const { claim, begun, progress, abort } = this.#options;
    const done = progress();
    let isCurrent: boolean;
    try {
      isCurrent = await this.#commit((tx) =>
        recordPendingCall(tx, claim, begun.run, { call, progress: done }),
      );
    } catch (error) {
      if (abort.aborted) await this.#takeBack(call, earlier);
      throw error;
    }
    if (isCurrent) {
      this.#all = withCall(this.#all, call);
      this.#begun.add(call.id);
    }
    return isCurrent;
  }

  /** Undoes the record of a call that is not made, because the engine stops. */
  async #takeBack(call: ActionCall, earlier: ActionCall | undefined): Promise<void> {
    const { claim, begun } = this.#options;
    await this.#commit((tx) => takeBackCall(tx, claim, begun.run, { call, earlier }));
    this.#all = withoutCall(this.#all, call, earlier);
    this.#begun.delete(call.id);
  }

  async #call(
    action: ActionPort,
    input: unknown,
    call: ActionCall,
  ): Promise<ActionCall | undefined> {
    const { runtime, abort, begun, facts, left } = this.#options;
    const { clock, accountOf } = runtime;
    const { run, conversation } = begun;
    const { name, phone } = facts.contact;
    const started_at = clock.now();
    const scope = { account_id: run.account_id, mode: run.mode };
    const context = {
      idempotency_key: call.id,
      scope,
      account: accountOf(scope),
      contact: { id: conversation.contact_id, name, phone },
      conversation: { id: conversation.id },
    };
    const ms = Math.min(action.timeout_ms ?? defaultActionMs, left());
    let after: ActionCall;
    try {
      const work = (signal: AbortSignal): Promise<Json> =>
        callAction(action, input, { ...context, signal });
      const output = await withDeadline<Json | typeof late>(clock, ms, work, () => late, abort);
      after =
        output === late ? { ...call, ...tooLate(action) } : { ...call, status: "done", output };
    } catch (error) {
      if (abort.aborted) return undefined;
      after = { ...call, status: "failed", error: this.#failureOf(action, error) };
    }
    if (action.risk !== "read") {
      const step = recordOf(actionStep(after, started_at), clock.now());
      await this.#commit((tx) => recordCall(tx, run, after, step));
    }
    return after;
  }

  /** Commits the record of a call, with retries: only this process knows whether it was made. */
  #commit<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { runtime, begun } = this.#options;
    const { store, clock } = runtime;
    return retry(clock, this.#options, () => store.commit(begun.run, work, background));
  }

  #failureOf(action: ActionPort, error: unknown): string {
    const { runtime, begun } = this.#options;
    runtime.logger.warn(
      { err: withoutMessage(error), action: action.name, run_id: begun.run.id },
      "an action failed",
    );
    return storable(errorFacts(error).message, 500);
  }
}

const late = Symbol("late");
/** The error of a call that may be made again, or for which the turn had no time left. */
const timedOut = "timed_out";
/** The error of a call that may have been done and must not be made again. */
const outcomeUnknown = "outcome_unknown";

const mayRepeat = ({ idempotent, risk }: ActionPort): boolean => idempotent || risk === "read";

function tooLate(action: ActionPort): Pick<ActionCall, "status" | "error"> {
  return { status: "failed", error: mayRepeat(action) ? timedOut : outcomeUnknown };
}
