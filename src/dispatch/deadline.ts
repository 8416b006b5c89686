import type { Clock } from "../ports/clock.ts";

/**
 * What `work` answers, or `late()` when it has not by then. The signal that it gets aborts at the deadline, or with `outer`; work
 * that goes on all the same is not waited for: with `outer` this rejects.
 */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  late: () => T,
): Promise<T> {
  const deadline = new AbortController();
  const done = new AbortController();
  const over = clock.sleep(ms, done.signal).then(() => {
    // When the work is done this ends too: an abort that nobody waits for would cost an exception.
    if (!done.signal.aborted) deadline.abort();
    return late();
  });
  const aborted = new Promise<never>((_, reject) => {
    const abort = (): void => reject(new Error("aborted"));
    if (outer.aborted) abort();
    else outer.addEventListener("abort", abort, { once: true, signal: done.signal });
  });
  try {
    return await Promise.race([work(AbortSignal.any([deadline.signal, outer])), over, aborted]);
  } finally {
    // With a reason of its own an abort costs nothing; without one an exception is made, stack and all.
    done.abort("done");
  }
}
