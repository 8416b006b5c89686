/** The templates and conditions of a playbook: what is wrong in them, and which names they read. */
import { inBody, type FieldError } from "../../kernel/index.ts";
import type { Json, Language } from "../../ports/index.ts";
import { namesOf } from "./play/condition.ts";
import { parseCondition } from "./play/parse-condition.ts";
import { validValue } from "./play/slots.ts";
import { hasStrayBraces, namesIn } from "./play/template.ts";
import type { PlaybookStep } from "./step-types.ts";
import type { PlaybookDefinition } from "./types.ts";

export type Path = readonly (string | number)[];

export function problemAt(path: Path, code: string, message: string): FieldError {
  return { ...inBody(path), code, message };
}

/** A template or a condition: its path, the names that it reads, and what is wrong in it. */
interface PlacedText {
  readonly path: Path;
  readonly names: readonly string[];
  readonly problem?: FieldError | undefined;
}

/** Returns the templates of steps and slots, and then the conditions. */
function textsIn({ slots, steps }: PlaybookDefinition): PlacedText[] {
  const templates = [
    ...slots.map(({ prompt }, place) => templateAt(["slots", place, "prompt"], prompt)),
    ...steps.flatMap((step, place) => templatesOf(step, ["steps", place])),
  ];
  const conditions = steps.flatMap((step, place) =>
    (step.type === "branch" ? step.cases : []).map(({ when }, casePlace) =>
      conditionAt(["steps", place, "cases", casePlace, "when"], when),
    ),
  );
  return [...templates, ...conditions];
}

function templatesOf(step: PlaybookStep, path: Path): PlacedText[] {
  switch (step.type) {
    case "send":
    case "instruct":
      return templatesIn(step.text, [...path, "text"]);
    case "handoff":
      return templatesIn(step.reason, [...path, "reason"]);
    case "set":
      return templatesIn(step.values, [...path, "values"]);
    case "run":
      return templatesIn(step.args, [...path, "args"]);
    default:
      return [];
  }
}

function templatesIn(value: Json, path: Path): PlacedText[] {
  if (typeof value === "string") return [templateAt(path, value)];
  if (value === null || typeof value !== "object") return [];
  const parts = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return parts.flatMap(([key, each]: [string | number, Json]) => templatesIn(each, [...path, key]));
}

const strayBraces =
  "Double braces may only contain a name: {{slot}}, {{step.field}} or {{contact.name}}.";

function templateAt(path: Path, text: string): PlacedText {
  const isWrong = hasStrayBraces(text);
  const problem = isWrong ? problemAt(path, "invalid_template", strayBraces) : undefined;
  return { path, names: namesIn(text), problem };
}

function conditionAt(path: Path, text: string): PlacedText {
  const condition = parseCondition(text);
  if (!("problem" in condition)) return { path, names: namesOf(condition) };
  const { at, message } = condition.problem;
  const sentence = `At character ${at + 1}, the condition ${message}.`;
  return { path, names: [], problem: problemAt(path, "invalid_condition", sentence) };
}

export function namesRead(definition: PlaybookDefinition): ReadonlySet<string> {
  return new Set(textsIn(definition).flatMap(({ names }) => names));
}

/**
 * Finds unknown names, invalid templates and conditions, and values that their slot cannot hold.
 */
export function problemsInTexts(definition: PlaybookDefinition, language: Language): FieldError[] {
  const texts = textsIn(definition);
  const isKnown = knownNames(definition);
  return [
    ...texts.flatMap(({ path, names }) =>
      names
        .filter((name) => !isKnown(name))
        .map((name) =>
          problemAt(path, "unknown_name", `There is no slot or step output "${name}".`),
        ),
    ),
    ...texts.flatMap(({ problem }) => problem ?? []),
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
function unfitValues({ slots, steps }: PlaybookDefinition, language: Language): FieldError[] {
  return steps.flatMap((step, place) => {
    if (step.type !== "set") return [];
    const values = new Map(Object.entries(step.values));
    return slots.flatMap((slot) => {
      const value = values.get(slot.name) ?? null;
      const path = ["steps", place, "values", slot.name];
      if (value === null || templatesIn(value, path).some(({ names }) => names.length > 0)) {
        return [];
      }
      return validValue(slot, value, { ...unknownContact, language }) === undefined
        ? [problemAt(path, "invalid_value", `The slot "${slot.name}" cannot hold this value.`)]
        : [];
    });
  });
}
