/** A playbook as a form has it, and as the API takes it. */
import type { Playbook, PlaybookStep, Slot } from "../../../../../../../src/index.ts";
import { numberIn } from "../../../typed-number.ts";
import { linesIn, objectOf, pairsOf, textIn, type Body, type Pair } from "../form/values.ts";

export type StepType = PlaybookStep["type"];

/** A step with the fields of all types, so that nothing is lost when a person changes the type. */
export interface StepDraft {
  readonly type: StepType;
  readonly id: string;
  /** The step that follows. Empty for the next one in the list. */
  readonly next: string;
  readonly text: string;
  readonly slot: string;
  readonly retries: string;
  readonly on_fail: string;
  readonly values: readonly Pair[];
  readonly action: string;
  readonly args: readonly Pair[];
  readonly on_error: string;
  readonly cases: readonly CaseDraft[];
  readonly playbook_id: string;
  readonly reason: string;
}

export interface CaseDraft {
  readonly when: string;
  readonly next: string;
}

export interface SlotDraft {
  readonly name: string;
  readonly type: Slot["type"];
  readonly required: boolean;
  readonly prompt: string;
  readonly pattern: string;
  /** One option in each line. */
  readonly options: string;
}

/** What a person typed. Numbers are texts, since not every text is a number. */
export interface PlaybookDraft {
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly keywords: string;
  readonly intents: string;
  readonly when: string;
  readonly priority: string;
  readonly slots: readonly SlotDraft[];
  readonly steps: readonly StepDraft[];
  readonly on_cancel: string;
  readonly max_turns: string;
}

export const newSlot: SlotDraft = {
  name: "",
  type: "text",
  required: true,
  prompt: "",
  pattern: "",
  options: "",
};

/** A step of a type, with an id that no other step has. */
export function newStep(type: StepType, others: readonly { readonly id: string }[]): StepDraft {
  const taken = new Set(others.map(({ id }) => id));
  let id: string = type;
  for (let count = 2; taken.has(id); count += 1) id = `${type}_${count}`;
  return { ...emptyStep, type, id };
}

const emptyStep: StepDraft = {
  type: "send",
  id: "",
  next: "",
  text: "",
  slot: "",
  retries: "2",
  on_fail: "",
  values: [],
  action: "",
  args: [],
  on_error: "",
  cases: [{ when: "", next: "" }],
  playbook_id: "",
  reason: "",
};

/** The form of a new playbook. */
export const newPlaybook: PlaybookDraft = {
  name: "",
  description: "",
  enabled: false,
  keywords: "",
  intents: "",
  when: "",
  priority: "",
  slots: [],
  steps: [newStep("send", [])],
  on_cancel: "",
  max_turns: "",
};

export function playbookDraftOf(
  playbook: Omit<Playbook, "id" | "version" | "created_at" | "updated_at">,
): PlaybookDraft {
  const { trigger, slots, steps } = playbook;
  return {
    name: playbook.name,
    description: playbook.description,
    enabled: playbook.enabled,
    keywords: trigger.keywords?.join("\n") ?? "",
    intents: trigger.intents?.join("\n") ?? "",
    when: trigger.when ?? "",
    priority: String(trigger.priority),
    slots: slots.map(({ enum: options, pattern, ...slot }) => ({
      ...slot,
      pattern: pattern ?? "",
      options: options?.join("\n") ?? "",
    })),
    steps: steps.map(stepDraftOf),
    on_cancel: playbook.on_cancel ?? "",
    max_turns: String(playbook.max_turns ?? ""),
  };
}

function stepDraftOf(step: PlaybookStep): StepDraft {
  const draft = { ...emptyStep, type: step.type, id: step.id };
  const next = "next" in step ? (step.next ?? "") : "";
  switch (step.type) {
    case "send":
    case "instruct":
      return { ...draft, next, text: step.text };
    case "ask": {
      const { slot, retries, on_fail = "" } = step;
      return { ...draft, next, slot, retries: String(retries), on_fail };
    }
    case "set":
      return { ...draft, next, values: pairsOf(step.values) };
    case "run": {
      const { action, args, on_error = "" } = step;
      return { ...draft, next, action, args: pairsOf(args), on_error };
    }
    case "branch":
      return { ...draft, next, cases: step.cases };
    case "call":
      return { ...draft, next, playbook_id: step.playbook_id };
    case "handoff":
      return { ...draft, reason: step.reason };
    case "resolve":
      return draft;
  }
}

/** The body of a request. In a change, null empties a field that can be empty. */
export function playbookBody(draft: PlaybookDraft, isNew: boolean): Body {
  const empty = isNew ? undefined : null;
  const [keywords, intents] = [linesIn(draft.keywords), linesIn(draft.intents)];
  return {
    name: draft.name,
    description: draft.description,
    enabled: draft.enabled,
    trigger: {
      ...(keywords.length > 0 && { keywords }),
      ...(intents.length > 0 && { intents }),
      when: textIn(draft.when),
      priority: numberIn(draft.priority),
    },
    slots: draft.slots.map(slotBody),
    steps: draft.steps.map(stepBody),
    on_cancel: textIn(draft.on_cancel) ?? empty,
    max_turns: numberIn(draft.max_turns) ?? empty,
  };
}

function slotBody({ name, type, required, prompt, pattern, options }: SlotDraft): Body {
  const choices = linesIn(options);
  return {
    name,
    type,
    required,
    prompt,
    ...(type === "text" && pattern !== "" && { pattern }),
    ...(type === "text" && choices.length > 0 && { enum: choices }),
  };
}

/** A step as the API takes it. The server names what is missing or wrong. */
export function stepBody(step: StepDraft): Body {
  const { type, id } = step;
  const common = { id, type, next: textIn(step.next) };
  switch (type) {
    case "send":
    case "instruct":
      return { ...common, text: step.text };
    case "ask": {
      const { slot, retries, on_fail } = step;
      return { ...common, slot, retries: numberIn(retries), on_fail: textIn(on_fail) };
    }
    case "set":
      return { ...common, values: objectOf(step.values) };
    case "run": {
      const { action, args, on_error } = step;
      return { ...common, action, args: objectOf(args), on_error: textIn(on_error) };
    }
    case "branch":
      return { ...common, cases: step.cases };
    case "call":
      return { ...common, playbook_id: step.playbook_id };
    case "handoff":
      return { id, type, reason: step.reason };
    case "resolve":
      return { id, type };
  }
}

/** Returns the steps after one got another id. All references to it follow. */
export function renamed(
  steps: readonly StepDraft[],
  before: string,
  after: string,
): readonly StepDraft[] {
  const isNamed = steps.some(({ id }) => id === before);
  if (before === "" || after === "" || isNamed) return steps;
  const to = (id: string): string => (id === before ? after : id);
  return steps.map((step) => ({
    ...step,
    next: to(step.next),
    on_fail: to(step.on_fail),
    on_error: to(step.on_error),
    cases: step.cases.map((each) => ({ ...each, next: to(each.next) })),
  }));
}
