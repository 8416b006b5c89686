import type { Json, ModelHandoff } from "../../../ports/index.ts";
import { isShort, maxInputCharacters } from "../../fields.ts";
import { act, think, type ModelFailure, type TurnMoves } from "../../moves.ts";
import type { Slot } from "../slot-types.ts";
import type { AskStep, BranchStep, PlaybookStep, RunActionStep } from "../step-types.ts";
import { namesRead } from "../text-rules.ts";
import { holds } from "./condition.ts";
import { slotsFrom, type Frame } from "./frames.ts";
import { parseCondition } from "./parse-condition.ts";
import type {
  Changes,
  Outcome,
  PlayEnd,
  PlayOptions,
  StepContext,
  StepExit,
} from "./play-types.ts";
import { allowedValues, readAnswer, takesAnyText, validValue, type SlotValue } from "./slots.ts";
import { fill, render, type Lookup } from "./template.ts";

export function* takeStep(step: PlaybookStep, context: StepContext): TurnMoves<Outcome> {
  const { frame, lookUp, options } = context;
  switch (step.type) {
    case "send":
      context.texts.push(render(step.text, lookUp, options.language));
      return goOn();
    case "ask":
      return yield* takeAsk(step, context);
    case "set":
      return goOn({ slots: { ...frame.slots, ...slotValuesOf(step.values, context) } });
    case "run":
      return yield* takeRun(step, context);
    case "branch":
      return takeBranch(step, lookUp);
    case "instruct":
      return yield* takeInstruct(step.text, context);
    case "call":
      return { go: "call", playbook_id: step.playbook_id };
    case "handoff":
      return handOffWith(context, { reason: render(step.reason, lookUp, options.language) });
    case "resolve":
      return { go: "end", end: { type: "resolved" } };
  }
}

/** Continues with the step that follows by default. */
const goOn = (changes: Changes = {}): Outcome => ({
  go: "next",
  exit: { outcome: "done" },
  changes,
});

function takeBranch({ cases }: BranchStep, lookUp: Lookup): Outcome {
  const found = cases.find(({ when }) => isTrue(when, lookUp));
  const exit: StepExit =
    found === undefined ? { outcome: "otherwise" } : { outcome: "condition", output: found.when };
  return { go: "next", to: found?.next, exit };
}

function isTrue(when: string, lookUp: Lookup): boolean {
  const condition = parseCondition(when);
  return !("problem" in condition) && holds(condition, lookUp);
}

/** Returns the slot values of a `set` step. A value that a slot cannot hold becomes null. */
function slotValuesOf(
  values: { readonly [name: string]: Json },
  { definition, options, lookUp }: StepContext,
): Frame["slots"] {
  const known = definition.slots.filter(({ name }) => Object.hasOwn(values, name));
  return Object.fromEntries(
    known.map((slot) => [
      slot.name,
      validValue(slot, fill(values[slot.name] ?? null, lookUp, options.language), options) ?? null,
    ]),
  );
}

/** Calls an action, or continues after the decision about its call. */
function* takeRun(step: RunActionStep, context: StepContext): TurnMoves<Outcome> {
  const input = context.frame.input ?? inputOf(step, context);
  if (!isShort(input)) {
    const limit = `${maxInputCharacters} characters as JSON`;
    return takeFailure(step, `The input of ${step.action} has more than ${limit}.`);
  }
  const outcome = yield* act(step.action, input);
  switch (outcome.status) {
    case "done":
      return goOn({ slots: withOutput(step.id, outcome.output, context) });
    case "awaiting_approval":
      return { go: "stay", end: { type: "waits" }, changes: { input } };
    case "failed":
      return takeFailure(step, `${step.action} failed.`);
  }
}

/**
 * Returns the input of an action. An argument that is a single placeholder without a value is left
 * out.
 */
function inputOf({ args }: RunActionStep, { options, lookUp }: StepContext): Json {
  const filled = Object.entries(args)
    .map(([name, given]) => ({ name, given, value: fill(given, lookUp, options.language) }))
    .filter(({ given, value }) => value !== null || given === null);
  return Object.fromEntries(filled.map(({ name, value }) => [name, value]));
}

function takeFailure({ on_error }: RunActionStep, reason: string): Outcome {
  return on_error === undefined
    ? stuck("action_failure", reason)
    : { go: "next", to: on_error, exit: { outcome: "failed", error: reason } };
}

/**
 * Adds an action's output to the slots: an object's fields as `<step>.<field>`, any other value as
 * `<step>.output`. Only the names that the playbook reads are kept, so that no other data is stored
 * with the conversation.
 */
function withOutput(
  step: string,
  output: Json,
  { frame, definition }: StepContext,
): Frame["slots"] {
  const isObject = typeof output === "object" && output !== null && !Array.isArray(output);
  const fields = isObject ? Object.entries(output) : [["output", output] as const];
  const read = namesRead(definition);
  const known = fields
    .map(([field, value]) => [`${step}.${field}`, value] as const)
    .filter(([name]) => read.has(name));
  const others = Object.entries(frame.slots).filter(([name]) => !name.startsWith(`${step}.`));
  return Object.fromEntries([...others, ...known]);
}

/**
 * Gives the model an instruction. Values in it that are texts or lists are quoted, so that the
 * words of a contact or an action are not read as part of the instruction.
 */
