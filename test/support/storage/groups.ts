/** Storages whose groups do something else when they read or commit. */
import { onTestFinished } from "vitest";
import { TidingsError } from "../../../src/kernel/errors.ts";
import type { Collection } from "../../../src/ports/collection.ts";
import type { Group, Lookup, StoragePort, Write } from "../../../src/ports/storage.ts";
import { over } from "../over.ts";

/** What replaces a step of a group. It is given the group, so that it can take the step itself. */
export interface Steps {
  readonly read?: (lookups: readonly Lookup[], group: Group) => ReturnType<Group["read"]>;
  readonly commit?: (writes: readonly Write[], group: Group) => ReturnType<Group["commit"]>;
}

/** The storage, with steps of its groups replaced. */
export function withGroups<Tx extends object | undefined>(
  storage: StoragePort<Tx>,
  { read, commit }: Steps,
): StoragePort<Tx> {
  return over(storage, {
    begin(how) {
      const group = storage.begin(how);
      return over(group, {
        ...(read && { read: (lookups) => read(lookups, group) }),
        ...(commit && { commit: (writes) => commit(writes, group) }),
      });
    },
  });
}

/** The storage, which calls `before` ahead of each commit: a commit that other commits overtake. */
export function beforeCommits<Tx extends object | undefined>(
  storage: StoragePort<Tx>,
  before: (writes: readonly Write[]) => void | Promise<void>,
): StoragePort<Tx> {
  return withGroups(storage, {
    async commit(writes, group) {
      await before(writes);
      return group.commit(writes);
    },
  });
}

/** Whether something is written to a collection, in one way or in any. */
export function writesTo(collection: Collection, kind?: Write["kind"]): (write: Write) => boolean {
  return (write) => write.collection === collection && (kind ?? write.kind) === write.kind;
}

/**
 * The storage, which calls `overtake` ahead of the first commit with such a write, and waits for
 * it. The test fails if there is no such commit, or if `overtake` fails: an engine repeats a commit
 * that failed, and would hide that.
 */
export function overtaken<Tx extends object | undefined>(
  storage: StoragePort<Tx>,
  isMoment: (write: Write) => boolean,
  overtake: () => unknown,
): StoragePort<Tx> {
  let overtaking: Promise<unknown> | undefined;
  onTestFinished(async () => {
    if (overtaking === undefined) throw new Error("No commit was overtaken.");
    await overtaking;
  });
  return beforeCommits(storage, async (writes) => {
    if (overtaking !== undefined || !writes.some(isMoment)) return;
    overtaking = (async () => overtake())();
    await overtaking;
  });
}

/** The storage, which calls `before` ahead of each read of a group, so that others can commit. */
export function beforeReads<Tx extends object | undefined>(
  storage: StoragePort<Tx>,
  before: (lookups: readonly Lookup[]) => void | Promise<void>,
): StoragePort<Tx> {
  return withGroups(storage, {
    async read(lookups, group) {
      await before(lookups);
      return group.read(lookups);
    },
  });
}

/** The storage, whose commits fail and write nothing while `isAway` returns true. */
export function failingCommits<Tx extends object | undefined>(
  storage: StoragePort<Tx>,
  isAway: () => boolean,
  options?: { readonly retryable: boolean },
): StoragePort<Tx> {
  return withGroups(storage, {
    async commit(writes, group) {
      if (!isAway()) return group.commit(writes);
      await group.abort();
      throw new TidingsError("storage_unavailable", "The storage is away.", options);
    },
  });
}

/** The storage of a process that dies: after `commits` more commits, all others fail. */
export function mortal<Tx extends object | undefined>(
  storage: StoragePort<Tx>,
): { readonly storage: StoragePort<Tx>; dieAfter(commits: number): void } {
  let left = Infinity;
  return {
    storage: failingCommits(storage, () => left-- <= 0),
    dieAfter(commits) {
      left = commits;
    },
  };
}
