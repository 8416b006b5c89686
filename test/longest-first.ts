import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Test files that take long, although they are small. Vitest would start small files last. */
const slowest = [
  "crash/crash",
  "simulator/simulator",
  "consumers/model",
  "contacts/interruptions",
  "examples/cluster",
  "package/package",
  "conversations/races",
  "storage/sqlite-thread",
  "examples/programs",
  "examples/readme",
  "contacts/races",
  "contacts/model",
  "webhooks/isolation",
  "webhooks/faults",
  "webhooks/retry-times",
  "storage/postgres-conformance",
  "storage/postgres-plans",
];

/**
 * Starts slow test files first, also when there are no cached durations. Otherwise a slow file
 * would run alone at the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = slowest.findIndex((each) => moduleId.endsWith(`/test/${each}.test.ts`));
      return place === -1 ? slowest.length : place;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of BaseSequencer, not of an array
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
