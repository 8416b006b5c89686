/** Texts with placeholders: `{{slot}}`, `{{step.field}}` and `{{contact.name}}`. */
import type { Json, Language } from "../../ports/index.ts";

/** Returns the value of a name; undefined if there is none. */
export type LookUp = (name: string) => Json | undefined;

const name = String.raw`[A-Za-z][\w-]{0,63}(?:\.[A-Za-z_][\w-]{0,63})?`;
const placeholder = new RegExp(String.raw`\{\{[ ]?(${name})[ ]?\}\}`, "g");
const onlyPlaceholder = new RegExp(String.raw`^\{\{[ ]?(${name})[ ]?\}\}$`);

/** Characters of one value that are shown. */
const maxShown = 1_000;

/**
 * `plain` is for contacts. `quoted` is for instructions to a model: texts are in quotes, so that
 * they stay apart from the instruction.
 */
type Style = "plain" | "quoted";

/**
 * Fills the placeholders of a template. A name without a value becomes an empty text. Placeholders
 * inside a value are not filled.
 */
export function render(
  template: string,
  look: LookUp,
  language: Language,
  style: Style = "plain",
): string {
  return template.replace(placeholder, (_, name: string) => {
    const value = look(name) ?? null;
    const text = shown(value, language);
    return style === "quoted" && typeof value === "string" ? JSON.stringify(text) : text;
  });
}

/** Returns a value as people read it: a list with commas, yes and no. Objects are left out. */
export function shown(value: Json, language: Language): string {
  if (typeof value === "boolean") return language.formatBoolean(value);
  if (typeof value === "string" || typeof value === "number") {
    return String(value).slice(0, maxShown);
  }
  if (!Array.isArray(value)) return "";
  const items = value.filter(isScalar).map((item) => shown(item, language));
  return items.join(", ").slice(0, maxShown);
}

/**
 * Fills the templates in a JSON value. A string that consists of one placeholder becomes the value
 * itself, of any type, or null if the name has no value.
 */
export function fill(value: Json, look: LookUp, language: Language): Json {
  if (typeof value === "string") {
    const [, name] = onlyPlaceholder.exec(value) ?? [];
    return name === undefined ? render(value, look, language) : (look(name) ?? null);
  }
  if (isScalar(value)) return value;
  if (Array.isArray(value)) return value.map((each: Json) => fill(each, look, language));
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, fill(each, look, language)]),
  );
}

/** Returns the names in a template's placeholders. */
export function namesIn(template: string): string[] {
  return [...template.matchAll(placeholder)].map(([, name = ""]) => name);
}

/** Whether a template has braces that are not part of a placeholder. */
export function hasStrayBraces(template: string): boolean {
  return /\{\{|\}\}/.test(template.replace(placeholder, ""));
}

function isScalar(value: Json): value is string | number | boolean | null {
  return value === null || typeof value !== "object";
}
