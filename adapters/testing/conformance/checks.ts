/** What the checks of all conformance suites use to compare and to fail. */
import { TidingsError, type ErrorCode } from "../../../src/kernel/index.ts";

/** A check failed. `runCheck` reports it. */
export class Mismatch extends Error {
  readonly expected: string;
  readonly got: string;

  constructor(expected: string, got: string, cause?: unknown) {
    super(`expected ${expected}, got ${got}`, cause === undefined ? undefined : { cause });
    this.expected = expected;
    this.got = got;
  }
}

/**
 * Runs one check. If it fails, throws an error with the check's sentence, what was expected and
 * what came instead.
 */
export async function runCheck(sentence: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    const { expected, got } =
      error instanceof Mismatch ? error : new Mismatch("no error", display(error));
    throw new Error(`${sentence}: expected ${expected}, got ${got}`, { cause: error });
  }
}

/**
 * Fails unless both values are equal, compared by content. `what` names the value. If one is too
 * long to show, the error shows only the first part that differs.
 */
export function same(actual: unknown, expected: unknown, what: string): void {
  if (isEqual(actual, expected)) return;
  const isLong = [actual, expected].some((value) => textOf(value).length > maxShown);
  const parts = isLong ? firstDifference(actual, expected) : { actual, expected, path: "" };
  const where = parts.path === "" ? what : `${what}, at ${parts.path}`;
  throw new Mismatch(`${display(parts.expected)} (${where})`, display(parts.actual));
}

/** Fails unless the condition holds. `expected` says what it means, and `got` is what was found. */
export function holds(condition: boolean, expected: string, got: unknown): void {
  if (!condition) throw new Mismatch(expected, display(got));
}

/** Returns the error that `work` fails with. Fails when it does not. */
export async function failure(work: () => unknown, what: string): Promise<Error> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Mismatch) throw error;
    if (isError(error)) return error;
    throw new Mismatch(`an Error (${what})`, display(error), error);
  }
  throw new Mismatch(`an error (${what})`, "none");
}

/** Fails unless `work` fails with an error of this class. */
export async function failsAs(
  kind: new () => Error,
  work: () => unknown,
  what: string,
): Promise<void> {
  const error = await failure(work, what);
  if (!(error instanceof kind)) {
    throw new Mismatch(`${kind.name} (${what})`, String(error), error);
  }
}

/** Fails unless `work` fails with a `TidingsError` of this code. Returns the error. */
export async function failsWith(
  code: ErrorCode,
  work: () => unknown,
  what: string,
): Promise<TidingsError> {
  const error = await failure(work, what);
  if (error instanceof TidingsError && error.code === code) return error;
  throw new Mismatch(`the error ${code} (${what})`, String(error), error);
}

function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isObject(a) || !isObject(b)) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = new Map(Object.entries(a));
  const right = new Map(Object.entries(b));
  return (
    left.size === right.size &&
    [...left].every(([key, value]) => right.has(key) && isEqual(value, right.get(key)))
  );
}

interface Difference {
  readonly actual: unknown;
  readonly expected: unknown;
  /** Such as `[2].id`. Empty if the values differ as a whole. */
  readonly path: string;
}

/** Returns the first part in which two values differ, as deep as it can be named. */
function firstDifference(actual: unknown, expected: unknown, path = ""): Difference {
  const isArray = Array.isArray(actual);
  if (isObject(actual) && isObject(expected) && isArray === Array.isArray(expected)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const left: unknown = Reflect.get(actual, key);
      const right: unknown = Reflect.get(expected, key);
      if (isEqual(left, right)) continue;
      return firstDifference(left, right, isArray ? `${path}[${key}]` : `${path}.${key}`);
    }
  }
  return { actual, expected, path };
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** The maximum length of a value in the error of a failed check, in characters. */
const maxShown = 400;

/** A value as a failed check shows it: JSON, shortened. */
export function display(value: unknown): string {
  const text = textOf(value);
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}

function textOf(value: unknown): string {
  // JSON has no NaN and no bigint.
  const isNumber = typeof value === "number" || typeof value === "bigint";
  if (isNumber || isError(value)) return String(value);
  return JSON.stringify(value) ?? String(value);
}

/** Jest has an `Error` of its own, and the errors of Node are no instances of it. */
const isError = (value: unknown): value is Error =>
  value instanceof Error || Object.prototype.toString.call(value) === "[object Error]";
