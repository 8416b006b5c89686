import type { Json } from "../../ports/index.ts";
import { act, think } from "../runs/rules.ts";
import type { Moves } from "../runs/types.ts";
import { takeAsk } from "./ask.ts";
import { holds } from "./condition.ts";
import { parseCondition } from "./condition-parser.ts";
import { slotsFrom } from "./frames.ts";
import { namesRead } from "./names.ts";
import { allowed, soundValue } from "./slots.ts";
import type { Outcome, Stage } from "./stage.ts";
import { fill, render, type LookUp } from "./template.ts";
import type { Frame, PlaybookStep } from "./types.ts";

export function* takeStep(step: PlaybookStep, stage: Stage): Moves<Outcome> {
  const look = lookUp(stage);
  const { language } = stage.options;
  switch (step.type) {
    case "send":
      stage.texts.push(render(step.text, look, language));
      return { go: "next" };
    case "ask":
      return yield* takeAsk(step, stage, look);
    case "set":
      return {
        go: "next",
        changes: { slots: { ...stage.frame.slots, ...settings(step.values, stage, look) } },
      };
    case "run":
      return yield* takeRun(step, stage, look);
    case "branch":
      return { go: "next", to: step.cases.find(({ when }) => isSo(when, look))?.next };
    case "instruct":
      return yield* takeInstruct(step.text, stage, look);
    case "call":
      return { go: "call", playbook_id: step.playbook_id };
    case "handoff":
      return { go: "end", end: { type: "handoff", reason: render(step.reason, look, language) } };
    case "resolve":
      return { go: "end", end: { type: "resolved" } };
  }
}

function lookUp({ frame: { slots }, options }: Stage): LookUp {
  return (name) => {
    if (name === "contact.name") return options.contact.name ?? undefined;
    return Object.hasOwn(slots, name) ? slots[name] : undefined;
  };
}

function isSo(when: string, look: LookUp): boolean {
  const condition = parseCondition(when);
  return !("problem" in condition) && holds(condition, look);
}

/** What a slot can't hold leaves it empty. */
function settings(
  values: { readonly [name: string]: Json },
  { definition, options }: Stage,
  look: LookUp,
): Frame["slots"] {
  const known = definition.slots.filter(({ name }) => Object.hasOwn(values, name));
  return Object.fromEntries(
    known.map((slot) => [
      slot.name,
      soundValue(slot, fill(values[slot.name] ?? null, look, options.language), options) ?? null,
    ]),
  );
}

/** An argument that is only a place, of something that is not known, is left out. */
function* takeRun(
  step: Extract<PlaybookStep, { type: "run" }>,
  stage: Stage,
  look: LookUp,
): Moves<Outcome> {
  const args = Object.entries(step.args)
    .map(([name, given]) => ({ name, given, value: fill(given, look, stage.options.language) }))
    .filter(({ given, value }) => value !== null || given === null);
  const input = Object.fromEntries(args.map(({ name, value }) => [name, value]));
  const outcome = yield* act(step.action, input);
  switch (outcome.status) {
    case "done":
      return { go: "next", changes: { slots: withOutput(step.id, outcome.output, stage) } };
    case "awaiting_approval":
      return { go: "stay", end: { type: "waits" } };
    case "failed":
      if (step.on_error !== undefined) return { go: "next", to: step.on_error };
      return {
        go: "end",
        end: { type: "stuck", cause: "action_failure", reason: `${step.action} failed.` },
      };
  }
}

/**
 * What an action answered is known as `<step>.<field>` for each field of an object, and else as `<step>.output`. Only what the playbook
 * reads is kept: the rest is none of the conversation's.
 */
function withOutput(step: string, output: Json, { frame, definition }: Stage): Frame["slots"] {
  const isObject = typeof output === "object" && output !== null && !Array.isArray(output);
  const fields = isObject ? Object.entries(output) : [["output", output] as const];
  const read = namesRead(definition);
  const known = fields
    .map(([field, value]) => [`${step}.${field}`, value] as const)
    .filter(([name]) => read.has(name));
  const others = Object.entries(frame.slots).filter(([name]) => !name.startsWith(`${step}.`));
  return Object.fromEntries([...others, ...known]);
}

/** What the model is told to do. Values are in quotes there: what a contact wrote is no part of an instruction. */
function* takeInstruct(text: string, stage: Stage, look: LookUp): Moves<Outcome> {
  const { definition, options, frame } = stage;
  const { answer, failure } = yield* think({
    type: "instruct",
    instruction: render(text, look, options.language, "quoted"),
  });
  if (failure !== null && options.endsAt(failure)) {
    return {
      go: "end",
      end: { type: "stuck", cause: failure, reason: "The model did not carry out an instruction." },
    };
  }
  if (answer === null) return { go: "next" };
  if (answer.text !== undefined && answer.text.trim() !== "") stage.texts.push(answer.text);
  if (answer.handoff !== undefined) {
    return { go: "end", end: { type: "handoff", reason: answer.handoff.reason } };
  }
  const found = allowed(definition.slots, answer.slots ?? {}, options.mayHold);
  return {
    go: "next",
    changes: { slots: { ...frame.slots, ...slotsFrom(definition, found, options) } },
  };
}
