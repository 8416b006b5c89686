/** How the commands of a group get its outcome. */
import type { TidingsError } from "../../kernel/index.ts";
import { StorageConflict, StorageRefusal, type Write } from "../../ports/index.ts";
import { isStorageFailure, refused } from "../errors.ts";
import type { Overlay } from "../transactions/overlay.ts";
import type { RecentRows } from "../transactions/recent-rows.ts";
import type { Result } from "./body-runner.ts";
import { checkBegunWork, forgetBegunWork, type QueuedCommand } from "./command-queue.ts";

export interface SettleOptions {
  /** Undefined if rows that this process has written are read again. */
  readonly recent?: RecentRows | undefined;
  /** Called with the writes of each commit, before the commands resolve. */
  readonly onCommit: (writes: readonly Write[]) => void;
  /** Called when the storage fails, whatever the commands were. */
  readonly onFailure: (error: TidingsError) => void;
  /** Called with the commands that must run again. */
  readonly requeue: (commands: readonly QueuedCommand[]) => void;
  /** Returns the error of a command that met as many conflicts as it may. */
  readonly contended: (cause: StorageConflict) => TidingsError;
}

/** Resolves or rejects the commands of a committed group. */
export function settleCommitted(
  results: ReadonlyMap<QueuedCommand, Result>,
  overlay: Overlay,
  writes: readonly Write[],
  { recent, onCommit }: SettleOptions,
): void {
  recent?.apply(overlay);
  if (writes.length > 0) onCommit(writes);
  for (const [command, result] of results) {
    if (result.ok) command.resolve(result.value);
    else command.reject(result.error);
    command.begun?.onCommitted();
  }
}

/**
 * Requeues the commands of a failed group that may still succeed, and rejects the others.
 * `hasGivenRecent`: whether they may have read outdated rows from memory.
 */
export function settleFailed(
  commands: readonly QueuedCommand[],
  error: unknown,
  hasGivenRecent: boolean,
  options: SettleOptions,
): void {
  if (isStorageFailure(error)) {
    checkBegunWork(commands);
    options.onFailure(error);
  } else forgetBegunWork(commands);
  if (error instanceof StorageConflict) {
    if (hasGivenRecent) options.recent?.drop();
    requeueAfterConflict(commands, error, options);
  } else if (error instanceof StorageRefusal && commands.length > 1) {
    for (const command of commands) command.groupSize = 1;
    options.requeue(commands);
  } else {
    const reason = error instanceof StorageRefusal ? refused(error) : error;
    for (const command of commands) command.reject(reason);
  }
}

/** Requeues the commands that have not met as many conflicts as they may. Rejects the others. */
function requeueAfterConflict(
  commands: readonly QueuedCommand[],
  conflict: StorageConflict,
  { requeue, contended }: SettleOptions,
): void {
  for (const command of commands) {
    command.conflicts = conflict.lastsForTransaction ? command.maxConflicts : command.conflicts + 1;
    if (command.conflicts >= command.maxConflicts) command.reject(contended(conflict));
    if (command.conflicts > 1) command.groupSize = 1;
  }
  requeue(commands.filter((each) => each.conflicts < each.maxConflicts));
}
