import type { VirtualClock } from "../../../adapters/testing/index.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { jobs } from "../../../src/queue/jobs/rows.ts";
import { rowsOf } from "../storage/rows.ts";

/** How often an idle engine polls the storage. */
const pollMs = 5_000;

/**
 * Advances the clock by hours or days. Jobs run when they are due. In between, the clock jumps,
 * because an idle engine would poll the storage every 5 s.
 */
export async function fastForward(
  clock: VirtualClock,
  storage: StoragePort,
  ms: number,
): Promise<void> {
  const end = clock.now() + ms;
  await clock.settle();
  while (clock.now() < end) {
    const rows = await rowsOf(storage, jobs);
    // A lease is renewed by timers, which stand still.
    if (!rows.some(({ leased }) => leased)) {
      const next = Math.min(end, ...rows.map(({ due_at }) => due_at));
      clock.skip(Math.max(0, next - pollMs - clock.now()));
    }
    await clock.advance(Math.min(pollMs, end - clock.now()));
  }
}
