import type { TidingsError } from "../kernel/index.ts";

/** A command of several transactions. */
export interface AcceptedCommand {
  /** Why the rest of the command is refused: the engine stops and waits no longer. */
  refusal: TidingsError | undefined;
}

/**
 * Commands that take several transactions. A store that closes waits for them, up to its deadline.
 */
export class AcceptedCommands {
  readonly #running = new Map<AcceptedCommand, Promise<unknown>>();

  async run<T>(command: (part: AcceptedCommand) => Promise<T>): Promise<T> {
    const part: AcceptedCommand = { refusal: undefined };
    const running = command(part);
    this.#running.set(part, running);
    try {
      return await running;
    } finally {
      this.#running.delete(part);
    }
  }

  /** Resolves when no command runs. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running.values());
  }

  refuseRest(refusal: TidingsError): void {
    for (const part of this.#running.keys()) part.refusal = refusal;
  }
}
