import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Test files that take long, although they are small. Vitest would start small files last. */
const slowest = [
  "package/package",
  "web/console-pages",
  "web/inbox-pages",
  "crash/crash",
  "web/console",
  "agents/turns/interruptions",
  "webhooks/sending",
  "contacts/import/import-lines",
  "examples/readme",
  "adapters/storage/sqlite/thread",
  "web/inbox-actions",
  "adapters/storage/postgres/conformance",
  "privacy/interruptions",
  "sandbox/engine",
  "examples/programs",
  "api/mount-conformance",
  "cli/databases",
  "webhooks/recovery",
  "agents/conversations",
  "web/widget",
  "cli/commands",
  "adapters/transactions/builders",
  "web/inbox",
  "security/api3-object-property-level-authorization",
  "engine/postgres-faults",
  "events/consumers/failures",
  "simulator/simulator",
  "adapters/transactions/blocked",
  "web/inbox-contacts",
  "security/api1-object-level-authorization",
  "web/day",
  "examples/frameworks",
  "privacy/long-redactions",
  "examples/cluster",
  "conversations/races",
  "web/erasure",
  "mutants/mutants",
  "web/hostile-inbox",
  "queue/crashed-engines",
  "privacy/erase",
  "adapters/storage/postgres/plans",
  "cli/seed",
  "webhooks/isolation",
  "queue/leases",
  "web/inbox-filters",
  "adapters/transactions/transaction",
  "web/failed-reads",
  "senders/throttle",
  "webchat/mailbox",
  "contacts/import/import",
  "events/consumers/model",
  "contacts/search/search",
  "web/slow-answers",
  "agents/turns/turns",
  "web/text-forms",
  "web/console-setup",
  "web/inbox-unsent",
  "web/inbox-labels",
  "web/inbox-thread",
  "fuzz/fuzz",
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
