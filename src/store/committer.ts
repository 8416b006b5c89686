import type { TidingsError } from "../kernel/index.ts";
import {
  type Clock,
  type Group,
  type Lookup,
  StorageConflict,
  type StoragePort,
  StorageRefusal,
  type Write,
} from "../ports/index.ts";
import { type BodyRun, mergeInto, type Result, throwIfGroupFails } from "./body-results.ts";
import { BodyRunner } from "./body-runner.ts";
import { BufferedTx } from "./buffered-tx.ts";
import type { CommandQueue, Member } from "./command-queue.ts";
import { isStorageFailure, refused } from "./errors.ts";
import { GroupPace } from "./group-pace.ts";
import { Overlay } from "./overlay.ts";
import type { RecentRows } from "./recent-rows.ts";
import type { RememberedReads } from "./remembered-reads.ts";
import { GroupSnapshot } from "./snapshot.ts";
import type { Projection, Starter } from "./transaction.ts";

export interface CommitterOptions {
  readonly port: Pick<StoragePort, "begin" | "yieldToEventLoop" | "capabilities">;
  /**
   * Whether no body runs while a group commits. The bodies of a group that locks rows must not wait
   * for a commit, which may need these rows.
   */
  readonly oneAtATime?: boolean;
  readonly clock: Clock;
  /** Draws the version of a new row. */
  readonly firstVersion: () => number;
  readonly projection: Projection | undefined;
  /** Undefined if reads of the storage need no round trip. */
  readonly remembered: RememberedReads | undefined;
  /** Undefined if rows that this process has written are read again. */
  readonly recent?: RecentRows | undefined;
  /** Returns the starter that is set now, if any. */
  readonly starter?: () => Starter | undefined;
  /** Called with the writes of each commit, before the commands resolve. */
  readonly onCommit: (writes: readonly Write[]) => void;
  /** Returns the error of a command that met as many conflicts as it may. */
  readonly contended: (cause: StorageConflict) => TidingsError;
  /** Called when the storage fails, whatever the commands were. */
  readonly onFailure: (error: TidingsError) => void;
  /** Called with the members that must run again. */
  readonly requeue: (members: readonly Member[]) => void;
}

/** The maximum number of commands of a group. More would delay its first commands. */
const groupSize = 128;
/** If at least this many commands wait, half of them are enough for a group. */
const minToSplit = 32;

/** A group whose bodies are to run. */
interface OpenedGroup {
  readonly queue: CommandQueue;
  /** The commands that the group has taken from the queue. */
  readonly members: Member[];
  readonly exclusive: boolean;
  readonly snapshot: GroupSnapshot;
  /** What bodies that run at the same time have read. */
  readonly lookups: Lookup[];
}

/** The results and writes of a group whose bodies have run. */
interface GroupRun {
  readonly members: readonly Member[];
  readonly results: readonly Result[];
  readonly overlay: Overlay;
  readonly snapshot: GroupSnapshot;
}

/**
 * Commits groups of commands, one group after the other. The `work` of a command is its body. While
 * one group commits, the bodies of the next one run on top of its writes.
 *
 * A group has the effect of running its bodies one after the other, each on top of the writes of
 * the earlier ones. Then all writes are committed at once. The commands resolve or reject only
 * after the commit, since a result may depend on what an earlier member wrote.
 *
 * When a body or the commit meets a conflict, every member runs again in an exclusive group. After
 * a second conflict, or when the storage refuses a write permanently, each member commits in a
 * separate group, so that one member cannot make the others fail again.
 */
