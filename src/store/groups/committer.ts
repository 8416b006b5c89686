import {
  StorageConflict,
  type Clock,
  type Group,
  type Lookup,
  type StoragePort,
  type Write,
} from "../../ports/index.ts";
import { isStorageFailure } from "../errors.ts";
import { Overlay } from "../transactions/overlay.ts";
import { GroupSnapshot } from "../transactions/snapshot.ts";
import { BodyRunner, type BodyRun, type BodyRunnerOptions, type Result } from "./body-runner.ts";
import {
  forgetBegunWork,
  maxGroupSize,
  type CommandQueue,
  type QueuedCommand,
} from "./command-queue.ts";
import { GroupPace } from "./group-pace.ts";
import { RowSet } from "./row-set.ts";
import { settleCommitted, settleFailed, type SettleOptions } from "./settle.ts";

export interface CommitterOptions extends BodyRunnerOptions, SettleOptions {
  readonly port: Pick<StoragePort, "begin" | "yieldToEventLoop" | "capabilities">;
  /**
   * Whether no body runs while a group commits. The bodies of a group that locks rows must not wait
   * for a commit, which may need these rows.
   */
  readonly oneAtATime?: boolean;
  readonly clock: Clock;
  /** If undefined, commands that meet a locked row run again at once. */
  readonly blocked?: Blocked | undefined;
}

/** Where commands wait that need a row which another transaction has locked. */
export interface Blocked {
  /** Whether a command must wait behind a blocked one, because both need the same rows. */
  mustWait(run: BodyRun): boolean;
  /**
   * Adds the commands of a group whose commit met a locked row, with the conflict. Or commands that
   * must wait behind others.
   */
  add(runs: readonly BodyRun[], met?: StorageConflict): void;
}

/** A group from its beginning to the end of its commit. */
interface OpenGroup {
  readonly group: Group;
  readonly exclusive: boolean;
  readonly snapshot: GroupSnapshot;
  /** The writes of the commands. */
  readonly overlay: Overlay;
  /** The commands that the group has taken from the queue. */
  readonly commands: QueuedCommand[];
  /** The runs of the bodies that ran at the same time. Empty if they ran one after the other. */
  readonly runs: BodyRun[];
  /** The results of the commands whose bodies have run, in order. */
  readonly results: Map<QueuedCommand, Result>;
}

/** If at least this many commands wait, half of them are enough for a group. */
const minToSplit = 32;

