/** Removes what was added first to a set or a map that has more than `max` entries. */
export function keepLatest(
  kept: Pick<Map<unknown, unknown> | Set<unknown>, "size" | "keys" | "delete">,
  max: number,
): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= max) return;
    kept.delete(oldest);
  }
}
