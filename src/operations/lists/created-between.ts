import { firstIdAt, millis } from "../../kernel/index.ts";
import type { Range } from "../../ports/index.ts";

/** The filters of a list by `created_at`. Both bounds are exclusive. */
interface CreationTimes {
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
}

/** What the filters mean for a range of an index in the order of ids, newest first. */
interface CreatedBetween extends Pick<Range, "after" | "until"> {
  /** Whether a row matches. The bounds alone may let through others. Absent without filters. */
  readonly keep?: (row: { readonly created_at: number }) => boolean;
}

/**
 * How long after its row's `created_at` an id may be drawn, in milliseconds. `created_at` is the
 * time at which the command started. The command draws the id after some reads, for which it may
 * wait several seconds. If the clock was set back further, the ids of a process stay ahead for
 * longer, and `created_before` may miss its rows (docs/operations.md).
 */
const maxIdDelayMs = 60_000;

/** Finds the rows that were created between two times, by their ids, which begin with `prefix`. */
export function createdBetween(
  prefix: string,
  { created_after, created_before }: CreationTimes,
): CreatedBetween {
  if (created_after === undefined && created_before === undefined) return {};
  const after = created_after === undefined ? -Infinity : millis(created_after);
  const before = created_before === undefined ? Infinity : millisRoundedUp(created_before);
  return {
    ...(created_before === undefined ? {} : { after: [firstIdAt(prefix, before + maxIdDelayMs)] }),
    ...(created_after === undefined ? {} : { until: [firstIdAt(prefix, after + 1)] }),
    keep: ({ created_at }) => created_at > after && created_at < before,
  };
}

/** Rows have whole milliseconds. A time between two of them comes after the rows of the first. */
function millisRoundedUp(time: string): number {
  return millis(time) + (/\.\d{3}\d*[1-9]/.test(time) ? 1 : 0);
}
