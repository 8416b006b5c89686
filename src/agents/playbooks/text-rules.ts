/** The templates and conditions of a playbook: what is wrong in them, and which names they read. */
import type { Json, Language } from "../../ports/index.ts";
import { namesOf } from "./play/condition.ts";
import { parseCondition } from "./play/parse-condition.ts";
import { validValue } from "./play/slots.ts";
import { hasStrayBraces, namesIn } from "./play/template.ts";
import type { PlaybookStep } from "./step-types.ts";
import type { PlaybookDefinition } from "./types.ts";

/** The path of a field, as its keys and indexes. */
export type Path = readonly (string | number)[];

/** A template or a condition, and its path. */
interface PlacedText {
  readonly path: Path;
  readonly text: string;
}

/** Returns the templates of steps and slots. */
function templatesIn({ slots, steps }: PlaybookDefinition): PlacedText[] {
  return [
    ...slots.map(({ prompt }, place) => ({ path: ["slots", place, "prompt"], text: prompt })),
    ...steps.flatMap((step, place) =>
      templatesOf(step).map(({ path, text }) => ({ path: ["steps", place, ...path], text })),
    ),
  ];
}

function templatesOf(step: PlaybookStep): PlacedText[] {
  switch (step.type) {
    case "send":
    case "instruct":
      return [{ path: ["text"], text: step.text }];
    case "handoff":
      return [{ path: ["reason"], text: step.reason }];
    case "set":
      return textsIn(step.values, ["values"]);
    case "run":
      return textsIn(step.args, ["args"]);
    default:
      return [];
  }
}

function textsIn(value: Json, path: Path): PlacedText[] {
  if (typeof value === "string") return [{ path, text: value }];
  if (value === null || typeof value !== "object") return [];
  if (Array.isArray(value)) {
    return value.flatMap((each: Json, place) => textsIn(each, [...path, place]));
  }
  return Object.entries(value).flatMap(([key, each]) => textsIn(each, [...path, key]));
}

function conditionsIn({ steps }: PlaybookDefinition): PlacedText[] {
  return steps.flatMap((step, place) => {
    const cases = step.type === "branch" ? step.cases : [];
    return cases.map(({ when }, casePlace) => ({
      path: ["steps", place, "cases", casePlace, "when"],
      text: when,
    }));
  });
}

function namesInCondition(text: string): string[] {
  const condition = parseCondition(text);
  return "problem" in condition ? [] : namesOf(condition);
}

/** Returns the names that templates and conditions read. */
function placedNames(definition: PlaybookDefinition): { path: Path; name: string }[] {
  return [
    ...templatesIn(definition).flatMap(({ path, text }) =>
      namesIn(text).map((name) => ({ path, name })),
    ),
    ...conditionsIn(definition).flatMap(({ path, text }) =>
      namesInCondition(text).map((name) => ({ path, name })),
    ),
  ];
}

/** Returns every name that a template or a condition reads. */
export function namesRead(definition: PlaybookDefinition): ReadonlySet<string> {
  return new Set(placedNames(definition).map(({ name }) => name));
}

/** A problem and its path. */
export interface Finding {
  readonly path: Path;
  readonly code: string;
  readonly message: string;
}

/**
 * Finds unknown names, invalid templates and conditions, and values that their slot cannot hold.
 */
export function findingsInTexts(definition: PlaybookDefinition, language: Language): Finding[] {
  const isKnown = knownNames(definition);
  return [
    ...placedNames(definition)
      .filter(({ name }) => !isKnown(name))
      .map(({ path, name }) => ({
        path,
        code: "unknown_name",
        message: `There is no slot or step output "${name}".`,
      })),
    ...templatesIn(definition)
      .filter(({ text }) => hasStrayBraces(text))
      .map(({ path }) => ({
        path,
        code: "invalid_template",
        message:
          "Double braces may only contain a name: {{slot}}, {{step.field}} or {{contact.name}}.",
      })),
    ...conditionsIn(definition).flatMap(({ path, text }) => {
      const condition = parseCondition(text);
      if (!("problem" in condition)) return [];
      const { at, message } = condition.problem;
      return [
        {
          path,
          code: "invalid_condition",
          message: `At character ${at + 1}, the condition ${message}.`,
        },
      ];
    }),
    ...unfitValues(definition, language),
  ];
}

/** Known names are slots, outputs of `run` steps, and `contact.name`. */
function knownNames({ slots, steps }: PlaybookDefinition): (name: string) => boolean {
  const names = new Set(["contact.name", ...slots.map(({ name }) => name)]);
  const runs = new Set(steps.filter(({ type }) => type === "run").map(({ id }) => id));
  return (name) =>
    names.has(name) || (name.includes(".") && runs.has(name.slice(0, name.indexOf("."))));
}

/**
 * A fixed value is checked as for a contact without a phone number and a time zone. So a value that
 * only fits for some contacts, such as 04/05/2026, is rejected.
 */
const unknownContact = { now: 0, contact: { phone: null, time_zone: null } };

/** Finds values without placeholders that their slot cannot hold. Null clears any slot. */
function unfitValues({ slots, steps }: PlaybookDefinition, language: Language): Finding[] {
  return steps.flatMap((step, place) => {
    if (step.type !== "set") return [];
    const values = new Map(Object.entries(step.values));
    return slots
      .filter((slot) => {
        const value = values.get(slot.name) ?? null;
        if (value === null || textsIn(value, []).some(({ text }) => namesIn(text).length > 0)) {
          return false;
        }
        return validValue(slot, value, { ...unknownContact, language }) === undefined;
      })
      .map((slot) => ({
        path: ["steps", place, "values", slot.name],
        code: "invalid_value",
        message: `The slot "${slot.name}" cannot hold this value.`,
      }));
  });
}
