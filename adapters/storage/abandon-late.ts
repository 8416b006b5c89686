import { pause } from "./pause.ts";

/** How long the calls in progress may take once the engine should have stopped, in milliseconds. */
const maxLateMs = 2_000;

/**
 * Calls `abandon` unless the engine stops in time. While other engines use the storage, their calls
 * must not fail, so this one waits, too.
 */
export async function abandonLate(
  stopped: AbortSignal,
  isShared: () => boolean,
  abandon: () => void,
): Promise<void> {
  do await pause(maxLateMs, stopped);
  while (!stopped.aborted && isShared());
  if (!stopped.aborted) abandon();
}
