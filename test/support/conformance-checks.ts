/** The checks of conformance suites, as the tests of these suites run them. */
import type { TestRunner } from "../../adapters/testing/index.ts";

interface Check {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** The checks that a suite defines, in order. */
export function checksOf(define: (runner: TestRunner) => void): readonly Check[] {
  const checks: Check[] = [];
  define({
    describe: (_name, defineGroup) => defineGroup(),
    it: (name, run) => void checks.push({ name, run }),
  });
  return checks;
}

/**
 * Runs the checks with these words in their names. Returns the errors of those that failed, by the
 * names of the checks.
 */
export async function failedChecks(
  define: (runner: TestRunner) => void,
  words = "",
): Promise<ReadonlyMap<string, string>> {
  const checks = checksOf(define).filter(({ name }) => name.includes(words));
  if (checks.length === 0) throw new Error(`No check has "${words}" in its name.`);
  const failed = new Map<string, string>();
  for (const { name, run } of checks) {
    await run().catch((error: unknown) => void failed.set(name, String(error)));
  }
  return failed;
}

/** The error of the first check with these words that failed. Undefined if none has. */
export async function errorOfCheck(
  words: string,
  define: (runner: TestRunner) => void,
): Promise<string | undefined> {
  return [...(await failedChecks(define, words)).values()][0];
}
