import { type ErrorCode, TidingsError } from "../../kernel/index.ts";

/** Throws unless both are the same value, compared by their content. */
export function same(actual: unknown, expected: unknown, what: string): void {
  if (!alike(actual, expected)) {
    throw new Error(`${what}: expected ${shown(expected)}, got ${shown(actual)}`);
  }
}

export function holds(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

/** The error that `work` fails with. */
export async function failure(work: () => unknown, what: string): Promise<Error> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`${what}: threw what is not an error: ${String(error)}`, { cause: error });
  }
  throw new Error(`${what}: expected to fail, and did not`);
}

export async function failsAs(
  kind: new () => Error,
  work: () => unknown,
  what: string,
): Promise<void> {
  const error = await failure(work, what);
  const { name } = error;
  if (!(error instanceof kind)) {
    throw new Error(`${what}: expected ${kind.name}, got ${name}`, { cause: error });
  }
}

export async function failsWith(
  code: ErrorCode,
  work: () => unknown,
  what: string,
): Promise<TidingsError> {
  const error = await failure(work, what);
  const { name, message } = error;
  if (error instanceof TidingsError && error.code === code) return error;
  throw new Error(`${what}: expected ${code}, got ${name}: ${message}`, { cause: error });
}

function alike(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = new Map(Object.entries(a));
  const right = new Map(Object.entries(b));
  return (
    left.size === right.size &&
    [...left].every(([key, value]) => right.has(key) && alike(value, right.get(key)))
  );
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
