import type { StoragePort, Write } from "../../../src/ports/storage.ts";
import { over } from "../over.ts";

/** What the commands of an engine cost. Searches for due jobs are not among them. */
export interface Counts {
  /** Round trips. */
  reads: number;
  commits: number;
  /** The rows that the reads returned. */
  rows: number;
  /** The most reads that a commit followed. */
  mostReads: number;
  /** The writes of each commit. */
  readonly writes: (readonly Write[])[];
}

/** A storage that counts the reads and the commits of commands. */
export function counting(storage: StoragePort): {
  readonly counted: StoragePort;
  readonly counts: Counts;
  /** Starts to count from zero. */
  readonly reset: () => void;
} {
  const counts: Counts = { reads: 0, commits: 0, rows: 0, mostReads: 0, writes: [] };
  const counted = over(storage, {
    begin(how) {
      const group = storage.begin(how);
      let readsOfGroup = 0;
      return over(group, {
        read(lookups) {
          counts.reads++;
          readsOfGroup++;
          const read = group.read(lookups);
          const count = (found: Awaited<typeof read>): typeof found => {
            counts.rows += found.flat().length;
            return found;
          };
          return read instanceof Promise ? read.then(count) : count(read);
        },
        commit(writes) {
          counts.commits++;
          counts.mostReads = Math.max(counts.mostReads, readsOfGroup);
          counts.writes.push(writes);
          return group.commit(writes);
        },
      });
    },
  });
  const reset = (): void => {
    Object.assign(counts, { reads: 0, commits: 0, rows: 0, mostReads: 0 });
    counts.writes.length = 0;
  };
  return { counted, counts, reset };
}
