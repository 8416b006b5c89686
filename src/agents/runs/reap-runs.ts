import { completedEventId, eventById, handoffEventId } from "../../events/index.ts";
import { dayMs } from "../../kernel/index.ts";
import { eraseStoredResponses, type Runtime } from "../../operations/index.ts";
import { keyOf, type KeyValue } from "../../ports/index.ts";
import { background, type Tx } from "../../store/index.ts";
import { runById, runs, runsByEnd, type RunRow } from "./rows.ts";

/**
 * Removes runs that ended longer ago than the retention time, with the stored responses that show
 * them, one chunk per call. A run is kept as long as one of its events, because a redaction
 * uses the run to find the words in these events. Each call returns the number of runs it read.
 */
export function runReaper(
  { store, clock, runRetentionDays }: Runtime,
  chunk: number,
): () => Promise<number> {
  const keptMs = runRetentionDays * dayMs;
  let after: readonly KeyValue[] = [];
  return async () => {
    const ended = await store.unscopedReads.range({
      index: runsByEnd,
      prefix: [],
      order: "ascending",
      ...(after.length === 0 ? {} : { after }),
      until: [clock.now() - keptMs],
      limit: chunk,
    });
    const last = ended.at(-1);
    if (last !== undefined) after = [last.finished_at, ...keyOf(runs, last)];
    await store.commitUnscoped(async (tx) => {
      await Promise.all(ended.map((run) => removeRun(tx.in(run), run)));
    }, background);
    return ended.length;
  };
}

async function removeRun(tx: Tx, { id }: RunRow): Promise<void> {
  const [run, completed, handedOff] = await Promise.all([
    tx.get(runById, [id]),
    tx.get(eventById, [completedEventId(id)]),
    tx.get(eventById, [handoffEventId(id)]),
  ]);
  if (run === undefined || completed !== undefined || handedOff !== undefined) return;
  // Stored responses are found by the run, so the run is removed after the last of them.
  if (await eraseStoredResponses(tx, id)) tx.remove(runs, run);
}
