/**
 * Texts for errors: they describe values and suggest names. What a value may be decides how much of
 * it they show: `show` quotes a text that cannot be a secret, `describe` shows only numbers and
 * booleans, and `kindOf` not even numbers.
 */
import { nearestName, storable } from "./text.ts";

/** Joins values: `"a"`, `"a" or "b"`, `"a", "b" or "c"`. */
export function alternatives(values: readonly unknown[]): string {
  const all = values.map((value) => (typeof value === "string" ? `"${value}"` : String(value)));
  return [all.slice(0, -1).join(", "), ...all.slice(-1)].filter((part) => part !== "").join(" or ");
}

/** Returns a question that suggests the known name which a wrong one resembles most, or "". */
export function suggestion(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? "" : `. Did you mean ${quoted(nearest)}?`;
}

/** Returns a member of an object or a function, or undefined. */
export function memberOf(of: unknown, name: string): unknown {
  const hasMembers = (typeof of === "object" && of !== null) || typeof of === "function";
  return hasMembers ? Reflect.get(of, name) : undefined;
}

export function hasMethods(value: unknown, ...methods: readonly string[]): boolean {
  return methods.every((method) => typeof memberOf(value, method) === "function");
}

export function quoted(text: string): string {
  return `"${storable(text, 40)}"`;
}

/** Describes a value that cannot be a secret: quotes a text. */
export function show(value: unknown): string {
  return typeof value === "string" ? quoted(value) : describe(value);
}

/** Whether a text looks like a name in a program. Phone numbers and most messages do not. */
export function isWord(text: string): boolean {
  return /^[a-z][\w-]{0,19}$/i.test(text);
}

/** Describes a value that may be personal data. A number may be an id or a phone number. */
export function kindOf(value: unknown): string {
  return typeof value === "number" ? "a number" : describe(value);
}

/** Describes a value without its contents, because an option may hold a secret. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value !== "object") return `a ${typeof value}`;
  const type: unknown = memberOf(value, "constructor");
  const name = typeof type === "function" && type !== Object ? type.name : "";
  return name === "" ? "an object" : `${/^[AEIO]/.test(name) ? "an" : "a"} ${name}`;
}
