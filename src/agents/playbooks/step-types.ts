/** The steps of playbooks, and the limits of a playbook. */
import * as z from "zod";
import {
  ids,
  name,
  playbookReference,
  readonlyList,
  wholeRecord,
  type PlaybookId,
} from "../../kernel/index.ts";
import type { Json } from "../../ports/index.ts";
import { identifier, json, whole } from "../fields.ts";

/** Maximum numbers of items in one playbook. */
export const playbookLimits = {
  steps: 100,
  slots: 50,
  options: 50,
  cases: 20,
  values: 50,
} as const;

export const defaultRetries = 2;

/** A step, in a playbook's order. */
interface Step {
  /** The id, which other steps refer to: a letter, then up to 63 letters, digits, `_` and `-`. */
  readonly id: string;
}

/** A step that another step follows. */
interface ContinuingStep extends Step {
  /** The step that follows. Default: the next one in the list. */
  readonly next?: string | undefined;
}

/** Sends a text. */
export interface SendStep extends ContinuingStep {
  /** Adds `text` to the reply. */
  readonly type: "send";
  /** A template: `{{slot}}`, `{{step.field}}` and `{{contact.name}}` are replaced by values. */
  readonly text: string;
}

/** Asks the contact a question and waits for the answer. */
export interface AskStepInput extends ContinuingStep {
  /**
   * Asks for a slot with its `prompt` and waits for the answer. If the slot is filled at the first
   * visit of the step, the playbook goes on. A step that is reached again asks again.
   */
  readonly type: "ask";
  /** The name of the slot. */
  readonly slot: string;
  /**
   * How many times the question is asked again after an invalid answer: 0 to 10.
   * @default 2
   */
  readonly retries?: number | undefined;
  /**
   * The step that follows when no answer was valid. If absent, an optional slot stays empty, and a
   * required one ends the playbook.
   */
  readonly on_fail?: string | undefined;
}

/** Asks the contact a question and waits for the answer. */
export interface AskStep extends AskStepInput {
  /** How many times the question is asked again after an invalid answer: 0 to 10. */
  readonly retries: number;
}

/** Sets slots to values. */
export interface SetStep extends ContinuingStep {
  /** Sets slots to `values`. */
  readonly type: "set";
  /**
   * Values by slot name, at most 50. Texts in them are templates. An invalid value empties a slot.
   */
  readonly values: { readonly [slot: string]: Json };
}

/** Calls an action of the host application. */
export interface RunActionStep extends ContinuingStep {
  /**
   * Calls `action`. Templates and conditions refer to the fields of its result as `step.field`,
   * with this step's id, and to a result that is no object as `step.output`.
   */
  readonly type: "run";
  /** The name of the action. */
  readonly action: string;
  /**
   * The input of the action, at most 50 fields. Texts in it are templates. A field that is only the
   * placeholder of an empty slot is left out.
   */
  readonly args: { readonly [name: string]: Json };
  /** The step that follows when the action fails. If absent, a failure ends the playbook. */
  readonly on_error?: string | undefined;
}

/** Chooses the step that follows by conditions. */
export interface BranchStep extends ContinuingStep {
  /** Continues at the `next` of the first case whose condition is true. */
  readonly type: "branch";
  /**
   * 1 to 20 cases. The first one whose condition is true decides the step that follows. If none is
   * true, `next` follows.
   */
  readonly cases: readonly BranchCase[];
}

/** A case of a `branch` step. */
export interface BranchCase {
  /** The condition, such as `party_size > 6 and not (day == "sunday" or notes contains "dog")`. */
  readonly when: string;
  /** The step that follows if the condition is true. */
  readonly next: string;
}

/** Gives the model an instruction. */
export interface InstructStep extends ContinuingStep {
  /** Gives the model an instruction and adds its answer to the reply. */
  readonly type: "instruct";
  /** The instruction. A template, in which texts and lists are quoted. */
  readonly text: string;
}

/** Runs another playbook, in a new or changed playbook. */
export interface CallPlaybookStepInput extends ContinuingStep {
  /**
   * Runs another playbook, then continues. Values of slots with the same name pass to it and back.
   */
  readonly type: "call";
  /** The playbook to run. It must be enabled. */
  readonly playbook_id: string;
}

/** Runs another playbook. */
export interface CallPlaybookStep extends CallPlaybookStepInput {
  /** The playbook to run. It must be enabled. */
  readonly playbook_id: PlaybookId;
}