export class Committer {
  readonly #options: CommitterOptions;
  readonly #bodies: BodyRunner;
  /** The writes of the group whose commit is in progress, and whether it succeeds. */
  #previous: { readonly overlay: Overlay; readonly committed: Promise<boolean> } | undefined;
  /** Whether the last commit was asynchronous. */
  #isAsync = false;
  /** How long the last synchronous commit took, in milliseconds. */
  #syncCommitMs = 0;
  /** Lookups of the members that run again. The next group reads them in one batch. */
  #knownLookups: readonly Lookup[] = [];

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#bodies = new BodyRunner(() => options.port.yieldToEventLoop());
  }

  /**
   * Takes members from `queue`. Settles them, or requeues them to run again. Resolves when the next
   * group can start. Never rejects.
   */
  async runGroup(queue: CommandQueue): Promise<void> {
    const { port, clock, requeue, oneAtATime = false } = this.#options;
    // An exclusive group locks what it reads.
    if (queue.hasConflicts || oneAtATime) await this.idle();
    // If that commit met a conflict, its commands wait to run again now.
    const exclusive = queue.hasConflicts;
    const previous = this.#previous;
    const members: Member[] = [];
    const lookups: Lookup[] = [];
    let group: Group | undefined;
    let snapshot: GroupSnapshot | undefined;
    try {
      group = port.begin(exclusive ? "exclusive" : "shared");
      // A command that runs again reads everything from the storage.
      const recent = exclusive ? undefined : this.#options.recent;
      snapshot = new GroupSnapshot({ group, previous: previous?.overlay, recent, port });
      if (exclusive) await snapshot.readAll(this.#takeKnownLookups());
      const groupRun = await this.#runBodies({ queue, members, exclusive, snapshot, lookups });
      if (previous !== undefined && !(await previous.committed)) {
        // The bodies read writes that were not committed.
        await group.abort();
        undoBegun(members);
        requeue(members);
        return;
      }
      const writes = groupRun.overlay.writes();
      const start = clock.monotonic();
      const committing = writes.length > 0 ? group.commit(writes) : group.abort();
      if (writes.length > 0) this.#isAsync = committing instanceof Promise;
      if (committing instanceof Promise) {
        this.#commitLater(groupRun, writes, committing, group, lookups);
      } else {
        if (writes.length > 0) this.#syncCommitMs = clock.monotonic() - start;
        this.#settle(groupRun, writes);
      }
    } catch (error) {
      await group?.abort();
      await previous?.committed;
      if (members.length === 0) {
        // The group failed before it took members. The first commands of the queue fail with it.
        members.push(...queue.takeGroup(groupSize));
      }
      this.#runAgain(members, error, lookups, snapshot);
    }
  }

  #takeKnownLookups(): readonly Lookup[] {
    const known = this.#knownLookups;
    this.#knownLookups = [];
    return known;
  }

  /** Resolves when no commit is in progress. */
  async idle(): Promise<void> {
    await this.#previous?.committed;
  }

  /** Takes members and runs their bodies. Throws when the group fails. */
  async #runBodies(opened: OpenedGroup): Promise<GroupRun> {
    const overlay = new Overlay();
    const results = this.#options.port.capabilities.synchronous
      ? await this.#runSerially(opened, overlay)
      : await this.#runConcurrently(opened, overlay);
    return { members: opened.members, results, overlay, snapshot: opened.snapshot };
  }

  /** Runs bodies one after the other, each on top of the writes of the earlier ones. */
  async #runSerially(
    { queue, members, exclusive, snapshot }: OpenedGroup,
    overlay: Overlay,
  ): Promise<readonly Result[]> {
    const { port, clock } = this.#options;
    const results: Result[] = [];
    const pace = new GroupPace(clock, this.#syncCommitMs);
    for (const member of queue.takeGroup(this.#maxMembers(queue.size))) {
      members.push(member);
      results.push(await this.#run(member, clock.now(), snapshot, overlay));
      pace.bodyEnded(member.origin);
      if (pace.mustEnd || queue.size === 0) break;
      // An exclusive group may hold a lock, so it makes no pause. Callers' commands that already
      // wait join the group without one.
      if (exclusive || queue.hasCallers || !pace.isSliceOver) continue;
      if (pace.mayEnd && this.#previous === undefined) break;
      await pace.pause(() => port.yieldToEventLoop());
    }
    return results;
  }

  /**
   * Runs bodies at the same time, each without the writes of the others. Runs those again that read
   * what an earlier one wrote.
   */
  async #runConcurrently(
    { queue, members, snapshot, lookups }: OpenedGroup,
    overlay: Overlay,
  ): Promise<readonly Result[]> {
    members.push(...queue.takeGroup(groupSize));
    // Bodies that run again keep the time. Otherwise they could take for past what an earlier body
    // has only begun, such as the last hand-over of a throttled sender.
    const now = this.#options.clock.now();
    const soloRuns = await Promise.all(
      members.map((member) => this.#body(member, now, snapshot, new Overlay())),
    );
    lookups.push(...soloRuns.flatMap(({ reads }) => reads.lookups));
    for (const soloRun of soloRuns) throwIfGroupFails(soloRun.result);
    const results: Result[] = [];
    for (const [i, member] of members.entries()) {
      const soloRun = soloRuns[i];
      const result = soloRun && mergeInto(soloRun, overlay);
      results.push(result ?? (await this.#run(member, now, snapshot, overlay)));
    }
    return results;
  }

  /**
   * Returns the maximum number of waiting commands that the next group takes. Callers whose
   * commands resolve together also send their next commands together. If one group took them all,
   * no body could run during its commit. So if commits are asynchronous and none is in progress,
   * the group takes half of the commands, and the other half runs during its commit.
   */
  #maxMembers(waiting: number): number {
    const wouldIdle = this.#isAsync && this.#previous === undefined && waiting >= minToSplit;
    return wouldIdle ? Math.min(Math.ceil(waiting / 2), groupSize) : groupSize;
  }

  /** Runs one body on top of the group's writes. Keeps its writes when it succeeds. */
  async #run(
    member: Member,
    now: number,
    snapshot: GroupSnapshot,
    overlay: Overlay,
  ): Promise<Result> {
    const mark = overlay.mark();
    const { result, tx } = await this.#body(member, now, snapshot, overlay);
    throwIfGroupFails(result);
    if (!result.ok) {
      overlay.rollBack(mark);
      tx.holdTaken();
    }
    return result;
  }

  async #body(
    member: Member,
    now: number,
    snapshot: GroupSnapshot,
    overlay: Overlay,
  ): Promise<BodyRun> {
    const { firstVersion, projection, remembered, starter } = this.#options;
    const recorded = [projection?.of, starter?.()?.of];
    // An earlier run may have begun work, too.
    undoBegun([member]);
    const reads = this.#bodies.readsOf(snapshot);
    const tx = new BufferedTx({
      now,
      snapshot: reads,
      overlay,
      firstVersion,
      recorded,
      planned: projection?.reads,
      remembered,
    });
    try {
      const value = await this.#bodies.run(reads, async () => {
        const value = await member.work(tx);
        await this.#finishBody(member, tx);
        return value;
      });
      return { result: { ok: true, value }, tx, overlay, reads };
    } catch (error) {
      undoBegun([member]);
      return { result: { ok: false, error }, tx, overlay, reads };
    } finally {
      tx.end();
    }
  }

  /** Begins the work that the body asked for. Then projects the new rows of both. */
  async #finishBody(member: Member, tx: BufferedTx): Promise<void> {
    const { projection } = this.#options;
    const starter = this.#options.starter?.();
    if (starter !== undefined) {
      const rows = tx.insertionsInto(starter.of);
      if (rows.length > 0) member.begun = await starter.begin(tx, rows);
    }
    if (projection !== undefined) {
      const rows = tx.insertionsInto(projection.of);
      if (rows.length > 0) await projection.project(tx, rows);
    }
  }

  #commitLater(
    groupRun: GroupRun,
    writes: readonly Write[],
    committing: Promise<void>,
    group: Group,
    lookups: Lookup[],
  ): void {
    const committed = committing.then(
      () => {
        this.#settle(groupRun, writes);
        return true;
      },
      async (error: unknown) => {
        await group.abort();
        this.#runAgain(groupRun.members, error, lookups, groupRun.snapshot);
        return false;
      },
    );
    const started = { overlay: groupRun.overlay, committed };
    this.#previous = started;
    void committed.then(() => {
      if (this.#previous === started) this.#previous = undefined;
    });
  }

  #settle({ members, results, overlay }: GroupRun, writes: readonly Write[]): void {
    this.#options.recent?.apply(overlay);
    if (writes.length > 0) this.#options.onCommit(writes);
    for (const [i, result] of results.entries()) {
      const member = members[i];
      if (result.ok) member?.resolve(result.value);
      else member?.reject(result.error);
      member?.begun?.onCommitted();
    }
  }

  /** Requeues the members of a failed group that may still succeed, and rejects the others. */
  #runAgain(
    members: readonly Member[],
    error: unknown,
    lookups: readonly Lookup[],
    snapshot: GroupSnapshot | undefined,
  ): void {
    if (isStorageFailure(error)) {
      for (const member of members) {
        member.begun?.onUnknown();
        member.begun = undefined;
      }
    }
    undoBegun(members);
    if (error instanceof StorageConflict) {
      if (snapshot?.hasGivenRecent === true) this.#options.recent?.drop();
      this.#knownLookups = lookups;
      for (const member of members) {
        member.conflicts = error.lastsForTransaction ? member.maxConflicts : member.conflicts + 1;
        if (member.conflicts >= member.maxConflicts) member.reject(this.#options.contended(error));
        member.alone = member.conflicts > 1;
      }
      this.#options.requeue(members.filter((each) => each.conflicts < each.maxConflicts));
    } else if (error instanceof StorageRefusal && members.length > 1) {
      for (const member of members) member.alone = true;
      this.#options.requeue(members);
    } else {
      if (isStorageFailure(error)) this.#options.onFailure(error);
      const reason = error instanceof StorageRefusal ? refused(error) : error;
      for (const member of members) member.reject(reason);
    }
  }
}

/** Forgets the work that began in runs that are not committed. */
function undoBegun(members: readonly Member[]): void {
  for (const member of members) {
    member.begun?.onUndone();
    member.begun = undefined;
  }
}
