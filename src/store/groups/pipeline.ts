import type { TidingsError } from "../../kernel/index.ts";
import type { Clock } from "../../ports/index.ts";
import { BlockedCommands, type BlockedCommandsOptions } from "./blocked-commands.ts";
import { CommandQueue, type QueuedCommand } from "./command-queue.ts";
import { Committer } from "./committer.ts";

/**
 * When the storage fails, commands that have waited for this long fail too, in milliseconds. If the
 * storage does not respond, each group takes until its deadline, and the commands of later groups
 * would wait for all of these deadlines.
 */
const maxWaitMs = 5_000;

/** Commands that wait, and the committer that takes them, group by group, until none waits. */
export class Pipeline {
  readonly #queue: CommandQueue;
  readonly #committer: Committer;
  /** Undefined if commands that meet a locked row run again at once. */
  readonly #blocked: BlockedCommands | undefined;
  readonly #clock: Clock;
  readonly #yieldToEventLoop: () => Promise<void>;
  #draining: Promise<void> | undefined;
  /** Why the storage failed, if it did while the current group ran. */
  #failure: TidingsError | undefined;

  constructor(options: BlockedCommandsOptions) {
    const { port, clock, onFailure } = options;
    this.#clock = clock;
    this.#queue = new CommandQueue(port.capabilities);
    // Commands that lock rows do not wait for those of others (`takeFoundJob`). A synchronous
    // storage has one writer.
    const canBlock = options.oneAtATime !== true && !port.capabilities.synchronous;
    this.#blocked = canBlock ? new BlockedCommands(options) : undefined;
    this.#committer = new Committer({
      ...options,
      blocked: this.#blocked,
      requeue: (commands) => this.#requeue(commands),
      onFailure: (error) => {
        onFailure(error);
        this.#failure = error;
        this.#rejectLongWaiting(error);
      },
    });
    this.#yieldToEventLoop = () => port.yieldToEventLoop();
  }

  /** The number of commands that wait. */
  get size(): number {
    return this.#queue.size + (this.#blocked?.size ?? 0);
  }

  add(command: QueuedCommand): void {
    this.#queue.add(command);
    this.#startDraining();
  }

  /** Resolves when no command waits or commits. */
  async idle(): Promise<void> {
    // A failed commit requeues its commands, or they become blocked.
    do {
      await this.#draining;
      await this.#committer.idle();
      await this.#blocked?.idle();
    } while (this.#draining !== undefined);
  }

  #requeue(commands: readonly QueuedCommand[]): void {
    this.#queue.addAgain(commands);
    // The commands of a group wait again if the commit before it has failed.
    if (this.#failure !== undefined) this.#rejectLongWaiting(this.#failure);
    this.#startDraining();
  }

  #rejectLongWaiting(failure: TidingsError): void {
    const since = this.#clock.monotonic() - maxWaitMs;
    for (const { reject } of this.#queue.takeArrivedBefore(since)) reject(failure);
  }

  #startDraining(): void {
    this.#draining ??= this.#drain();
  }

  async #drain(): Promise<void> {
    // Yields first, so that commands which arrive together share the first commit.
    await this.#yieldToEventLoop();
    while (this.#queue.size > 0) {
      // The last commit may have failed when no group waited for it, long ago.
      this.#failure = undefined;
      await this.#committer.runGroup(this.#queue);
      await this.#yieldToEventLoop();
    }
    this.#draining = undefined;
  }
}