/** Hands the conversation off to people. */
export interface HandoffStep extends Step {
  /** Ends the playbook and hands the conversation off to people. */
  readonly type: "handoff";
  /** The reason, for the people who take over. A template. */
  readonly reason: string;
}

/** Closes the conversation. */
export interface ResolveStep extends Step {
  /** Ends the playbook and closes the conversation. */
  readonly type: "resolve";
}

type OtherStep = SetStep | RunActionStep | BranchStep | InstructStep | HandoffStep | ResolveStep;

/** One instruction of a playbook. */
export type PlaybookStep = SendStep | AskStep | CallPlaybookStep | OtherStep;

/** One instruction of a new or changed playbook. */
export type PlaybookStepInput = SendStep | AskStepInput | CallPlaybookStepInput | OtherStep;

const continuingFields = {
  id: identifier,
  next: identifier.optional(),
};

/** The JSON is written before its templates are filled in. `isShort` limits what comes of it. */
const values = wholeRecord(
  z
    .record(z.string().min(1).max(64), json)
    .refine((given) => JSON.stringify(given).length <= 10_000, {
      error: "must have at most 10000 characters as JSON",
    })
    .meta({ maxProperties: playbookLimits.values }),
  playbookLimits.values,
);

const sendStepSchema = z
  .strictObject({
    ...continuingFields,
    type: z.literal("send"),
    text: name(1_600),
  })
  .meta({ interface: "SendStep" });

const askStepSchema = z
  .strictObject({
    ...continuingFields,
    type: z.literal("ask"),
    slot: identifier,
    retries: whole(0, 10),
    on_fail: identifier.optional(),
  })
  .meta({ interface: "AskStep" });

const { retries } = askStepSchema.shape;

const askStepInputSchema = z
  .strictObject({
    ...askStepSchema.shape,
    retries: retries.optional().meta({ default: defaultRetries }),
  })
  .meta({ interface: "AskStepInput" });

const setStepSchema = z
  .strictObject({
    ...continuingFields,
    type: z.literal("set"),
    values,
  })
  .meta({ interface: "SetStep" });

const runActionStepSchema = z
  .strictObject({
    ...continuingFields,
    type: z.literal("run"),
    action: identifier,
    args: values,
    on_error: identifier.optional(),
  })
  .meta({ interface: "RunActionStep" });

const branchCaseSchema = z
  .strictObject({ when: name(500), next: identifier })
  .meta({ interface: "BranchCase" });

const branchStepSchema = z
  .strictObject({
    ...continuingFields,
    type: z.literal("branch"),
    cases: readonlyList(z.array(branchCaseSchema).min(1).max(playbookLimits.cases)),
  })
  .meta({ interface: "BranchStep" });

const instructStepSchema = z
  .strictObject({
    ...continuingFields,
    type: z.literal("instruct"),
    text: name(1_600),
  })
  .meta({ interface: "InstructStep" });

const callPlaybookStepSchema = z
  .strictObject({
    ...continuingFields,
    type: z.literal("call"),
    playbook_id: ids.playbook,
  })
  .meta({ interface: "CallPlaybookStep" });

const callPlaybookStepInputSchema = z
  .strictObject({ ...callPlaybookStepSchema.shape, playbook_id: playbookReference })
  .meta({ interface: "CallPlaybookStepInput" });

const handoffStepSchema = z
  .strictObject({
    id: identifier,
    type: z.literal("handoff"),
    reason: name(500),
  })
  .meta({ interface: "HandoffStep" });

const resolveStepSchema = z
  .strictObject({ id: identifier, type: z.literal("resolve") })
  .meta({ interface: "ResolveStep" });

const otherStepSchemas = [
  setStepSchema,
  runActionStepSchema,
  branchStepSchema,
  instructStepSchema,
  handoffStepSchema,
  resolveStepSchema,
] as const;

export const playbookStepSchema = z
  .discriminatedUnion("type", [
    sendStepSchema,
    askStepSchema,
    callPlaybookStepSchema,
    ...otherStepSchemas,
  ])
  .meta({ id: "PlaybookStep" });

export const playbookStepInputSchema = z
  .discriminatedUnion("type", [
    sendStepSchema,
    askStepInputSchema,
    callPlaybookStepInputSchema,
    ...otherStepSchemas,
  ])
  .meta({ id: "PlaybookStepInput" });
