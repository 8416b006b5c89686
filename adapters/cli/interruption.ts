import { note, red } from "./terminal.ts";

/** The exit status of a program that Ctrl+C ended at once. */
const interrupted = 130;

/**
 * A signal within this time after the first one counts as the same, in milliseconds: `npx` repeats
 * the Ctrl+C that the terminal has already sent to this process.
 */
const sameMs = 500;

/** Codes of errors that say that nobody reads the output: a pipe or a terminal was closed. */
const unread: ReadonlySet<string | undefined> = new Set(["EPIPE", "EIO"]);

/**
 * Returns a signal that aborts at Ctrl+C, when the process is asked to end, and when its output
 * cannot be written. The command then ends by itself. A second Ctrl+C ends the process at once.
 */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  let stoppedAt = Infinity;
  const stop = (): void => {
    if (performance.now() - stoppedAt > sameMs) process.exit(interrupted);
    stoppedAt = Math.min(stoppedAt, performance.now());
    controller.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // A reader that ends early, such as `head`, ends the command too. That is no failure.
      if (!unread.has(error.code) && process.exitCode !== 1) {
        process.exitCode = 1;
        note(`${red("Error:")} The output cannot be written: ${error.message}.`);
      }
      controller.abort();
    });
  }
  return controller.signal;
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
