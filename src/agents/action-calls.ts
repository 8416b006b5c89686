import { type Checked, checkInput, execute, isSameCall } from "./actions.ts";
import type { TurnFacts } from "./facts.ts";
import { keepCall, recordCall } from "./keep-call.ts";
import type { BegunTurn, Progress } from "./turn-rows.ts";
import { withDeadline } from "../queue/deadline.ts";
import { leaseMs } from "../queue/dispatcher.ts";
import { insist } from "../queue/insist.ts";
import type { Claim } from "../queue/types.ts";
import { withCall } from "./runs/rules.ts";
import type { ActionCall, Given, Move } from "./runs/types.ts";
import { storable } from "../kernel/fields.ts";
import type { Action } from "../ports/action.ts";
import type { Json } from "../ports/agent-model.ts";
import { errorFacts } from "../queue/error-facts.ts";
import type { CarrierWork } from "../messages/send-job.ts";

export interface ActionCallsOptions extends Pick<
  CarrierWork,
  "store" | "clock" | "logger" | "services"
> {
  readonly claim: Claim;
  readonly begun: BegunTurn;
  readonly facts: Pick<TurnFacts, "contact">;
  readonly abort: AbortSignal;
  /** Of the turn's time, in milliseconds. */
  readonly left: () => number;
  /** What was done in the turn so far. */
  readonly progress: () => Progress;
}

const own = { own: true } as const;
/** Of one run, over all its turns. */
const mostCalls = 20;
/** Of an action that says nothing about it, in milliseconds. */
const standardActionMs = 10_000;

type Outcome = Extract<Given, { readonly done: "acted" }>["outcome"];
type Act = Extract<Move, { readonly do: "act" }>;

/** What came of a call; known: from an earlier one, or before a crash. */
interface Made {
  readonly outcome: Outcome;
  readonly isKnown: boolean;
}

/** The calls of actions in one run: makes each once, whatever becomes of the process, or again under its key. */
export class ActionCalls {
  readonly #options: ActionCallsOptions;
  #all: readonly ActionCall[];
  /** Calls that the turn has come to; those that it hasn't are of the time before a crash, or of words that were overtaken. */
  readonly #met = new Set<string>();

  constructor(options: ActionCallsOptions) {
    this.#options = options;
    this.#all = options.begun.run.calls;
  }

  get all(): readonly ActionCall[] {
    return this.#all;
  }

  get isCalling(): boolean {
    return this.#all.some(({ status }) => status === "pending");
  }

  /** Undefined: the turn is over. */
  async make({ action: name, input, by }: Act): Promise<Made | undefined> {
    const before = this.#before(name, input);
    const isAgain = before !== undefined && this.#met.has(before.id) && before.error === timedOut;
    const settled = before && !isAgain && settledOutcome(before);
    if (before !== undefined) this.#met.add(before.id);
    if (settled) return { outcome: settled, isKnown: true };
    if (before === undefined && this.#all.length >= mostCalls) {
      return { outcome: { status: "failed", error: "too_many_calls" }, isKnown: false };
    }
    const id = before?.id ?? this.#nameOf(name);
    const call: ActionCall = {
      id,
      action: name,
      input,
      status: "pending",
      output: null,
      error: null,
    };
    this.#met.add(id);
    const after = await this.#settle(call, before, by);
    if (after === undefined) return undefined;
    this.#all = withCall(this.#all, after);
    return {
      outcome: settledOutcome(after) ?? { status: "failed", error: "unknown" },
      isKnown: false,
    };
  }

  /**
   * The call on record that an equal one stands for: one that the turn has yet to come to, those that were approved first. Else one that may
   * have been done for all that is known, and must not be done under another key.
   */
  #before(action: string, input: Json): ActionCall | undefined {
    const alike = this.#all.filter((call) => isSameCall(call, { action, input }));
    const unmet = alike.filter(({ id }) => !this.#met.has(id));
    return (
      unmet.find(({ status }) => status === "approved") ??
      unmet[0] ??
      alike.find(({ error }) => error === outcomeUnknown || error === timedOut)
    );
  }

