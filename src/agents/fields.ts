/** Schemas that the settings of agents and playbooks share. */
import * as z from "zod";
import type { Json } from "../ports/index.ts";

/** The maximum levels of objects and lists in a JSON value, because later code recurses. */
export const maxLevels = 100;

export function hasLevels(value: unknown, max: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return max > 0 && Object.values(value).every((each) => hasLevels(each, max - 1));
}

/** Any value of at most `maxLevels` levels. They are counted first, since later checks recurse. */
const leveled = z.unknown().refine((value) => hasLevels(value, maxLevels), {
  error: `must have at most ${maxLevels} levels of objects and lists`,
  params: { code: "too_deep" },
  abort: true,
});

/** Returns the path to the first part of a value that is not JSON. Undefined if all of it is. */
function pathToNonJson(value: unknown): PropertyKey[] | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : [];
  if (typeof value !== "object" || !(Array.isArray(value) || isPlain(value))) return [];
  // The indexes of a list include its holes.
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const path = key === "__proto__" ? [] : pathToNonJson(Reflect.get(value, key));
    if (path !== undefined) return [key, ...path];
  }
  return undefined;
}

/** Objects of another realm, such as that of a test runner, have another `Object.prototype`. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Copies a JSON value, so that its owner cannot change what was checked. */
function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  const copied: Record<string, unknown> = {};
  for (const key of Object.keys(value)) copied[key] = copy(Reflect.get(value, key));
  return copied;
}

/** Takes a third of the time of `z.json()`, which matters for a body of very short values. */
const checked = leveled
  .superRefine((value, context) => {
    const path = pathToNonJson(value);
    if (path === undefined) return;
    context.addIssue({ code: "custom", message: "must be a JSON value", path, continue: false });
  })
  .overwrite(copy);

export const json = checked as z.ZodType as z.ZodType<Json>;

/** The maximum length of the input of an action as JSON, in characters. */
export const maxInputCharacters = 16_384;

const tooLong = { error: `must have at most ${maxInputCharacters} characters as JSON` };

/**
 * A JSON value for the input of an action or for a slot. A value that is clearly too long is
 * refused before its parts are checked.
 */
export const actionInput: z.ZodType<Json> = leveled
  .refine((value) => roomAfter(value, maxInputCharacters) >= 0, { ...tooLong, abort: true })
  .pipe(json)
  .refine(isShort, tooLong);

/**
 * Whether a value is short enough for the input of an action. A few templates can make an input of
 * many megabytes, so only a value that seems short is written as JSON.
 */
export function isShort(value: Json): boolean {
  return (
    roomAfter(value, maxInputCharacters) >= 0 && JSON.stringify(value).length <= maxInputCharacters
  );
}

/**
 * Returns how many of `room` characters a value leaves at most when it is written as JSON. Below 0,
 * it does not fit. Counts neither escapes nor names of fields, and stops when no room is left.
 */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === "string") return room - value.length - 2;
  if (typeof value !== "object" || value === null) return room - 1;
  let left = room - 2;
  for (const each of Object.values(value)) {
    if (left < 0) break;
    left = roomAfter(each, left);
  }
  return left;
}

/** A whole number in a range. Without `max`, up to the largest safe integer. */
export function whole(min: number, max = Number.MAX_SAFE_INTEGER): z.ZodInt {
  return z.int().min(min).max(max);
}

/** The name of an action or a slot, or the id of a step. */
export const identifier = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, {
  error: "must be a letter and then up to 63 letters, digits, _ and -",
});
