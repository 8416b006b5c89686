/**
 * Mistakes of a test in code that runs beside it, such as that of a command. Nobody waits for that
 * code, so its world reports them: the next call that moves time or checks laws throws the first.
 */
import { TidingsError, type ErrorCode } from "../../../src/kernel/index.ts";
import type { CallOutcome } from "./calls.ts";

interface Mistake {
  readonly error: Error;
  /** What is wrong, as the end of a sentence about the code, and perhaps advice. */
  readonly text: string;
}

/** Errors that usually mean that a call of the engine, or its setup, is wrong. */
const codes: ReadonlySet<ErrorCode> = new Set([
  "validation_failed",
  "invalid_option",
  "invalid_cursor",
  "not_configured",
]);

/**
 * The mistake that a call ended with. Undefined if there was none, or if the outcome may be one of
 * a race: a crash, a lost answer, a refusal because of what happened before.
 */
export function mistakeIn(
  outcome: CallOutcome<unknown>,
  expected: readonly ErrorCode[],
): Mistake | undefined {
  const error = outcome.outcome === "done" ? undefined : outcome.error;
  if (error === undefined) return undefined;
  if (!(error instanceof TidingsError)) {
    return { error, text: `threw an error: ${error.name}: ${error.message}` };
  }
  const { status, code, message } = error;
  if (!codes.has(code) || expected.includes(code)) return undefined;
  const advice = `If the command expects that, give it the option { expects: ["${code}"] }.`;
  return { error, text: `made a wrong call: ${status} ${code}: ${message}\n${advice}` };
}

const mistakes = new WeakMap<object, Error>();

/** Lets a world report a mistake. */
export function noteMistake(world: object, mistake: Error): void {
  if (!mistakes.has(world)) mistakes.set(world, mistake);
}

/** @throws Error the first mistake in this world, if there is one */
export function throwMistake(world: object): void {
  const mistake = mistakes.get(world);
  if (mistake !== undefined) throw mistake;
}
