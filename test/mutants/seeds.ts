/**
 * Simulates seeds and prints one line of JSON for each. `npm run mutants` starts this program in a
 * copy of the repository.
 *
 *     node test/mutants/seeds.ts FROM COUNT STEPS
 */
import { simulate } from "../simulator/simulate.ts";

/** What happened in the history of one seed. */
export interface SeedReport {
  readonly seed: number;
  /** The invariant that was violated, or the error that ended the history. Null if all held. */
  readonly violation: string | null;
}

// Faults cause thousands of errors, whose stacks nobody reads.
Error.stackTraceLimit = 1;

const [from = 1, count = 1, steps = 0] = process.argv.slice(2).map(Number);
for (let seed = from; seed < from + count; seed++) {
  const report: SeedReport = { seed, violation: await violationIn(seed) };
  console.log(JSON.stringify(report));
}

async function violationIn(seed: number): Promise<string | null> {
  try {
    return (await simulate(seed, steps)).invariant ?? null;
  } catch (error) {
    return `the history ends: ${String(error)}`;
  }
}
