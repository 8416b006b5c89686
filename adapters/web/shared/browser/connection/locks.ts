/**
 * Runs `work` while no other tab holds the lock of this name. A page gets no locks on a plain http
 * address, and if the browser stores nothing for it. Then tabs do not wait for each other.
 * @throws the reason of `signal` if it aborts before the lock is there
 */
export async function withLock<Result>(
  name: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  if (!("locks" in navigator)) return work();
  let isHeld = false;
  try {
    return await navigator.locks.request(name, signal === undefined ? {} : { signal }, () => {
      isHeld = true;
      return work();
    });
  } catch (error) {
    if (isHeld || signal?.aborted === true) throw error;
    return work();
  }
}
