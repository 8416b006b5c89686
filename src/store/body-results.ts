import { StorageConflict } from "../ports/index.ts";
import type { BodyReads } from "./body-runner.ts";
import type { BufferedTx } from "./buffered-tx.ts";
import type { Member } from "./command-queue.ts";
import { isStorageFailure } from "./errors.ts";
import type { Overlay } from "./overlay.ts";

/** What the body of a command returned or threw. */
export type Result =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

/** A run of a command's body: its transaction, the overlay that it wrote into, and what it read. */
export interface BodyRun {
  readonly member: Member;
  readonly result: Result;
  readonly tx: BufferedTx;
  readonly overlay: Overlay;
  readonly reads: BodyReads;
}

/**
 * Merges the run of a body into its group. Returns undefined if the body must run again on top of
 * the group's writes: an earlier member wrote what it read.
 */
export function mergeInto({ result, overlay, reads }: BodyRun, group: Overlay): Result | undefined {
  if (reads.lookups.some((lookup) => group.writesUnder(lookup))) return undefined;
  return !result.ok || group.merge(overlay) ? result : undefined;
}

/**
 * Throws an error that fails the whole group: the storage could not be read, or the body met a
 * conflict. Another run in this group would meet it, too, because the group reads each row only
 * once.
 */
export function throwIfGroupFails(result: Result): void {
  if (result.ok) return;
  const { error } = result;
  if (isStorageFailure(error) || error instanceof StorageConflict) throw error;
}
