/** The texts of form fields, and the JSON that they stand for. */
import type { Json } from "../../../../../../../src/index.ts";

/** What a form sends: its fields may be wrong, and the server says so. */
export type Body = { readonly [field: string]: unknown };

/** The items of a list: one in each line, so that they can have commas. */
export const linesIn = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** A text, or undefined if it is empty. */
export const textIn = (text: string): string | undefined => (text === "" ? undefined : text);

/** A value: JSON such as `5`, `true` or `["a"]`, and otherwise the text itself. */
export function valueIn(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** The text of a value, from which `valueIn` reads the same value. */
export function textOfValue(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return valueIn(value) === value ? value : JSON.stringify(value);
}

/** One row of a table of names and values. */
export interface Pair {
  readonly name: string;
  readonly value: string;
}

export const pairsOf = (values: { readonly [name: string]: Json }): Pair[] =>
  Object.entries(values).map(([name, value]) => ({ name, value: textOfValue(value) }));

/** The object of a table. Rows without a name are left out. */
export const objectOf = (pairs: readonly Pair[]): { readonly [name: string]: Json } =>
  Object.fromEntries(
    pairs.flatMap(({ name, value }) => (name.trim() === "" ? [] : [[name.trim(), valueIn(value)]])),
  );
