/** Turns errors into sentences that say what is wrong and what to do. */
import { TidingsError } from "../entry.ts";
import { note, red } from "./terminal.ts";

/** A command cannot do what it was asked for. The text is for the person at the terminal. */
export class Failure extends Error {
  /** What to do, one sentence or command per line. */
  readonly advice: readonly string[];

  constructor(message: string, ...advice: readonly string[]) {
    super(message);
    this.advice = advice;
  }
}

/** The arguments are wrong. `usage` says which are right. */
export class UsageError extends Error {
  readonly usage: string;

  constructor(message: string, usage: string) {
    super(message);
    this.usage = usage;
  }
}

/** Prints an error. Returns the exit status: 2 for wrong arguments, otherwise 1. */
export function reportFailure(error: unknown): number {
  if (error instanceof UsageError) {
    note(`${red("Error:")} ${error.message}`, "", error.usage);
    return 2;
  }
  const { message, advice } = explained(error);
  const lines = [...advice, ...howToDiagnose(error)];
  note(`${red("Error:")} ${message}`, ...lines.map((line) => `  ${line}`));
  return error instanceof TidingsError && aboutArguments.has(error.code) ? 2 : 1;
}

/** Codes of errors about values that the engine gets from the arguments. */
const aboutArguments: ReadonlySet<TidingsError["code"]> = new Set([
  "invalid_option",
  "validation_failed",
]);

const advices: { readonly [code in TidingsError["code"]]?: readonly string[] } = {
  storage_outdated: ["To migrate it, with the same options:  tidings migrate"],
  storage_newer: [
    "A newer version of tidings has migrated it, and a database is never migrated back.",
    "Use that version:  npm install tidings@latest",
    "Or start with another file:  tidings dev --file other.db",
  ],
  storage_damaged: ["Stop every process that uses the database before you repair it."],
  storage_contended: ["Run the command again."],
};

/** Names the doctor, whose own findings have no such advice. */
function howToDiagnose(error: unknown): readonly string[] {
  if (error instanceof Failure) return [];
  if (isOnlyGroup(error)) return howToDiagnose(error.errors[0]);
  if (!(error instanceof TidingsError)) {
    return ["Run `tidings doctor` to check this machine and the database."];
  }
  return error.code === "storage_unavailable"
    ? ["To find out why, with the same options:  tidings doctor"]
    : [];
}

/** Whether an error only holds others, without a message of its own. */
const isOnlyGroup = (error: unknown): error is AggregateError =>
  error instanceof AggregateError && error.message === "";

/** Returns an error with what to do about it. */
export function explained(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof TidingsError) {
    const fields = error.errors.map(
      ({ pointer, parameter, message }) =>
        `${pointer?.slice(1) ?? parameter ?? "input"}: ${message}`,
    );
    // The error's message already says the first of them.
    const others = fields.filter((field) => !error.message.includes(field));
    return new Failure(error.message, ...others, ...(advices[error.code] ?? []));
  }
  if (isOnlyGroup(error)) return explained(error.errors[0]);
  return new Failure(error instanceof Error ? error.message : String(error));
}

/** Returns the code of an error of the system, such as `ENOENT`. Undefined for other errors. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;
}
