/** A command of the program. */
export interface Command {
  /** What `--help` prints. */
  readonly usage: string;
  /** Runs the command. A long one ends when `stopped` aborts. */
  run(args: readonly string[], stopped: AbortSignal): Promise<void>;
}
