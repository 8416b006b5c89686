import type { TidingsError } from "../kernel/index.ts";
import type { Clock, StorageConflict } from "../ports/index.ts";
import { CommandQueue, type Member } from "./command-queue.ts";
import { type Blocked, Committer, type CommitterOptions } from "./committer.ts";
import { locked } from "./errors.ts";
import type { Overlay } from "./overlay.ts";
import { RowSet } from "./row-set.ts";

/** How long a command waits for a row that another transaction has locked, in milliseconds. */
const maxBlockedMs = 5_000;
/**
 * The pause between two tries, in milliseconds. A try that waits for a lock delays the exclusive
 * groups of all processes.
 */
const pauseMs = 100;

interface BlockedCommand {
  readonly member: Member;
  /** When it began to wait, by the monotonic clock. */
  readonly since: number;
  /** What its last run wrote and held. */
  overlay: Overlay;
  /** The conflict with the transaction. Undefined if it waits for an earlier command only. */
  conflict: StorageConflict | undefined;
}

/**
 * Commands that need a row which another transaction has locked, and later commands for the rows of
 * these. They wait outside the groups, so that all other commands go on, and try again from time to
 * time. Commands for the same row keep their order.
 */
export class BlockedCommands implements Blocked {
  readonly #clock: Clock;
  readonly #queue: CommandQueue;
  readonly #committer: Committer;
  /** One that tries again stays here until it is settled. */
  readonly #commands = new Map<Member, BlockedCommand>();
  /** The rows of all these commands. */
  #rows = new RowSet();
  #trying: Promise<void> | undefined;
  /** The rows of the commands that have tried again in this round and are still blocked. */
  #lockedRows = new RowSet();
  /** Those of the last try that are still blocked. */
  readonly #stillBlocked = new Set<Member>();
  /** How long a command may wait. */
  #maxMs = maxBlockedMs;
  /** Why the storage failed in this round, if it did. */
  #failure: TidingsError | undefined;

  constructor(options: Omit<CommitterOptions, "requeue" | "blocked">) {
    const { clock, port, onFailure } = options;
    this.#clock = clock;
    this.#queue = new CommandQueue(port.capabilities);
    this.#committer = new Committer({
      ...options,
      requeue: (members) => this.#queue.addAgain(members),
      blocked: {
        mustWait: (overlay) => this.#lockedRows.overlaps(overlay),
        add: (member, overlay, conflict) => this.#addAgain(member, overlay, conflict),
      },
      onFailure: (error) => {
        onFailure(error);
        this.#failure = error;
      },
    });
  }

  /** The number of commands that wait. */
  get size(): number {
    return this.#commands.size;
  }

  mustWait(overlay: Overlay): boolean {
    return this.size > 0 && this.#rows.overlaps(overlay);
  }

  add(member: Member, overlay: Overlay, conflict?: StorageConflict): void {
    prepare(member);
    this.#commands.set(member, { member, since: this.#clock.monotonic(), overlay, conflict });
    this.#rows.add(overlay);
    this.#trying ??= this.#tryUntilNoneWaits();
  }

  /** From now on, lets a command fail that is still blocked when it has tried again. */
  hurry(): void {
    this.#maxMs = 0;
  }

  /** Resolves when no command waits. */
  async idle(): Promise<void> {
    await this.#trying;
  }

  async #tryUntilNoneWaits(): Promise<void> {
    while (this.size > 0) {
      await this.#clock.sleep(pauseMs);
      await this.#tryAll();
    }
    this.#trying = undefined;
  }

  /**
   * Tries the first command for each row alone, so that it holds up no other one when it waits for
   * the lock. When it has committed, the later commands for its rows follow together.
   */
  async #tryAll(): Promise<void> {
    this.#failure = undefined;
    this.#lockedRows = new RowSet();
    const commands = [...this.#commands.values()].toSorted(
      (a, b) => a.member.place - b.member.place,
    );
    const followers: BlockedCommand[] = [];
    const earlier = new RowSet();
    for (const command of commands) {
      if (earlier.overlaps(command.overlay)) followers.push(command);
      else await this.#try([command]);
      earlier.add(command.overlay);
    }
    const free: BlockedCommand[] = [];
    for (const command of followers) {
      if (this.#lockedRows.overlaps(command.overlay)) this.#lockedRows.add(command.overlay);
      else free.push(command);
    }
    await this.#try(free);
    this.#rejectLongBlocked();
    this.#rows = new RowSet();
    for (const { overlay } of this.#commands.values()) this.#rows.add(overlay);
  }

  /** Runs commands until each is settled or blocked again, or the storage fails. */
  async #try(commands: readonly BlockedCommand[]): Promise<void> {
    if (this.#failure !== undefined) return;
    this.#stillBlocked.clear();
    this.#queue.addAgain(commands.map(({ member }) => member));
    while (this.#queue.size > 0 && this.#failure === undefined) {
      await this.#committer.runGroup(this.#queue);
      await this.#committer.idle();
    }
    if (this.#failure !== undefined) this.#rejectAll(this.#failure);
    for (const { member } of commands) {
      if (!this.#stillBlocked.has(member)) this.#commands.delete(member);
    }
  }

  #addAgain(member: Member, overlay: Overlay, conflict: StorageConflict | undefined): void {
    prepare(member);
    this.#lockedRows.add(overlay);
    this.#stillBlocked.add(member);
    const command = this.#commands.get(member);
    if (command === undefined) return;
    command.overlay = overlay;
    command.conflict ??= conflict;
  }

  /** If the storage does not respond, each try would take until its deadline. */
  #rejectAll(failure: TidingsError): void {
    this.#queue.takeArrivedBefore(Infinity);
    for (const { reject } of this.#commands.keys()) reject(failure);
    this.#commands.clear();
  }

  #rejectLongBlocked(): void {
    const now = this.#clock.monotonic();
    for (const [member, { since, conflict }] of this.#commands) {
      if (now - since < this.#maxMs) continue;
      member.reject(locked(conflict));
      this.#commands.delete(member);
    }
  }
}

/** An exclusive group, as after other conflicts, would let all processes wait for the lock. */
function prepare(member: Member): void {
  member.conflicts = 0;
  member.alone = false;
}
