import { iso } from "../../../kernel/index.ts";
import type { Clock, Json } from "../../../ports/index.ts";
import type { EnterStep, LeaveStep } from "../../moves.ts";
import { concludedSteps, keptSteps } from "../../runs/rules.ts";
import type { RunStep } from "../../runs/step-types.ts";
import type { ActionCall } from "../../runs/types.ts";

/** A call of a model or an action that has ended. */
interface Call {
  readonly type: "model" | "action";
  readonly name: string;
  readonly input: Json;
  readonly output: Json;
  readonly error: string | null;
  /** When the call was begun, in milliseconds since the epoch. */
  readonly started_at: number;
}

export function actionStep(
  { action: name, input, output, error }: ActionCall,
  started_at: number,
): Call {
  return { type: "action", name, input, output, error, started_at };
}

/** Returns the step that records a call. */
export function recordOf({ started_at, ...call }: Call, now: number): RunStep {
  return { ...call, started_at: iso(started_at), duration_ms: Math.max(0, now - started_at) };
}

/** Where a step is in the list, and when it was begun. */
interface Entered {
  readonly place: number;
  readonly at: number;
}

/** Records the steps of one run. */
export class RunSteps {
  readonly #clock: Clock;
  readonly #all: RunStep[];
  /** The steps of playbooks that were not left yet, innermost last. */
  readonly #entered: Entered[] = [];

  constructor(clock: Clock, recorded: readonly RunStep[]) {
    this.#clock = clock;
    this.#all = concludedSteps(recorded);
  }

  get all(): readonly RunStep[] {
    return keptSteps(this.#all);
  }

  add(call: Call): void {
    this.#all.push(recordOf(call, this.#clock.now()));
  }

  /** Records that a step of a playbook is entered. */
  enter({ step: name, playbook_id: id, revision: version }: EnterStep): void {
    const at = this.#clock.now();
    this.#entered.push({ place: this.#all.length, at });
    this.#all.push({
      type: "playbook",
      name,
      input: null,
      output: null,
      error: null,
      started_at: iso(at),
      duration_ms: 0,
      playbook: { id, version, outcome: null, next: null },
    });
  }

  /** Records why the innermost step of a playbook is left. */
  leave({ outcome, next, output, error }: LeaveStep): void {
    const entered = this.#entered.pop();
    const step = entered && this.#all[entered.place];
    if (entered === undefined || step?.playbook === undefined) {
      throw new TypeError("no step of a playbook was entered");
    }
    this.#all[entered.place] = {
      ...step,
      output,
      error,
      duration_ms: this.#since(entered.at),
      playbook: { ...step.playbook, outcome, next },
    };
  }

  #since(at: number): number {
    return Math.max(0, this.#clock.now() - at);
  }
}
