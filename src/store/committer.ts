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
import { checkBegun, undoBegun } from "./begun.ts";
import { type BodyRun, mergeInto, type Result, throwIfGroupFails } from "./body-results.ts";
import { BodyRunner } from "./body-runner.ts";
import { BufferedTx } from "./buffered-tx.ts";
import { type CommandQueue, maxGroupSize, type Member } from "./command-queue.ts";
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
  /** If undefined, commands that meet a locked row run again at once. */
  readonly blocked?: Blocked | undefined;
}

/** A command, and what it read, wrote and held in a run without the writes of its group. */
export interface Run {
  readonly member: Member;
  readonly lookups: readonly Lookup[];
  readonly overlay: Overlay;
}

/** Where commands wait that need a row which another transaction has locked. */
export interface Blocked {
  /** Whether a command must wait behind a blocked one, because both need the same rows. */
  mustWait(run: Run): boolean;
  /**
   * Adds the commands of a group whose commit met a locked row, with the conflict. Or commands that
   * must wait behind others.
   */
  add(runs: readonly Run[], met?: StorageConflict): void;
}

/** If at least this many commands wait, half of them are enough for a group. */
const minToSplit = 32;

/** A group from its beginning to the end of its commit. */
interface OpenGroup {
  readonly group: Group;
  readonly exclusive: boolean;
  readonly snapshot: GroupSnapshot;
  /** The writes of the members. */
  readonly overlay: Overlay;
  /** The commands that the group has taken from the queue. */
  readonly members: Member[];
  /** The runs of the members without the writes of the group. Empty if there are none. */
  readonly runs: Run[];
  /** The results of the members whose bodies have run, in order. */
  readonly results: Result[];
  /** What bodies that run at the same time have read. */
  readonly lookups: Lookup[];
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
 * separate group, so that one member cannot make the others fail again. When the commit meets a
 * locked row, the members run again among the blocked commands.
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
    const { requeue, oneAtATime = false } = this.#options;
    // An exclusive group locks what it reads.
    if (queue.hasConflicts || oneAtATime) await this.idle();
    // If that commit met a conflict, its commands wait to run again now.
    const exclusive = queue.hasConflicts;
    const previous = this.#previous;
    let open: OpenGroup | undefined;
    try {
      open = this.#open(exclusive);
      if (exclusive) await open.snapshot.readAll(this.#takeKnownLookups());
      await this.#runBodies(queue, open);
      if (previous !== undefined && !(await previous.committed)) {
        // The bodies read writes that were not committed.
        await open.group.abort();
        undoBegun(open.members);
        requeue(open.members);
        return;
      }
      this.#commit(open);
    } catch (error) {
      await open?.group.abort();
      await previous?.committed;
      const taken = open?.members ?? [];
      // If the group failed before it took members, the first commands of the queue fail with it.
      const members = taken.length > 0 ? taken : [...queue.takeGroup(maxGroupSize)];
      this.#requeueOrReject(members, error, open);
    }
  }

  /** Resolves when no commit is in progress. */
  async idle(): Promise<void> {
    await this.#previous?.committed;
  }

