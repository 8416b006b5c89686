import type { Group, Lookup } from "../../ports/index.ts";
import type { Overlay } from "../transactions/overlay.ts";
import type { GroupSnapshot } from "../transactions/snapshot.ts";
import type { BodyRun, Result } from "./body-runner.ts";
import type { QueuedCommand } from "./command-queue.ts";

/** A group from its beginning to the end of its commit. */
export interface OpenGroup {
  readonly group: Group;
  readonly exclusive: boolean;
  readonly snapshot: GroupSnapshot;
  /** The writes of the commands. */
  readonly overlay: Overlay;
  /** The commands that the group has taken from the queue. */
  readonly commands: QueuedCommand[];
  /** The runs of the commands without the writes of the group. Empty if there are none. */
  readonly runs: SoloRun[];
  /** The results of the commands whose bodies have run, in order. */
  readonly results: Map<QueuedCommand, Result>;
  /** What bodies that run at the same time have read. */
  readonly lookups: Lookup[];
}

/** A command, and what it read, wrote and held in a run without the writes of its group. */
export interface SoloRun {
  readonly command: QueuedCommand;
  readonly lookups: readonly Lookup[];
  readonly overlay: Overlay;
}

/** Not the whole run of the body: its transaction need not be kept until the commit. */
export function soloRunOf({ command, reads: { lookups }, overlay }: BodyRun): SoloRun {
  return { command, lookups, overlay };
}

/**
 * Merges the run of a body into its group. Returns undefined if the body must run again on top of
 * the group's writes: an earlier command wrote what it read.
 */
export function mergeInto({ result, overlay, reads }: BodyRun, group: Overlay): Result | undefined {
  if (reads.lookups.some((lookup) => group.writesUnder(lookup))) return undefined;
  return !result.ok || group.merge(overlay) ? result : undefined;
}
