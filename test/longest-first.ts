import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Test files that take long, although they are small. Vitest would start small files last. */
const slowest = [
  "crash/crash",
  "web/console-pages",
  "package/package",
  "web/inbox-pages",
  "agents/turns/interruptions",
  "web/console",
  "examples/readme",
  "web/inbox-actions",
  "privacy/interruptions",
  "examples/programs",
  "cli/databases",
  "adapters/storage/sqlite/thread",
  "web/widget",
  "cli/commands",
  "adapters/storage/postgres/conformance",
  "web/inbox",
  "engine/postgres-faults",
  "simulator/simulator",
  "adapters/transactions/blocked",
  "web/inbox-contacts",
  "web/day",
  "privacy/long-redactions",
  "examples/cluster",
  "conversations/races",
  "mutants/mutants",
  "queue/crashed-engines",
  "adapters/storage/postgres/plans",
  "webhooks/isolation",
  "web/inbox-filters",
  "web/failed-reads",
  "senders/throttle",
  "contacts/import/import",
  "web/erasure",
  "web/slow-answers",
  "web/text-forms",
  "webhooks/recovery",
  "api/mount-conformance",
  "contacts/import/import-lines",
  "adapters/transactions/builders",
  "web/inbox-unsent",
  "events/consumers/model",
  "web/inbox-labels",
  "web/inbox-thread",
  "examples/frameworks",
  "adapters/transactions/transaction",
  "webhooks/sending",
  "agents/conversations",
  "web/hostile-inbox",
  "fuzz/fuzz",
  "security/api3-object-property-level-authorization",
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
