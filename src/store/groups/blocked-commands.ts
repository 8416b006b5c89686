import type { TidingsError } from "../../kernel/index.ts";
import type { Clock, StorageConflict } from "../../ports/index.ts";
import { locked } from "../errors.ts";
import type { BodyRun } from "./body-runner.ts";
import { CommandQueue, maxGroupSize, type QueuedCommand } from "./command-queue.ts";
import { Committer, type Blocked, type CommitterOptions } from "./committer.ts";
import { RowSet } from "./row-set.ts";

/** How long a command waits for a row that another transaction has locked, in milliseconds. */
const maxBlockedMs = 5_000;
/**
 * The pause before a command tries again, in milliseconds. A try that waits for a lock delays the
 * exclusive groups of all processes.
 */
const pauseMs = 100;
/**
 * The size of the groups in which the commands of a larger one run again. It is about the root of
 * the maximum, so that few commits find the command that needs the locked row.
 */
const smallGroupSize = 12;

export interface BlockedCommandsOptions extends Omit<CommitterOptions, "requeue" | "blocked"> {
  /** When this has aborted, a command fails that is still blocked after it has tried again. */
  readonly stopDeadline: AbortSignal;
}

interface BlockedCommand {
  readonly command: QueuedCommand;
  /** When it began to wait, by the monotonic clock. */
  readonly since: number;
  /** When its last run ended, or it was added, by the monotonic clock. */
  triedAt: number;
  /** What its last run read, wrote and held. */
  run: BodyRun;
  /** The conflict that it met alone. Undefined if it is not known to need a locked row itself. */
  conflict: StorageConflict | undefined;
}

interface Sorted {
  /** The first command for each locked row. */
  readonly first: BlockedCommand[];
  /** The commands that wait for none of these, up to the size of a group. */
  readonly free: BlockedCommand[];
  /** All others: the later ones for the same rows as one of `first`, and those for a next group. */
  readonly behind: BlockedCommand[];
}

/**
 * Commands that met a row which another transaction has locked, those of the same group, and later
 * commands for the rows of these. They run again in groups of their own, so that all other commands
 * go on. Those that need a locked row are found by smaller and smaller groups, and then try again
 * from time to time. Commands for the same row keep their order.
 */
export class BlockedCommands implements Blocked {
  readonly #clock: Clock;
  readonly #yieldToEventLoop: () => Promise<void>;
  readonly #queue: CommandQueue;
  readonly #committer: Committer;
  /** A command that tries again stays here until it is settled. */
  readonly #blocked = new Map<QueuedCommand, BlockedCommand>();
  /** The rows of all these commands. */
  #rows = new RowSet();
  #trying: Promise<void> | undefined;
  /**
   * The rows of the commands that the current try has found blocked. Its later commands wait behind
   * them. Commands outside of the try arrived later or have other rows, so the try ignores them.
   */
  #lockedRows = new RowSet();
  /** Those of the current try that are still blocked. */
  readonly #stillBlocked = new Set<QueuedCommand>();
  readonly #stopDeadline: AbortSignal;
  /** Why the storage failed in the current try, if it did. */
  #failure: TidingsError | undefined;