/**
 * Commits groups of commands, one group after the other. The `work` of a command is its body. While
 * one group commits, the bodies of the next one run on top of its writes.
 *
 * A group has the effect of running its bodies one after the other, each on top of the writes of
 * the earlier ones. Then all writes are committed at once. The commands resolve or reject only
 * after the commit, since a result may depend on what an earlier command wrote.
 *
 * When a body or the commit meets a conflict, every command runs again in an exclusive group. After
 * a second conflict, or when the storage refuses a write permanently, each command commits in a
 * separate group, so that one command cannot make the others fail again. When the commit meets a
 * locked row, the commands run again among the blocked commands.
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
  /** Lookups of the commands that run again. The next group reads them in one batch. */
  #knownLookups: readonly Lookup[] = [];

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#bodies = new BodyRunner(options);
  }

  /**
   * Takes commands from `queue`. Settles them, or requeues them to run again. Resolves when the
   * next group can start. Never rejects.
   */
  async runGroup(queue: CommandQueue): Promise<void> {
    const { port, requeue, oneAtATime = false } = this.#options;
    // An exclusive group locks what it reads.
    if (queue.hasConflicts || oneAtATime) await this.idle();
    // If that commit met a conflict, its commands wait to run again now.
    const exclusive = queue.hasConflicts;
    const previous = this.#previous;
    let open: OpenGroup | undefined;
    try {
      open = this.#open(exclusive);
      if (exclusive) await open.snapshot.readAll(this.#takeKnownLookups());
      if (port.capabilities.synchronous) await this.#runSerially(queue, open);
      else await this.#runConcurrently(queue, open, previous?.committed);
      if (previous !== undefined && !(await previous.committed)) {
        // The bodies read writes that were not committed.
        await open.group.abort();
        forgetBegunWork(open.commands);
        requeue(open.commands);
        return;
      }
      this.#commit(open);
    } catch (error) {
      await open?.group.abort();
      await previous?.committed;
      const taken = open?.commands ?? [];
      // If the group failed before it took commands, the first commands of the queue fail with it.
      const commands = taken.length > 0 ? taken : [...queue.takeGroup(maxGroupSize)];
      this.#settleFailed(commands, error, open);
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
    return { group, exclusive, snapshot, overlay, commands: [], runs: [], results: new Map() };
  }

  #takeKnownLookups(): readonly Lookup[] {
    const known = this.#knownLookups;
    this.#knownLookups = [];
    return known;
  }

  /**
   * Takes commands and runs their bodies one after the other, each on top of the writes of the
   * earlier ones. Throws when the group fails.
   */
  async #runSerially(queue: CommandQueue, open: OpenGroup): Promise<void> {
    const { port, clock } = this.#options;
    const pace = new GroupPace(clock, this.#syncCommitMs);
    for (const command of queue.takeGroup(this.#maxCommands(queue.size))) {
      open.commands.push(command);
      open.results.set(command, await this.#runOnTop(command, clock.now(), open));
      pace.bodyEnded(command.origin);
      if (pace.mustEnd || queue.size === 0) break;
      // An exclusive group may hold a lock, so it makes no pause. Callers' commands that already
      // wait join the group without one.
      if (open.exclusive || queue.hasCallers || !pace.isSliceOver) continue;
      if (pace.mayEnd && this.#previous === undefined) break;
      await pace.pause(() => port.yieldToEventLoop());
    }
  }

  /**
   * Takes commands and runs their bodies at the same time, each without the writes of the others.
   * Runs those again that read what an earlier one wrote. Throws when the group fails.
   * `previousCommitted` tells whether the commit in progress succeeds. If not, all commands run
   * again.
   */
  async #runConcurrently(
    queue: CommandQueue,
    open: OpenGroup,
    previousCommitted: Promise<boolean> | undefined,
  ): Promise<void> {
    const { commands, snapshot, overlay, runs, results } = open;
    commands.push(...queue.takeGroup(maxGroupSize));
    // Bodies that run again keep the time. Otherwise they could take for past what an earlier body
    // has only begun, such as the last hand-over of a throttled sender.
    const now = this.#options.clock.now();
    const ended = await Promise.all(
      commands.map((command) => this.#bodies.run(command, now, snapshot, new Overlay())),
    );
    runs.push(...ended);
    for (const { result } of runs) throwIfGroupFails(result);
    const waiting = this.#runsThatWait(runs);
    if (waiting.size > 0) {
      // If the previous group fails, its commands run again, and must do so before these.
      if ((await previousCommitted) === false) return;
      forgetBegunWork([...waiting].map(({ command }) => command));
      this.#options.blocked?.add([...waiting]);
      runs.splice(0, runs.length, ...ended.filter((run) => !waiting.has(run)));
      commands.splice(0, commands.length, ...runs.map(({ command }) => command));
    }
    for (const run of runs) {
      const { command } = run;
      results.set(command, mergeInto(run, overlay) ?? (await this.#runOnTop(command, now, open)));
    }
  }

  /**
   * Returns the runs of the commands that must wait behind blocked ones, because both need the same
   * rows. A command that shares rows with one of these goes with it, also an earlier one: if it met
   * a conflict in this group, it would run again after the later one.
   */
  #runsThatWait(runs: readonly BodyRun[]): ReadonlySet<BodyRun> {
    const { blocked } = this.#options;
    const waiting = new Set<BodyRun>();
    const rows = new RowSet();
    let before: number;
    do {
      before = waiting.size;
      for (const run of runs) {
        if (blocked === undefined || !run.result.ok || waiting.has(run)) continue;
        if (!blocked.mustWait(run) && !(waiting.size > 0 && rows.overlaps(run))) continue;
        waiting.add(run);
        rows.add(run);
      }
    } while (waiting.size > before);
    return waiting;
  }

  /**
   * Returns the maximum number of waiting commands that the next group takes. Callers whose
   * commands resolve together also send their next commands together. If one group took them all,
   * no body could run during its commit. So if commits are asynchronous and none is in progress,
   * the group takes half of the commands, and the other half runs during its commit.
   */
  #maxCommands(waiting: number): number {
    const wouldIdle = this.#isAsync && this.#previous === undefined && waiting >= minToSplit;
    return wouldIdle ? Math.min(Math.ceil(waiting / 2), maxGroupSize) : maxGroupSize;
  }

  /** Runs one body on top of the group's writes. Keeps its writes when it succeeds. */
  async #runOnTop(
    command: QueuedCommand,
    now: number,
    { snapshot, overlay }: OpenGroup,
  ): Promise<Result> {
    const { result } = await this.#bodies.run(command, now, snapshot, overlay);
    throwIfGroupFails(result);
    return result;
  }

  /** Begins the commit, and settles the commands if it has already ended. */
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
      settleCommitted(open.results, open.overlay, writes, this.#options);
    }
  }

  #settleLater(open: OpenGroup, writes: readonly Write[], committing: Promise<void>): void {
    const { group, commands, overlay } = open;
    const committed = committing.then(
      () => {
        settleCommitted(open.results, open.overlay, writes, this.#options);
        return true;
      },
      async (error: unknown) => {
        await group.abort();
        const { blocked } = this.#options;
        if (blocked !== undefined && error instanceof StorageConflict && error.isLocked) {
          forgetBegunWork(commands);
          blocked.add(open.runs, error);
        } else this.#settleFailed(commands, error, open);
        return false;
      },
    );
    const started = { overlay, committed };
    this.#previous = started;
    void committed.then(() => {
      if (this.#previous === started) this.#previous = undefined;
    });
  }

  #settleFailed(
    commands: readonly QueuedCommand[],
    error: unknown,
    failed: OpenGroup | undefined,
  ): void {
    // The commands read the same when they run again.
    if (error instanceof StorageConflict) {
      this.#knownLookups = failed?.runs.flatMap(({ lookups }) => lookups) ?? [];
    }
    settleFailed(commands, error, failed?.snapshot.hasGivenRecent === true, this.#options);
  }
}

/**
 * Throws an error that fails the whole group: the storage could not be read, or the body met a
 * conflict. Another run in this group would meet it, too, because the group reads each row only
 * once.
 */
function throwIfGroupFails(result: Result): void {
  if (result.ok) return;
  const { error } = result;
  if (isStorageFailure(error) || error instanceof StorageConflict) throw error;
}

/**
 * Merges the run of a body into its group. Returns undefined if the body must run again on top of
 * the group's writes: an earlier command wrote what it read.
 */
function mergeInto({ result, overlay, lookups }: BodyRun, group: Overlay): Result | undefined {
  if (lookups.some((lookup) => group.writesUnder(lookup))) return undefined;
  return !result.ok || group.merge(overlay) ? result : undefined;
}
