import { boundedCache, getOrInsert } from "../../kernel/index.ts";
import type { Index } from "../../ports/index.ts";
import type { PlannedRead } from "./transaction.ts";

/** The maximum number of subjects. The least recently used one is forgotten first. */
const maxSubjects = 10_000;

/**
 * What the commands of this process read about a subject, such as the recipient of a message. The
 * next command about it prefetches the same: of each index, the key that was used last. So it need
 * not wait for one row to learn the key of the next. The rows themselves are not kept. If a key is
 * outdated, the only cost is the read of a row that nobody asks for.
 */
export class RememberedReads {
  readonly #bySubject = boundedCache<string, Map<Index, PlannedRead>>(maxSubjects);

  add(subject: string, reads: readonly PlannedRead[]): void {
    const known = getOrInsert(this.#bySubject, subject, () => new Map());
    for (const read of reads) known.set(read.index, read);
  }

  about(subject: string): readonly PlannedRead[] {
    return [...(this.#bySubject.get(subject)?.values() ?? [])];
  }
}