  constructor(options: BlockedCommandsOptions) {
    const { clock, port, stopDeadline, onFailure } = options;
    this.#clock = clock;
    this.#stopDeadline = stopDeadline;
    this.#yieldToEventLoop = () => port.yieldToEventLoop();
    this.#queue = new CommandQueue(port.capabilities);
    this.#committer = new Committer({
      ...options,
      requeue: (commands) => this.#queue.addAgain(commands),
      blocked: {
        mustWait: (run) => this.#lockedRows.overlaps(run),
        add: (runs, conflict) => this.#noteBlocked(runs, conflict),
      },
      onFailure: (error) => {
        onFailure(error);
        this.#failure = error;
      },
    });
  }

  /** The number of commands that wait. */
  get size(): number {
    return this.#blocked.size;
  }

  mustWait(run: BodyRun): boolean {
    return this.size > 0 && this.#rows.overlaps(run);
  }

  add(runs: readonly BodyRun[], met?: StorageConflict): void {
    const since = this.#clock.monotonic();
    const conflict = runs.length === 1 ? met : undefined;
    for (const run of runs) {
      const { command } = run;
      allowSharedGroup(command);
      this.#blocked.set(command, { command, since, triedAt: since, run, conflict });
      this.#rows.add(run);
    }
    if (met !== undefined) runInSmallerGroups(runs);
    this.#trying ??= this.#tryUntilNoneWaits();
  }

  /** Resolves when no command waits. */
  async idle(): Promise<void> {
    await this.#trying;
  }

  /**
   * Lets the commands that are free run together. In between, each command that needs a locked row
   * tries again alone, so that it holds up no other one while it waits for the lock.
   */
  async #tryUntilNoneWaits(): Promise<void> {
    await this.#yieldToEventLoop();
    while (this.size > 0) {
      const { free } = this.#sort();
      await this.#try(free);
      const [next] = this.#sort().first.toSorted((a, b) => a.triedAt - b.triedAt);
      if (next !== undefined && this.#clock.monotonic() - next.triedAt >= pauseMs) {
        await this.#try([next]);
        if (this.#blocked.has(next.command)) this.#rejectLongBlocked(next);
      } else if (free.length === 0) await this.#clock.sleep(pauseMs);
    }
    this.#trying = undefined;
  }

  #sort(): Sorted {
    const sorted: Sorted = { first: [], behind: [], free: [] };
    const rows = new RowSet();
    const inOrder = [...this.#blocked.values()].toSorted(
      (a, b) => a.command.place - b.command.place,
    );
    for (const blocked of inOrder) {
      const isBehind = rows.overlaps(blocked.run);
      const needsLocked = blocked.conflict !== undefined;
      if (!isBehind && !needsLocked && sorted.free.length < maxGroupSize) {
        sorted.free.push(blocked);
      } else {
        if (needsLocked && !isBehind) sorted.first.push(blocked);
        else sorted.behind.push(blocked);
        rows.add(blocked.run);
      }
    }
    return sorted;
  }

  /** Runs commands until each is settled or blocked again, or the storage fails. */
  async #try(blocked: readonly BlockedCommand[]): Promise<void> {
    if (blocked.length === 0) return;
    this.#failure = undefined;
    this.#lockedRows = new RowSet();
    this.#stillBlocked.clear();
    this.#queue.addAgain(blocked.map(({ command }) => command));
    while (this.#queue.size > 0 && this.#failure === undefined) {
      await this.#committer.runGroup(this.#queue);
      await this.#committer.idle();
    }
    if (this.#failure !== undefined) this.#rejectAll(this.#failure);
    for (const { command } of blocked) {
      if (!this.#stillBlocked.has(command)) this.#blocked.delete(command);
    }
    this.#rows = new RowSet();
    for (const { run } of this.#blocked.values()) this.#rows.add(run);
  }

  /**
   * Notes that commands of the current try are blocked. If a larger group met the conflict, they
   * first run again in smaller ones, to find those that need the locked row.
   */
  #noteBlocked(runs: readonly BodyRun[], met: StorageConflict | undefined): void {
    if (met !== undefined && runs.length > 1) {
      runInSmallerGroups(runs);
      this.#queue.addAgain(runs.map(({ command }) => command));
      return;
    }
    for (const run of runs) {
      const { command } = run;
      allowSharedGroup(command);
      this.#lockedRows.add(run);
      this.#stillBlocked.add(command);
      const blocked = this.#blocked.get(command);
      if (blocked === undefined) continue;
      blocked.run = run;
      blocked.triedAt = this.#clock.monotonic();
      blocked.conflict ??= met;
    }
  }

  /** If the storage does not respond, each try would take until its deadline. */
  #rejectAll(failure: TidingsError): void {
    this.#queue.takeArrivedBefore(Infinity);
    for (const { reject } of this.#blocked.keys()) reject(failure);
    this.#blocked.clear();
  }

  /** Rejects a command that has waited for its row for too long, and those behind it that have. */
  #rejectLongBlocked(first: BlockedCommand): void {
    const now = this.#clock.monotonic();
    const maxMs = this.#stopDeadline.aborted ? 0 : maxBlockedMs;
    const rows = new RowSet();
    for (const blocked of [first, ...this.#sort().behind]) {
      const { command, since, run } = blocked;
      if (blocked !== first && !rows.overlaps(run)) continue;
      rows.add(run);
      if (now - since < maxMs) continue;
      command.reject(locked(first.conflict));
      this.#blocked.delete(command);
    }
  }
}

/** Lets the commands of a group that met a locked row run again in smaller ones. */
function runInSmallerGroups(runs: readonly BodyRun[]): void {
  const size = runs.length > smallGroupSize ? smallGroupSize : 1;
  for (const { command } of runs) command.groupSize = size;
}

/**
 * Lets a command run again in a shared group. An exclusive one, as after other conflicts, would let
 * all processes wait for the lock.
 */
function allowSharedGroup(command: QueuedCommand): void {
  command.conflicts = 0;
  command.groupSize = maxGroupSize;
}