  #open(exclusive: boolean): OpenGroup {
    const { port, recent } = this.#options;
    const group = port.begin(exclusive ? "exclusive" : "shared");
    const snapshot = new GroupSnapshot({
      group,
      previous: this.#previous?.overlay,
      // A command that runs again reads everything from the storage.
      recent: exclusive ? undefined : recent,
      port,
    });
    const overlay = new Overlay();
    return { group, exclusive, snapshot, overlay, members: [], runs: [], results: [], lookups: [] };
  }

  #takeKnownLookups(): readonly Lookup[] {
    const known = this.#knownLookups;
    this.#knownLookups = [];
    return known;
  }

  /** Takes members and runs their bodies. Throws when the group fails. */
  async #runBodies(queue: CommandQueue, open: OpenGroup): Promise<void> {
    if (this.#options.port.capabilities.synchronous) await this.#runSerially(queue, open);
    else await this.#runConcurrently(queue, open);
  }

  /** Runs bodies one after the other, each on top of the writes of the earlier ones. */
  async #runSerially(queue: CommandQueue, open: OpenGroup): Promise<void> {
    const { port, clock } = this.#options;
    const pace = new GroupPace(clock, this.#syncCommitMs);
    for (const member of queue.takeGroup(this.#maxMembers(queue.size))) {
      open.members.push(member);
      open.results.push(await this.#run(member, clock.now(), open));
      pace.bodyEnded(member.origin);
      if (pace.mustEnd || queue.size === 0) break;
      // An exclusive group may hold a lock, so it makes no pause. Callers' commands that already
      // wait join the group without one.
      if (open.exclusive || queue.hasCallers || !pace.isSliceOver) continue;
      if (pace.mayEnd && this.#previous === undefined) break;
      await pace.pause(() => port.yieldToEventLoop());
    }
  }

  /**
   * Runs bodies at the same time, each without the writes of the others. Runs those again that read
   * what an earlier one wrote.
   */
  async #runConcurrently(queue: CommandQueue, open: OpenGroup): Promise<void> {
    const { members, snapshot, overlay, results, lookups } = open;
    members.push(...queue.takeGroup(maxGroupSize));
    // Bodies that run again keep the time. Otherwise they could take for past what an earlier body
    // has only begun, such as the last hand-over of a throttled sender.
    const now = this.#options.clock.now();
    const soloRuns = await Promise.all(
      members.map((member) => this.#body(member, now, snapshot, new Overlay())),
    );
    lookups.push(...soloRuns.flatMap(({ reads }) => reads.lookups));
    for (const { result } of soloRuns) throwIfGroupFails(result);
    const joining = soloRuns.filter((run) => !this.#waitsBehind(run));
    members.splice(0, members.length, ...joining.map(({ member }) => member));
    open.runs.push(...joining.map(runOf));
    for (const run of joining) {
      results.push(mergeInto(run, overlay) ?? (await this.#run(run.member, now, open)));
    }
  }

  /** Lets a command wait behind a blocked one if both need the same rows. */
  #waitsBehind(body: BodyRun): boolean {
    const { blocked } = this.#options;
    const run = runOf(body);
    if (blocked === undefined || !body.result.ok || !blocked.mustWait(run)) return false;
    undoBegun([run.member]);
    blocked.add([run]);
    return true;
  }

  /**
   * Returns the maximum number of waiting commands that the next group takes. Callers whose
   * commands resolve together also send their next commands together. If one group took them all,
   * no body could run during its commit. So if commits are asynchronous and none is in progress,
   * the group takes half of the commands, and the other half runs during its commit.
   */
  #maxMembers(waiting: number): number {
    const wouldIdle = this.#isAsync && this.#previous === undefined && waiting >= minToSplit;
    return wouldIdle ? Math.min(Math.ceil(waiting / 2), maxGroupSize) : maxGroupSize;
  }

  /** Runs one body on top of the group's writes. Keeps its writes when it succeeds. */
  async #run(member: Member, now: number, { snapshot, overlay }: OpenGroup): Promise<Result> {
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
      return { member, result: { ok: true, value }, tx, overlay, reads };
    } catch (error) {
      undoBegun([member]);
      return { member, result: { ok: false, error }, tx, overlay, reads };
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

  /** Begins the commit, and settles the members if it has already ended. */
  #commit(open: OpenGroup): void {
    const { clock } = this.#options;
    const writes = open.overlay.writes();
    const start = clock.monotonic();
    const committing = writes.length > 0 ? open.group.commit(writes) : open.group.abort();
    if (writes.length > 0) this.#isAsync = committing instanceof Promise;
    if (committing instanceof Promise) {
      this.#settleLater(open, writes, committing);
    } else {
      if (writes.length > 0) this.#syncCommitMs = clock.monotonic() - start;
      this.#settle(open, writes);
    }
  }

  #settleLater(open: OpenGroup, writes: readonly Write[], committing: Promise<void>): void {
    const { group, members, overlay } = open;
    const committed = committing.then(
      () => {
        this.#settle(open, writes);
        return true;
      },
      async (error: unknown) => {
        await group.abort();
        const { blocked } = this.#options;
        if (blocked !== undefined && error instanceof StorageConflict && error.isLocked) {
          undoBegun(members);
          blocked.add(open.runs, error);
        } else this.#requeueOrReject(members, error, open);
        return false;
      },
    );
    const started = { overlay, committed };
    this.#previous = started;
    void committed.then(() => {
      if (this.#previous === started) this.#previous = undefined;
    });
  }

  #settle({ members, results, overlay }: OpenGroup, writes: readonly Write[]): void {
    this.#options.recent?.apply(overlay);
    if (writes.length > 0) this.#options.onCommit(writes);
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
  #requeueOrReject(
    members: readonly Member[],
    error: unknown,
    failed: OpenGroup | undefined,
  ): void {
    const { requeue, onFailure } = this.#options;
    if (isStorageFailure(error)) {
      checkBegun(members);
      onFailure(error);
    } else undoBegun(members);
    if (error instanceof StorageConflict) {
      if (failed?.snapshot.hasGivenRecent === true) this.#options.recent?.drop();
      this.#knownLookups = failed?.lookups ?? [];
      this.#requeueAfterConflict(error, members);
    } else if (error instanceof StorageRefusal && members.length > 1) {
      for (const member of members) member.groupSize = 1;
      requeue(members);
    } else {
      const reason = error instanceof StorageRefusal ? refused(error) : error;
      for (const member of members) member.reject(reason);
    }
  }

  /** Requeues the members that have not met as many conflicts as they may. Rejects the others. */
  #requeueAfterConflict(conflict: StorageConflict, members: readonly Member[]): void {
    for (const member of members) {
      member.conflicts = conflict.lastsForTransaction ? member.maxConflicts : member.conflicts + 1;
      if (member.conflicts >= member.maxConflicts) member.reject(this.#options.contended(conflict));
      if (member.conflicts > 1) member.groupSize = 1;
    }
    this.#options.requeue(members.filter((each) => each.conflicts < each.maxConflicts));
  }
}

/** Not the whole run: its transaction need not be kept until the commit. */
function runOf({ member, reads: { lookups }, overlay }: BodyRun): Run {
  return { member, lookups, overlay };
}
