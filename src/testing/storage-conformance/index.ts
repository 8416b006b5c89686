import type { StoragePort } from "../../ports/index.ts";
import { transactionCases } from "./transactions.ts";
import { raceCases } from "./races.ts";
import { rangeCases } from "./ranges.ts";
import { rowCases } from "./rows.ts";
import { searchCases } from "./search.ts";
import { sharingCases } from "./sharing.ts";
import { type Cases, OpenPorts } from "./ports.ts";

/** The test runner's own functions: vitest's, Jest's and node:test's fit. */
export interface TestRunner {
  readonly describe: (name: string, define: () => void) => void;
  readonly it: (name: string, run: () => Promise<void>) => void;
}

/** One place to keep rows, empty at first. */
export interface StorageUnderTest {
  /** A new connection to the same rows, as another process would make it; the suite opens and closes it. */
  connect(): StoragePort;
  /** Called when the test is over and everything is closed. */
  remove?(): Promise<void>;
}

/**
 * What the engine relies on, whatever the adapter: run it over your own. `create` makes an empty storage for each test.
 *
 * ```ts
 * import { describe, it } from "vitest";
 * storageConformance({ describe, it }, "my storage", async () => ({ connect: () => myStorage(url) }));
 * ```
 */
export function storageConformance(
  { describe, it }: TestRunner,
  name: string,
  create: () => Promise<StorageUnderTest>,
): void {
  const groups: [string, Cases][] = [
    ["rows", rowCases],
    ["ranges", rangeCases],
    ["search", searchCases],
    ["transactions", transactionCases],
    ["races", raceCases],
    ["sharing", sharingCases],
  ];
  describe(`${name} as a storage`, () => {
    for (const [group, cases] of groups) {
      describe(group, () => {
        for (const [sentence, run] of Object.entries(cases)) {
          it(sentence, async () => {
            const storage = await create();
            const ports = new OpenPorts(storage.connect.bind(storage));
            try {
              await run(ports);
            } finally {
              await ports.close();
              await storage.remove?.();
            }
          });
        }
      });
    }
  });
}
