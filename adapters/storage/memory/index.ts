import { refuseArguments } from "../../../src/kernel/index.ts";
import type { StoragePort } from "../../../src/ports/index.ts";
import { MemoryStorage } from "./storage.ts";

/**
 * Returns a storage in memory, for tests. It guarantees what the storage port specifies and no
 * more, so code that works on it works on a database. The rows that it returns are copies.
 *
 * Several engines can use one storage at the same time or one after the other. They see each
 * other's commits. Rows stay until the storage object is garbage-collected; closing an engine does
 * not remove them.
 */
export function memory(): StoragePort<undefined>;
export function memory(...given: readonly unknown[]): StoragePort<undefined> {
  refuseArguments("memory", given);
  return new MemoryStorage();
}
