import type { TimelineEntry } from "../../../../src/index.ts";

/**
 * Returns a timeline in which each attempt has the outcome that it ended with. The engine changes
 * an attempt from `ambiguous` to `rejected` once a look-up finds that nothing was sent. But no
 * carrier has refused such an attempt.
 */
export function withOutcomesAtTheTime(entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  const lookups = entries.filter((entry) => entry.type === "lookup");
  const unsent = new Set(
    lookups.filter(({ outcome }) => outcome === "not_sent").map(({ attempt_id }) => attempt_id),
  );
  return entries.map((entry) =>
    entry.type === "attempt" && entry.outcome === "rejected" && unsent.has(entry.id)
      ? { ...entry, outcome: "ambiguous" }
      : entry,
  );
}
