import {
  functionOption,
  hasMethods,
  optionsObject,
  parseOptions,
} from "../../../../src/kernel/index.ts";
import type { StoragePort } from "../../../../src/ports/index.ts";
import { runCheck } from "../checks.ts";
import { checkReturned, testOptions, type TestRunner } from "../suite.ts";
import { OpenPorts, type StorageChecks } from "./fixture.ts";
import { raceChecks } from "./races.ts";
import { rangeChecks } from "./ranges.ts";
import { rowChecks } from "./rows.ts";
import { searchChecks } from "./search.ts";
import { sharingChecks } from "./sharing.ts";
import { transactionChecks } from "./transactions.ts";
import { upgradeChecks } from "./upgrades.ts";
import { writeChecks } from "./writes.ts";

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
 * storageConformance({ describe, it }, "my storage", async () => ({
 *   connect: () => myStorage(url),
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
  const groups: [string, StorageChecks][] = [
    ["rows", rowChecks],
    ["writes", writeChecks],
    ["ranges", rangeChecks],
    ["search", searchChecks],
    ["upgrades", upgradeChecks],
    ["transactions", transactionChecks],
    ["races", raceChecks],
    ["sharing", sharingChecks],
  ];
  describe(`${name} as a storage`, () => {
    for (const [group, checks] of groups) {
      describe(group, () => {
        for (const [sentence, run] of Object.entries(checks)) {
          it(sentence, async () => {
            const storage = await create();
            checkReturned(
              "storageConformance: create()",
              storage,
              "{ connect }",
              hasMethods(storage, "connect"),
            );
            const ports = new OpenPorts(() => storage.connect());
            try {
              await runCheck(sentence, () => run(ports));
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
