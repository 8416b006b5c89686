import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Test files that take long, although they are small. Vitest would start small files last. */
const slowest = [
  "simulator/simulator",
  "crash/crash",
  "package/package",
  "adapters/storage/sqlite-thread",
  "examples/readme",
  "examples/cluster",
  "examples/programs",
  "cli/databases",
  "cli/dev",
  "conversations/races",
  "contacts/interruptions",
  "agents/interruptions",
  "queue/dispatcher",
  "adapters/storage/postgres-plans",
  "engine/postgres-faults",
  "events/consumers/consume",
  "adapters/storage/postgres-conformance",
  "contacts/import-lines",
  "contacts/search/search",
  "events/consumers/model",
  "api/routes",
  "webchat/browser",
  "webchat/stream",
  "webchat/mailbox",
  "contacts/erase",
  "events/consumers/failures",
  "queue/carrier-calls",
  "messages/messages",
  "webhooks/erasure-and-retention",
  "adapters/transactions/builders",
  "api/openapi",
  "adapters/transport/hostile-carriers",
  "queue/leases",
  "operations/lists",
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
