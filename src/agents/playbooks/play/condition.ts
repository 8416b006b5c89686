/**
 * The conditions of `when`: `==`, `!=`, `<`, `<=`, `>`, `>=` and `contains` between names and
 * literals, with `and`, `or`, `not` and parentheses. Names are slots, `step.field` and
 * `contact.name`. A name without a value is null.
 */
import { foldText } from "../../../kernel/index.ts";
import type { Json } from "../../../ports/index.ts";
import type { Lookup } from "./template.ts";

export type Comparison = "==" | "!=" | "<" | "<=" | ">" | ">=" | "contains";

export type Condition =
  | { readonly is: "value"; readonly value: string | number | boolean | null }
  | { readonly is: "name"; readonly name: string }
  | { readonly is: "not"; readonly of: Condition }
  | { readonly is: "and" | "or"; readonly all: readonly Condition[] }
  | { readonly is: Comparison; readonly left: Condition; readonly right: Condition };

export function namesOf(condition: Condition): string[] {
  switch (condition.is) {
    case "value":
      return [];
    case "name":
      return [condition.name];
    case "not":
      return namesOf(condition.of);
    case "and":
    case "or":
      return condition.all.flatMap(namesOf);
    default:
      return [...namesOf(condition.left), ...namesOf(condition.right)];
  }
}

/**
 * Whether a condition is true. A value by itself, also as an operand of `and`, `or` and `not`, is
 * false if it is false, null, 0, an empty text or an empty list. Any other value is true, also an
 * empty object.
 */
export function holds(condition: Condition, lookUp: Lookup): boolean {
  const value = valueOf(condition, lookUp);
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

function valueOf(condition: Condition, lookUp: Lookup): Json {
  switch (condition.is) {
    case "value":
      return condition.value;
    case "name":
      return lookUp(condition.name) ?? null;
    case "not":
      return !holds(condition.of, lookUp);
    case "and":
      return condition.all.every((each) => holds(each, lookUp));
    case "or":
      return condition.all.some((each) => holds(each, lookUp));
    default:
      return compares(
        condition.is,
        valueOf(condition.left, lookUp),
        valueOf(condition.right, lookUp),
      );
  }
}

/**
 * Compares two values. `==` and `!=` mind the case of texts. Values of different types are never
 * equal, and every order comparison of them is false. Texts are ordered by character codes, so the
 * values of date slots, such as `2026-12-01`, are ordered by time. `contains` is true if a list has
 * an item equal to the value, or if a text includes the other text, regardless of case and accents.
 */
function compares(how: Comparison, left: Json, right: Json): boolean {
  switch (how) {
    case "==":
      return isEqual(left, right);
    case "!=":
      return !isEqual(left, right);
    case "contains":
      if (Array.isArray(left)) return left.some((item: Json) => isEqual(item, right));
      return (
        typeof left === "string" &&
        typeof right === "string" &&
        foldText(left).includes(foldText(right))
      );
    default:
      return inOrder(how, left, right);
  }
}

/** Lists and objects are never equal. */
function isEqual(left: Json, right: Json): boolean {
  return left === right && (left === null || typeof left !== "object");
}

function inOrder(how: "<" | "<=" | ">" | ">=", left: Json, right: Json): boolean {
  const areNumbers = typeof left === "number" && typeof right === "number";
  const areTexts = typeof left === "string" && typeof right === "string";
  if (!areNumbers && !areTexts) return false;
  switch (how) {
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
  }
}
