import { runs } from "../../src/agents/runs/rows.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { rowsOf } from "../support/storage/rows.ts";

/**
 * Stores copies of the first run, which ended before everything else. A transaction that removes
 * quotes reads 500 runs at most.
 */
export async function withEarlierRuns(storage: StoragePort, count: number): Promise<void> {
  const [first] = await rowsOf(storage, runs);
  if (first === undefined) throw new Error("there is no run");
  await storage.begin().commit(
    Array.from({ length: count }, (_, i) => {
      const id = `run_${String(i).padStart(26, "0")}`;
      const row = { ...first, id, steps: [], calls: [], result: null, finished_at: 0, version: 1 };
      return { kind: "insert" as const, collection: runs, row };
    }),
  );
}
