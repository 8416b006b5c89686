import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Test files that take long, although they are small. Vitest would start small files last. */
const slowest = [
  "simulator/simulator",
  "crash/crash",
  "contacts/interruptions",
  "package/package",
  "conversations/races",
  "adapters/storage/sqlite-thread",
  "examples/cluster",
  "queue/dispatcher",
  "events/consumers/consume",
  "adapters/storage/postgres-plans",
  "api/routes",
  "examples/readme",
  "operations/lists",
  "examples/programs",
  "cli/databases",
  "cli/dev",
  "agents/interruptions",
  "engine/postgres-faults",
  "contacts/search/search",
  "contacts/import-lines",
  "queue/carrier-calls",
  "events/consumers/model",
  "webchat/mailbox",
  "webhooks/erasure-and-retention",
  "queue/leases",
  "messages/messages",
  "contacts/races",
  "adapters/storage/postgres-conformance",
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
