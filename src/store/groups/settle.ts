/** How the commands of a group get its outcome. */
import type { TidingsError } from "../../kernel/index.ts";
import { StorageConflict, StorageRefusal, type Write } from "../../ports/index.ts";
import { isStorageFailure, refused } from "../errors.ts";
import type { RecentRows } from "../transactions/recent-rows.ts";
import { checkBegunWork, forgetBegunWork } from "./begun-work.ts";
import type { Member } from "./command-queue.ts";
import type { OpenGroup } from "./open-group.ts";

export interface SettleOptions {
  /** Undefined if rows that this process has written are read again. */
  readonly recent?: RecentRows | undefined;
  /** Called with the writes of each commit, before the commands resolve. */
  readonly onCommit: (writes: readonly Write[]) => void;
  /** Called when the storage fails, whatever the commands were. */
  readonly onFailure: (error: TidingsError) => void;
  /** Called with the members that must run again. */
  readonly requeue: (members: readonly Member[]) => void;
  /** Returns the error of a command that met as many conflicts as it may. */
  readonly contended: (cause: StorageConflict) => TidingsError;
}

/** Resolves or rejects the members of a committed group. */
export function settleCommitted(
  { members, results, overlay }: OpenGroup,
  writes: readonly Write[],
  { recent, onCommit }: SettleOptions,
): void {
  recent?.apply(overlay);
  if (writes.length > 0) onCommit(writes);
  for (const [i, result] of results.entries()) {
    const member = members[i];
    if (result.ok) member?.resolve(result.value);
    else member?.reject(result.error);
    member?.begun?.onCommitted();
  }
}

/**
 * Requeues the members of a failed group that may still succeed, and rejects the others. `failed`
 * is undefined if the group could not begin.
 */
export function settleFailed(
  members: readonly Member[],
  error: unknown,
  failed: OpenGroup | undefined,
  options: SettleOptions,
): void {
  if (isStorageFailure(error)) {
    checkBegunWork(members);
    options.onFailure(error);
  } else forgetBegunWork(members);
  if (error instanceof StorageConflict) {
    if (failed?.snapshot.hasGivenRecent === true) options.recent?.drop();
    requeueAfterConflict(members, error, options);
  } else if (error instanceof StorageRefusal && members.length > 1) {
    for (const member of members) member.groupSize = 1;
    options.requeue(members);
  } else {
    const reason = error instanceof StorageRefusal ? refused(error) : error;
    for (const member of members) member.reject(reason);
  }
}

/** Requeues the members that have not met as many conflicts as they may. Rejects the others. */
function requeueAfterConflict(
  members: readonly Member[],
  conflict: StorageConflict,
  { requeue, contended }: SettleOptions,
): void {
  for (const member of members) {
    member.conflicts = conflict.lastsForTransaction ? member.maxConflicts : member.conflicts + 1;
    if (member.conflicts >= member.maxConflicts) member.reject(contended(conflict));
    if (member.conflicts > 1) member.groupSize = 1;
  }
  requeue(members.filter((each) => each.conflicts < each.maxConflicts));
}
