import { TidingsError } from "../../src/kernel/errors.ts";

/** The code of a call's error; "done" if it succeeded. */
export async function outcome(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "done",
    (error: unknown) =>
      error instanceof Error && "code" in error ? String(error.code) : String(error),
  );
}

/** What a caller can compare of a call's error; "no error" if it succeeded. */
export async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "no error",
    (error: unknown) => {
      if (!(error instanceof TidingsError)) throw error;
      const { code, status, message, errors, conflictingId } = error;
      return { code, status, message, errors, conflictingId };
    },
  );
}
