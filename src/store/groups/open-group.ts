import type { Group, Lookup } from "../../ports/index.ts";
import type { Overlay } from "../transactions/overlay.ts";
import type { GroupSnapshot } from "../transactions/snapshot.ts";
import type { BodyRun, Result } from "./body-runner.ts";
import type { Member } from "./command-queue.ts";

/** A group from its beginning to the end of its commit. */
export interface OpenGroup {
  readonly group: Group;
  readonly exclusive: boolean;
  readonly snapshot: GroupSnapshot;
  /** The writes of the members. */
  readonly overlay: Overlay;
  /** The commands that the group has taken from the queue. */
  readonly members: Member[];
  /** The runs of the members without the writes of the group. Empty if there are none. */
  readonly runs: SoloRun[];
  /** The results of the members whose bodies have run, in order. */
  readonly results: Result[];
  /** What bodies that run at the same time have read. */
  readonly lookups: Lookup[];
}

/** A command, and what it read, wrote and held in a run without the writes of its group. */
export interface SoloRun {
  readonly member: Member;
  readonly lookups: readonly Lookup[];
  readonly overlay: Overlay;
}

/** Not the whole run of the body: its transaction need not be kept until the commit. */
export function soloRunOf({ member, reads: { lookups }, overlay }: BodyRun): SoloRun {
  return { member, lookups, overlay };
}

/**
 * Merges the run of a body into its group. Returns undefined if the body must run again on top of
 * the group's writes: an earlier member wrote what it read.
 */
export function mergeInto({ result, overlay, reads }: BodyRun, group: Overlay): Result | undefined {
  if (reads.lookups.some((lookup) => group.writesUnder(lookup))) return undefined;
  return !result.ok || group.merge(overlay) ? result : undefined;
}
