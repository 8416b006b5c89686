import type { TimelineEntry } from "../../../../src/index.ts";

/**
 * Returns a timeline with each attempt as it ended at the time. An attempt whose answer was lost
 * becomes `rejected` once a look-up finds that nothing was sent, but no carrier has refused it.
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
