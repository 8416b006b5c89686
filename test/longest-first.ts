import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Small files that take long. */
const longest = [
  "crash/crash",
  "simulator/simulator",
  "consumers/model",
  "contacts/moments",
  "examples/cluster",
  "package/package",
  "conversations/races",
  "storage/sqlite-thread",
  "examples/programs",
  "examples/readme",
  "contacts/races",
  "contacts/model",
  "webhooks/isolation",
  "webhooks/whatever-happens",
  "webhooks/schedule-kept",
  "storage/postgres-conformance",
  "storage/postgres-plans",
];

/** What takes long begins early, also where no run before has shown how long: begun last, it would run on alone. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = longest.findIndex((each) => moduleId.endsWith(`/test/${each}.test.ts`));
      return place === -1 ? longest.length : place;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- of the class above, and no array's
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
