import {
  describe as describeValue,
  hasMethods,
  option,
  TidingsError,
} from "../../../src/kernel/index.ts";
import { runCheck } from "./checks.ts";

/** The functions of the test runner. Those of vitest, Jest and node:test fit. */
export interface TestRunner {
  /** Defines a group of tests. */
  readonly describe: (name: string, define: () => void) => void;
  /** Defines a test. */
  readonly it: (name: string, run: () => Promise<void>) => void;
}

/** The arguments of all conformance suites that describe the test. */
export const testOptions = {
  runner: option<TestRunner>("a test runner with describe and it", (runner) =>
    hasMethods(runner, "describe", "it"),
  ),
  name: option<string>("a string", (name) => typeof name === "string"),
};

/**
 * Checks what a function of the suite's user returned.
 * @throws TidingsError `invalid_option` with the name of the function when it is not `expected`
 */
export function checkReturned(
  name: string,
  returned: unknown,
  expected: string,
  isExpected: boolean,
): void {
  if (isExpected) return;
  const got = describeValue(returned);
  throw new TidingsError(
    "invalid_option",
    `${name} has to return ${expected}, but returned ${got}.`,
  );
}

/** One check, and what it needs of the thing under test. */
export interface Check<Fixture, Need extends string> {
  readonly needs: readonly Need[];
  readonly run: (fixture: Fixture) => Promise<void>;
}

/** The checks of a group by their sentence, in order. */
export type Checks<Fixture, Need extends string> = Readonly<Record<string, Check<Fixture, Need>>>;

interface Suite<Fixture, Need extends string> {
  /** What is tested, such as `twilio as a transport`. */
  readonly title: string;
  readonly groups: readonly (readonly [name: string, checks: Checks<Fixture, Need>])[];
  /** What the thing under test cannot do, each with the reason. */
  readonly unable: Partial<Readonly<Record<Need, string>>>;
  /** Creates a new fixture, runs `check` on it and removes it. */
  readonly withFixture: (
    needs: readonly Need[],
    check: (fixture: Fixture) => Promise<void>,
  ) => Promise<void>;
}

/**
 * Defines a test for each check. A check that needs something in `unable` is not run: its test
 * passes, and its name gives the reason.
 */
export function defineSuite<Fixture, Need extends string>(
  { describe, it }: TestRunner,
  { title, groups, unable, withFixture }: Suite<Fixture, Need>,
): void {
  describe(title, () => {
    for (const [group, checks] of groups) {
      describe(group, () => {
        for (const [sentence, { needs, run }] of Object.entries(checks)) {
          const reason = needs.map((need) => unable[need]).find((each) => each !== undefined);
          if (reason === undefined) {
            const whole = `${group} ${sentence}`;
            it(sentence, () =>
              withFixture(needs, (fixture) => runCheck(whole, () => run(fixture))),
            );
          } else it(`${sentence} (not run: ${reason})`, async () => {});
        }
      });
    }
  });
}
