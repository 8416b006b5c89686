import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Test files that take long, although they are small. Vitest would start small files last. */
const slowest = [
  "simulator/simulator",
  "crash/crash",
  "package/package",
  "web/console-pages",
  "privacy/interruptions",
  "conversations/races",
  "agents/turns/interruptions",
  "queue/crashed-engines",
  "examples/readme",
  "web/inbox",
  "web/console",
  "web/inbox-pages",
  "examples/programs",
  "adapters/storage/postgres/conformance",
  "engine/postgres-faults",
  "examples/cluster",
  "events/consumers/consume",
  "queue/dispatcher",
  "cli/databases",
  "mutants/mutants",
  "webchat/stream",
  "events/consumers/model",
  "webhooks/isolation",
  "contacts/races",
  "contacts/import/import-lines",
  "cli/dev",
  "adapters/storage/sqlite/thread",
  "adapters/storage/postgres/plans",
  "crash/restart",
  "cli/commands",
  "api/streams",
  "web/widget",
  "web/day",
  "api/routes",
  "api/pipelining",
  "queue/carrier-calls",
  "contacts/search/search",
  "store/serializability",
  "queue/pools",
  "messages/messages",
  "web/hostile-inbox",
  "queue/due-jobs",
  "adapters/transport/hostile-carriers",
  "events/consumers/failures",
  "cli/seed",
  "webchat/browser",
  "agents/runs/runs",
  "privacy/erase",
  "agents/old-versions",
  "webchat/mailbox",
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
