import type { QueuedCommand } from "./command-queue.ts";

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
