/** Texts with places in them: `{{slot}}`, `{{step.field}}`, `{{contact.name}}`, and nothing else. */
import type { Json } from "../../ports/agent-model.ts";

/** What a name stands for. */
export type LookUp = (name: string) => Json | undefined;

const name = String.raw`[A-Za-z][\w-]{0,63}(?:\.[A-Za-z_][\w-]{0,63})?`;
const placeholder = new RegExp(String.raw`\{\{[ ]?(${name})[ ]?\}\}`, "g");
const onlyPlaceholder = new RegExp(String.raw`^\{\{[ ]?(${name})[ ]?\}\}$`);

/** Characters of one value that are shown. */
const mostShown = 1_000;

/** The text with its values. What is not known leaves nothing; braces in a value are no places. */
export function render(
  template: string,
  look: LookUp,
  show: (value: Json) => string = shown,
): string {
  return template.replace(placeholder, (_, name: string) => show(look(name) ?? null));
}

/** A value as people read it: a list with commas, yes and no. Nothing can be read in an object. */
export function shown(value: Json): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string" || typeof value === "number") {
    return String(value).slice(0, mostShown);
  }
  return Array.isArray(value)
    ? value.filter(isScalar).map(shown).join(", ").slice(0, mostShown)
    : "";
}

/** A value in words that are an instruction: it stays apart from them, in quotes. */
export function quoted(value: Json): string {
  return typeof value === "string" ? JSON.stringify(shown(value)) : shown(value);
}

/** JSON with templates for strings. One that is a single place becomes the value itself, of whatever type; null where there is none. */
export function fill(value: Json, look: LookUp): Json {
  if (typeof value === "string") {
    const [, name] = onlyPlaceholder.exec(value) ?? [];
    return name === undefined ? render(value, look) : (look(name) ?? null);
  }
  if (isScalar(value)) return value;
  if (Array.isArray(value)) return value.map((each: Json) => fill(each, look));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fill(each, look)]));
}

/** The names that a template's places have. */
export function namesIn(template: string): string[] {
  return [...template.matchAll(placeholder)].map(([, name = ""]) => name);
}

/** Whether there are braces that look like a place and are none. */
export function hasStrayBraces(template: string): boolean {
  return /\{\{|\}\}/.test(template.replace(placeholder, ""));
}

function isScalar(value: Json): value is string | number | boolean | null {
  return value === null || typeof value !== "object";
}
