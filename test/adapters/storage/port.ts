/** Helpers of tests that use the port of a storage. */
import { expect, onTestFinished } from "vitest";
import type { StoragePort, Write } from "../../../src/ports/storage.ts";

export function closing<P extends StoragePort>(port: P): P {
  onTestFinished(() => port.close());
  return port;
}

/** Matches a text with the pattern, within `toMatchObject`. */
export const says = (pattern: RegExp): unknown => expect.stringMatching(pattern);

export async function write(port: StoragePort, ...writes: readonly Write[]): Promise<void> {
  await port.begin().commit(writes);
}
