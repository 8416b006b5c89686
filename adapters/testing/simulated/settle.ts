/** Waits until the work of this thread needs either time or the outside world to go on. */

/** The maximum number of turns of the event loop in which work settles. Usually it needs few. */
const maxTurns = 1_000_000;

/** How many callers of `settle` wait for their own `setImmediate` callback right now. */
let settling = 0;

/** How many calls of this thread hold virtual time. */
let holds = 0;
/** Called when no call holds virtual time any more. */
const onRelease: (() => void)[] = [];

/**
 * Resolves when all pending promises and `setImmediate` callbacks have run, and those that they
 * have started. Does not wait for sockets, files, threads or timers.
 * @throws Error when work does not settle in 1,000,000 turns of the event loop
 */
export async function settle(): Promise<void> {
  let turns = 0;
  do {
    turns += 1;
    if (turns > maxTurns) {
      const count = maxTurns.toLocaleString("en-US");
      throw new Error(
        `Work did not settle in ${count} turns of the event loop: ` +
          "something repeats without waiting for time.",
      );
    }
    while (holds > 0) await new Promise<void>((resolve) => onRelease.push(resolve));
    settling += 1;
    await yieldToEventLoop();
    settling -= 1;
    // Callers of `settle`, such as two clocks, must not wait for each other.
  } while (holds > 0 || pendingImmediates() > settling);
}

/**
 * Makes `settle` wait while a call takes real time. Returns a function that ends this, which may be
 * called several times.
 */
export function holdTime(): () => void {
  let isHeld = true;
  holds += 1;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    holds -= 1;
    if (holds === 0) for (const resume of onRelease.splice(0)) resume();
  };
}

/** Resolves in the next turn of the event loop. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** How many `setImmediate` callbacks wait. Pending promises have run before a callback runs. */
function pendingImmediates(): number {
  let count = 0;
  for (const resource of process.getActiveResourcesInfo()) if (resource === "Immediate") count += 1;
  return count;
}