  /** A call's id, its idempotency key. One that only reads is not on record before it is made: after a crash its number would be another's. */
  #nameOf(action: string): string {
    const { begun, services } = this.#options;
    if (services.actions.get(action)?.risk === "read") return services.drawId("req");
    return `${begun.run.id}.${this.#all.length + 1}`;
  }

  /** Makes a call, unless it must not be made. Undefined: the turn is over. */
  async #settle(
    call: ActionCall,
    before: ActionCall | undefined,
    by: Act["by"],
  ): Promise<ActionCall | undefined> {
    const { begun, services, left } = this.#options;
    const fail = (error: string): ActionCall => ({ ...call, status: "failed", error });
    const isOffered = by === "host" || begun.agent.actions.includes(call.action);
    const action = isOffered ? services.actions.get(call.action) : undefined;
    if (action === undefined) return fail("unknown_action");
    if (before?.status === "pending" && !mayRepeat(action)) return fail(outcomeUnknown);
    const checked = await this.#check(action, call.input);
    if (!checked.ok) return fail(checked.error);
    if (action.risk === "approval" && before === undefined) {
      return { ...call, status: "awaiting_approval" };
    }
    if (left() <= 0) return fail(timedOut);
    if (action.risk !== "read" && !(await this.#announce(call))) return undefined;
    return this.#call(action, checked.input, call);
  }

  async #check(action: Action, input: Json): Promise<Checked> {
    const { clock, abort, left } = this.#options;
    try {
      return await withDeadline<Checked>(
        clock,
        left(),
        abort,
        () => checkInput(action, input),
        () => unchecked,
      );
    } catch {
      return unchecked;
    }
  }

  /** Commits that the call is about to be made. */
  async #announce(call: ActionCall): Promise<boolean> {
    const { store, claim, begun, progress } = this.#options;
    const done = progress();
    const isCurrent = await store.commit(
      begun.run,
      (tx) => keepCall(tx, claim, begun, { leaseMs, call, progress: done }),
      own,
    );
    if (isCurrent) this.#all = withCall(this.#all, call);
    return isCurrent;
  }

  async #call(action: Action, input: unknown, call: ActionCall): Promise<ActionCall | undefined> {
    const { store, clock, abort, begun, facts, left } = this.#options;
    const { run, conversation } = begun;
    const context = {
      idempotency_key: call.id,
      scope: { account_id: run.account_id, mode: run.mode },
      contact: {
        id: conversation.contact_id,
        name: facts.contact.name,
        phone: facts.contact.phone,
      },
      conversation: { id: conversation.id },
    };
    const ms = Math.min(action.timeout_ms ?? standardActionMs, left());
    let after: ActionCall;
    try {
      const work = (signal: AbortSignal): Promise<Json> =>
        execute(action, input, { ...context, signal });
      const output = await withDeadline<Json | typeof late>(clock, ms, abort, work, () => late);
      after =
        output === late ? { ...call, ...tooLate(action) } : { ...call, status: "done", output };
    } catch (error) {
      if (abort.aborted) return undefined;
      after = { ...call, status: "failed", error: this.#tell(action, error) };
    }
    if (action.risk !== "read") {
      await insist(clock, abort, () => store.commit(run, (tx) => recordCall(tx, run, after), own));
    }
    return after;
  }

  #tell(action: Action, error: unknown): string {
    const { logger, begun } = this.#options;
    const { name, code, message } = errorFacts(error);
    logger.warn(
      { err: { name, code }, action: action.name, run_id: begun.run.id },
      "an action failed",
    );
    return storable(message, 500);
  }
}

const late = Symbol("late");
const timedOut = "timed_out";
/** It was called, may have been done, and must not be done again. */
const outcomeUnknown = "outcome_unknown";
const unchecked = { ok: false, error: "the input could not be checked" } as const;

const mayRepeat = ({ idempotent, risk }: Action): boolean => idempotent || risk === "read";

function tooLate(action: Action): Pick<ActionCall, "status" | "error"> {
  return { status: "failed", error: mayRepeat(action) ? timedOut : outcomeUnknown };
}

/** What came of a call that is over, or that waits for somebody. */
function settledOutcome({ status, output, error }: ActionCall): Outcome | undefined {
  switch (status) {
    case "done":
      return { status, output };
    case "failed":
    case "denied":
      return { status: "failed", error: error ?? status };
    case "awaiting_approval":
      return { status };
    default:
      return undefined;
  }
}
