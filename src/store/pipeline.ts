import { CommandQueue, type Member } from "./command-queue.ts";
import { Committer, type CommitterOptions } from "./committer.ts";

/** Commands that wait, and the committer that takes them, group by group, until none waits. */
export class Pipeline {
  readonly #queue: CommandQueue;
  readonly #committer: Committer;
  readonly #yieldToEventLoop: () => Promise<void>;
  #draining: Promise<void> | undefined;

  constructor(options: Omit<CommitterOptions, "requeue">) {
    const { port } = options;
    this.#queue = new CommandQueue(port.capabilities);
    this.#committer = new Committer({ ...options, requeue: (members) => this.#requeue(members) });
    this.#yieldToEventLoop = () => port.yieldToEventLoop();
  }

  /** The number of commands that wait. */
  get size(): number {
    return this.#queue.size;
  }

  add(member: Member): void {
    this.#queue.add(member);
    this.#startDraining();
  }

  /** Resolves when no command waits or commits. */
  async idle(): Promise<void> {
    // A failed commit requeues its commands.
    do {
      await this.#draining;
      await this.#committer.idle();
    } while (this.#draining !== undefined);
  }

  #requeue(members: readonly Member[]): void {
    this.#queue.addAgain(members);
    this.#startDraining();
  }

  #startDraining(): void {
    this.#draining ??= this.#drain();
  }

  async #drain(): Promise<void> {
    // Yields first, so that commands which arrive together share the first commit.
    await this.#yieldToEventLoop();
    while (this.#queue.size > 0) {
      await this.#committer.runGroup(this.#queue);
      await this.#yieldToEventLoop();
    }
    this.#draining = undefined;
  }
}