function* takeInstruct(text: string, context: StepContext): TurnMoves<Outcome> {
  const { definition, options, frame, lookUp } = context;
  const { answer, failure } = yield* think({
    type: "instruct",
    instruction: render(text, lookUp, options.language, "quoted"),
  });
  if (failure !== null && options.stopsOn(failure)) {
    return stuck(failure, "The model failed to carry out an instruction.");
  }
  if (answer === null) return { go: "next", exit: { outcome: "failed", error: failure } };
  if (answer.text !== undefined && answer.text.trim() !== "") context.texts.push(answer.text);
  if (answer.handoff !== undefined) return handOffWith(context, answer.handoff);
  const found = allowedValues(definition.slots, answer.slots ?? {}, options.mayFillSlot);
  return goOn({ slots: { ...frame.slots, ...slotsFrom(definition, found, options) } });
}

const stuck = (
  cause: Extract<PlayEnd, { readonly type: "stuck" }>["cause"],
  reason: string,
): Outcome => ({ go: "end", end: { type: "stuck", cause, reason } });

function handOffWith(
  { frame: { slots } }: StepContext,
  { reason, summary }: ModelHandoff,
): Outcome {
  return { go: "end", end: { type: "handoff", reason, summary, slots } };
}

/** A step that asks for a slot, and the text of its question. */
interface Question {
  readonly step: AskStep;
  readonly slot: Slot;
  readonly text: string;
}

function* takeAsk(step: AskStep, context: StepContext): TurnMoves<Outcome> {
  const { frame, definition, contactText, options, lookUp } = context;
  const slot = definition.slots.find(({ name }) => name === step.slot);
  if (slot === undefined) return stuck("guardrail", `There is no slot "${step.slot}".`);
  const question = { step, slot, text: render(slot.prompt, lookUp, options.language) };
  return frame.asked && contactText !== null
    ? yield* takeAnswer(question, contactText, context)
    : ask(question, context, (lookUp(slot.name) ?? null) !== null);
}

/**
 * Asks the question. At the first visit of the step, a filled slot is not asked for. A step that is
 * reached again asks again: otherwise a loop through it could run for ever.
 */
function ask({ step, text }: Question, { frame, texts }: StepContext, isFilled: boolean): Outcome {
  if (!frame.asked && isFilled && !frame.visited.includes(step.id)) {
    const visited = visitedWith(step, frame);
    return { go: "next", exit: { outcome: "filled" }, changes: { visited } };
  }
  texts.push(text);
  return { go: "stay", end: { type: "asks", understood: true }, changes: { asked: true } };
}

/** Reads the contact's answer. Asks again if it is invalid. */
function* takeAnswer(
  { step, slot, text }: Question,
  contactText: string,
  { frame, texts, options }: StepContext,
): TurnMoves<Outcome> {
  const moveOnWith = (value: Json, exit: StepExit, to?: string): Outcome => ({
    go: "next",
    to,
    exit,
    changes: { visited: visitedWith(step, frame), slots: { ...frame.slots, [slot.name]: value } },
  });

  // A cancellation word that is also an option of the slot is an answer.
  if (
    options.language.isCancellation(contactText) &&
    (slot.enum === undefined || readAnswer(slot, contactText, options) === undefined)
  ) {
    return { go: "cancel" };
  }
  const { value, failure } = yield* valueIn(contactText, slot, text, options);
  if (value !== undefined) {
    return moveOnWith(value, { outcome: value === null ? "skipped" : "answered", output: value });
  }
  if (failure != null && options.stopsOn(failure)) {
    return stuck(failure, "The model failed while it read the answer.");
  }
  const tries = frame.tries + 1;
  if (tries <= step.retries) {
    texts.push(text);
    return { go: "stay", end: { type: "asks", understood: false }, changes: { tries } };
  }
  const reason = `No answer to "${slot.name}" was valid.`;
  return step.on_fail === undefined && slot.required
    ? stuck("failed_attempts", reason)
    : moveOnWith(null, { outcome: "limit", error: reason }, step.on_fail);
}

function visitedWith({ id }: PlaybookStep, { visited }: Frame): readonly string[] {
  return visited.includes(id) ? visited : [...visited, id];
}

interface Found {
  /** Null if the contact skipped an optional slot. Undefined if no value was found. */
  readonly value: SlotValue | null | undefined;
  /** The failure of the model, if it was asked. */
  readonly failure?: ModelFailure | null;
}

/**
 * Reads the contact's answer. The model is asked only if nothing else finds a value, and never for
 * a slot that takes any text.
 */
function* valueIn(
  contactText: string,
  slot: Slot,
  question: string,
  options: PlayOptions,
): TurnMoves<Found> {
  const isSkipped = !slot.required && options.language.isSkip(contactText);
  if (takesAnyText(slot)) {
    return { value: isSkipped ? null : readAnswer(slot, contactText, options) };
  }
  const value = readAnswer(slot, contactText, options) ?? (isSkipped ? null : undefined);
  if (value !== undefined) return { value };
  const { name, type, enum: choices } = slot;
  const { answer, failure } = yield* think({
    type: "extract",
    slot: { name, type, enum: choices, prompt: question },
  });
  const found = allowedValues([slot], answer?.slots ?? {}, options.mayFillSlot);
  const given = Object.hasOwn(found, name) ? (found[name] ?? null) : null;
  return { value: validValue(slot, given, options), failure };
}
