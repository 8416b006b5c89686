import { functionOption, optionsObject, parseOptions } from "../../../src/kernel/index.ts";
import type { StoragePort } from "../../../src/ports/index.ts";
import { transactionCases } from "./transactions.ts";
import { raceCases } from "./races.ts";
import { rangeCases } from "./ranges.ts";
import { rowCases } from "./rows.ts";
import { writeCases } from "./writes.ts";
import { searchCases } from "./search.ts";
import { sharingCases } from "./sharing.ts";
import { demand } from "../checks.ts";
import { type TestRunner, testOptions } from "../suite.ts";
import { type Cases, OpenPorts } from "./harness.ts";

const argumentsSchema = optionsObject({ ...testOptions, create: functionOption() });

/** One storage for one test, initially empty. */
export interface StorageUnderTest {
  /** Creates a connection to the storage, like another process. The suite opens and closes it. */
  connect(): StoragePort;
  /** Called after the test, when all connections are closed. */
  remove?(): Promise<void>;
}

/**
 * Tests that a storage adapter has the behavior that the engine relies on. `create` makes an empty
 * storage for each test.
 *
 * ```ts
 * import { describe, it } from "vitest";
 * storageConformance({ describe, it }, "my storage", async () => ({ connect: () => myStorage(url)
 * }));
 * ```
 * @throws TidingsError `invalid_option` when an argument is wrong
 */
export function storageConformance(
  runner: TestRunner,
  name: string,
  create: () => Promise<StorageUnderTest>,
): void {
  parseOptions("storageConformance: ", argumentsSchema, { runner, name, create });
  const { describe, it } = runner;
  const groups: [string, Cases][] = [
    ["rows", rowCases],
    ["writes", writeCases],
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
              await demand(sentence, () => run(ports));
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
