/** Texts with placeholders: `{{slot}}`, `{{step.field}}` and `{{contact.name}}`. */
import { firstCharacters } from "../../../kernel/index.ts";
import type { Json, Language } from "../../../ports/index.ts";

/** Returns the value of a name, or undefined if there is none. */
export type Lookup = (name: string) => Json | undefined;

const name = String.raw`[A-Za-z][\w-]{0,63}(?:\.[A-Za-z_][\w-]{0,63})?`;
const placeholder = new RegExp(String.raw`\{\{[ ]?(${name})[ ]?\}\}`, "g");
const onlyPlaceholder = new RegExp(String.raw`^\{\{[ ]?(${name})[ ]?\}\}$`);

/** The maximum length of a value in a text, in characters. Longer values are cut. */
const maxDisplayed = 1_000;

/**
 * `plain` is for contacts. `quoted` is for instructions to a model: texts and lists are in quotes,
 * so that the model can tell them from the instruction.
 */
type Style = "plain" | "quoted";

/**
 * Fills the placeholders of a template. A name without a value becomes an empty text. Placeholders
 * inside a value are not filled.
 */
export function render(
  template: string,
  lookUp: Lookup,
  language: Language,
  style: Style = "plain",
): string {
  return template.replace(placeholder, (_, name: string) => {
    const value = lookUp(name) ?? null;
    const text = displayText(value, language);
    const isText = typeof value === "string" || Array.isArray(value);
    return style === "quoted" && isText ? JSON.stringify(text) : text;
  });
}

/**
 * Returns a value as people read it. The items of a list are joined with commas, and a boolean
 * becomes yes or no in the language. Null, objects and nested lists are left out.
 */
export function displayText(value: Json, language: Language): string {
  if (typeof value === "boolean") return language.formatBoolean(value);
  if (typeof value === "string" || typeof value === "number") {
    return firstCharacters(String(value), maxDisplayed);
  }
  if (!Array.isArray(value)) return "";
  const items = value.filter(isScalar).map((item) => displayText(item, language));
  return firstCharacters(items.join(", "), maxDisplayed);
}

/**
 * Fills the templates in a JSON value. A string that consists of one placeholder becomes the value
 * itself, of any type, or null if the name has no value.
 */
export function fill(value: Json, lookUp: Lookup, language: Language): Json {
  if (typeof value === "string") {
    const [, name] = onlyPlaceholder.exec(value) ?? [];
    return name === undefined ? render(value, lookUp, language) : (lookUp(name) ?? null);
  }
  if (isScalar(value)) return value;
  if (Array.isArray(value)) return value.map((each: Json) => fill(each, lookUp, language));
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, fill(each, lookUp, language)]),
  );
}

export function namesIn(template: string): string[] {
  return [...template.matchAll(placeholder)].map(([, name = ""]) => name);
}

/** Whether a template has `{{` or `}}` outside a placeholder. */
export function hasStrayBraces(template: string): boolean {
  return /\{\{|\}\}/.test(template.replace(placeholder, ""));
}

function isScalar(value: Json): value is string | number | boolean | null {
  return value === null || typeof value !== "object";
}
