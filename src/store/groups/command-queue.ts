import type { StorageCapabilities } from "../../ports/index.ts";
import type { BegunWork, UnscopedTx } from "../transactions/transaction.ts";

/**
 * Who gave a command. `caller`: the host application or an API client, which waits for the result.
 * `item`: the same, but for one element of a list, such as a message of a batch. `engine`: the
 * engine itself, for example a job.
 */
export type Origin = "engine" | "caller" | "item";

/** A command whose runs met so many conflicts fails with `storage_contended`. */
export const maxConflicts = 8;

/** The maximum number of commands of a group. More would delay its first commands. */
export const maxGroupSize = 128;

/** A command that waits for its commit. */
export interface QueuedCommand {
  readonly work: (tx: UnscopedTx) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Its position in the order of arrival. */
  readonly place: number;
  /** When it arrived, by the monotonic clock. */
  readonly arrivedAt: number;
  readonly origin: Origin;
  /** How many runs of the command failed because its group met a conflict. */
  conflicts: number;
  /** With so many of these, the command fails. */
  readonly maxConflicts: number;
  /**
   * The maximum number of commands of its group. It is lowered when its failure and those of other
   * commands must not affect each other. With 1, the command commits alone.
   */
  groupSize: number;
  /** The work that began in the last run of the command. It goes on after the commit. */
  begun: BegunWork | undefined;
}

/** Forgets the work that began in runs which are not committed. */
export function forgetBegunWork(commands: readonly QueuedCommand[]): void {
  for (const command of commands) {
    command.begun?.onUndone();
    command.begun = undefined;
  }
}

/** Continues the work that began in runs, if it turns out that they were committed. */
export function checkBegunWork(commands: readonly QueuedCommand[]): void {
  for (const command of commands) {
    command.begun?.onOutcomeUnknown();
    command.begun = undefined;
  }
}

/**
 * While callers' commands wait, this many commands of the engine run before each of them. A storage
 * that is not synchronous needs round trips for each group, so a command that misses a group waits
 * longer. There, every second command is a caller's.
 */
const engineWeight = { synchronous: 3, asynchronous: 1 } as const;

/** While items of lists wait, this many other commands of callers run before each of them. */
const callerWeight = 3;

/**
 * The commands that wait. Those that must run again come first. The engine's own work comes before
 * callers' commands, since it completes what they began: under load, messages are delivered before
 * more are accepted, so few are under way at a time. Every fourth command is a caller's, or every
 * second one if the storage is asynchronous. Of these, every fourth is an item of a list.
 */
export class CommandQueue {
  readonly #again = new Arrivals();
  readonly #ofEngine = new Arrivals();
  readonly #ofCallers = new Arrivals();
  readonly #items = new Arrivals();
  /** All commands except those that run again. */
  readonly #others: Line;

  constructor({ synchronous }: Pick<StorageCapabilities, "synchronous">) {
    const weight = engineWeight[synchronous ? "synchronous" : "asynchronous"];
    const callersAndItems = new WeightedLines(this.#ofCallers, callerWeight, this.#items);
    this.#others = new WeightedLines(this.#ofEngine, weight, callersAndItems);
  }

  get size(): number {
    return this.#again.size + this.#others.size;
  }

  /** Whether commands of callers wait, other than items of lists. */
  get hasCallers(): boolean {
    return this.#ofCallers.size > 0;
  }

  /** Whether commands that met a conflict wait. They run again in an exclusive group. */
  get hasConflicts(): boolean {
    return this.#again.some(({ conflicts }) => conflicts > 0);
  }

  add(command: QueuedCommand): void {
    if (command.origin === "engine") this.#ofEngine.add(command);
    else if (command.origin === "item") this.#items.add(command);
    else this.#ofCallers.add(command);
  }

  /**
   * Adds commands that run again, in the order of arrival, so that the commands of one caller keep
   * their order.
   */
  addAgain(commands: readonly QueuedCommand[]): void {
    for (const command of commands) this.#again.add(command);
    this.#again.sort();
  }

  /** Takes all commands that arrived before a time. */
  takeArrivedBefore(time: number): QueuedCommand[] {
    const all = [this.#again, this.#ofEngine, this.#ofCallers, this.#items];
    return all.flatMap((arrivals) => arrivals.takeArrivedBefore(time));
  }

  /** Takes up to `max` commands that may share a commit, each when the iterator asks for it. */
  *takeGroup(max: number): Generator<QueuedCommand> {
    const runsAgain = this.#again.size > 0;
    let size = max;
    for (let taken = 0; taken < size; taken++) {
      const hasAgain = this.#again.size > 0;
      // A command that runs again may need an exclusive group. This group began as a shared one.
      if (hasAgain && !runsAgain) return;
      const line = hasAgain ? this.#again : this.#others;
      const command = line.first;
      if (command === undefined || command.groupSize <= taken) return;
      size = Math.min(size, command.groupSize);
      line.take();
      yield command;
    }
  }
}

/** Commands that are taken one after the other. */
interface Line {
  readonly size: number;
  /** The command that `take` takes. */
  readonly first: QueuedCommand | undefined;
  take(): void;
}

/** Commands in the order of arrival. */
class Arrivals implements Line {
  #commands: QueuedCommand[] = [];

  get size(): number {
    return this.#commands.length;
  }

  get first(): QueuedCommand | undefined {
    return this.#commands[0];
  }

  some(test: (command: QueuedCommand) => boolean): boolean {
    return this.#commands.some(test);
  }

  add(command: QueuedCommand): void {
    this.#commands.push(command);
  }

  /** Restores the order of arrival. */
  sort(): void {
    this.#commands.sort((a, b) => a.place - b.place);
  }

  take(): void {
    this.#commands.shift();
  }

  takeArrivedBefore(time: number): QueuedCommand[] {
    const taken = this.#commands.filter(({ arrivedAt }) => arrivedAt < time);
    if (taken.length > 0) this.#commands = this.#commands.slice(taken.length);
    return taken;
  }
}

/** Two lines. While commands wait in both, one of `others` follows each `weight` of `preferred`. */
class WeightedLines implements Line {
  readonly #preferred: Line;
  readonly #weight: number;
  readonly #others: Line;
  /** How many preferred commands were taken since the last one of the others. */
  #taken = 0;

  constructor(preferred: Line, weight: number, others: Line) {
    this.#preferred = preferred;
    this.#weight = weight;
    this.#others = others;
  }

  get size(): number {
    return this.#preferred.size + this.#others.size;
  }

  get first(): QueuedCommand | undefined {
    return this.#next.first;
  }

  take(): void {
    const next = this.#next;
    this.#taken = next === this.#preferred ? this.#taken + 1 : 0;
    next.take();
  }

  get #next(): Line {
    if (this.#preferred.size === 0) return this.#others;
    const isEnough = this.#others.size > 0 && this.#taken >= this.#weight;
    return isEnough ? this.#others : this.#preferred;
  }
}
