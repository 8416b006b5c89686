/** The steps of a run: what was called, and the path through playbooks. */
import * as z from "zod";
import { ids, timestamp, type PlaybookId } from "../../kernel/index.ts";
import type { Json } from "../../ports/index.ts";
import { json, whole } from "../fields.ts";

/**
 * - `done`: it did what it says.
 * - `asked`: it asked its question and waits for the contact.
 * - `asked_again`: the contact's answer was invalid, so it asked again.
 * - `answered`: the contact's answer was valid.
 * - `skipped`: the contact skipped an optional question.
 * - `filled`: it asked nothing, since its slot had a value.
 * - `condition`: a condition of a `branch` step was true.
 * - `otherwise`: no condition of a `branch` step was true.
 * - `called`: the playbook that it called has not ended.
 * - `awaiting_approval`: its action waits for a person's decision.
 * - `failed`: its action or the model failed.
 * - `limit`: the step's `retries`, the playbook's `max_turns` or another limit was reached.
 * - `canceled`: the contact canceled the playbook.
 * - `handed_off`: it handed the conversation off to people.
 * - `resolved`: it closed the conversation.
 */
export type PlaybookStepOutcome = (typeof playbookStepOutcomes)[number];

export const playbookStepOutcomes = [
  "done",
  "asked",
  "asked_again",
  "answered",
  "skipped",
  "filled",
  "condition",
  "otherwise",
  "called",
  "awaiting_approval",
  "failed",
  "limit",
  "canceled",
  "handed_off",
  "resolved",
] as const;

/** A playbook's step on the path of a run. */
export interface RunPlaybookStep {
  /** The playbook that has the step. It can be one that the run's playbook called. */
  readonly id: PlaybookId;
  /** The version of that playbook. */
  readonly version: number;
  /**
   * Why the run left the step, or what the step waits for. Null while the step is carried out, and
   * if the turn was cut off then. A step that called a playbook ends as that one does.
   */
  readonly outcome: PlaybookStepOutcome | null;
  /** The id of the step that followed in the same playbook. Null if none did. */
  readonly next: string | null;
}

const runPlaybookStepSchema = z
  .strictObject({
    id: ids.playbook,
    version: whole(1),
    outcome: z.enum(playbookStepOutcomes).nullable(),
    next: z.string().nullable(),
  })
  .meta({ id: "RunPlaybookStep" });

/** One step of a run: a step of a playbook, a call of the model or of an action, or a decision. */
export interface RunStep {
  /**
   * `playbook`: a step of a playbook was entered. `model`: the model was called. `action`: an
   * action was called, or its call began to wait for an approval. `approval`: an action was
   * approved or denied.
   */
  readonly type: string;
  /**
   * The name of the action. For `playbook`, the id of the playbook's step. For `model`, the task:
   * `answer`, `instruct` (a playbook's instruction) or `extract` (finding the value of a slot).
   */
  readonly name: string | null;
  /**
   * The input of the action, or who decided about which call. Null for `playbook` and `model`, in
   * events, and after a redaction.
   */
  readonly input: Json;
  /**
   * What the model or the action returned, or the decision. For `playbook`, the value that the
   * contact's answer gave, or the condition that was true. Null if there is nothing, in events, and
   * after a redaction.
   */
  readonly output: Json;
  /**
   * Why the step failed: an error message, or a code such as `model_timeout`. Null if it did not,
   * and after a redaction.
   */
  readonly error: string | null;
  /** When the step began. */
  readonly started_at: string;
  /**
   * How long the step took, in milliseconds. A step of a playbook includes the calls that it made.
   */
  readonly duration_ms: number;
  /** Where the run was in its playbook. Only for `playbook`. */
  readonly playbook?: RunPlaybookStep | undefined;
}

export const runStepSchema = z
  .strictObject({
    type: z.string(),
    name: z.string().nullable(),
    input: json,
    output: json,
    error: z.string().nullable(),
    started_at: timestamp,
    duration_ms: whole(0),
    playbook: runPlaybookStepSchema.optional(),
  })
  .meta({ id: "RunStep" });
