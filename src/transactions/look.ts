import type { Index, KeyValue, Seen } from "../ports/collection.ts";
import type { Range, Row } from "../ports/storage.ts";
import type { RangeOf, Reads } from "./reads.ts";

/** How many rows one look goes through, however few of them pass. Some milliseconds on SQLite, which reads synchronously. */
const mostLookedAt = 1_000;

/** What was found in a stretch, and how far the look went. */
export interface Look<R extends object> {
  readonly rows: readonly Seen<R>[];
  /** The stretch goes on behind `last`. With fewer rows than wanted, the rest of those looked at did not pass. */
  readonly more: boolean;
  /** The place of the last row that was looked at: the next look begins `after` it. Undefined where there was none. */
  readonly last: readonly KeyValue[] | undefined;
}

/**
 * Up to `limit` rows of a stretch that pass its filter, from its beginning. Looks at `most` rows or a page of them, so
 * that a filter that hardly anything passes costs no more than others, and blocks nobody.
 *
 * Rows may come and go between the reads. How far to look is settled first, then everything up to there is looked at:
 * a row that stands still is in this look or in the next, never in both or in neither.
 */
export async function look<R extends object>(
  reads: Pick<Reads, "range">,
  { where = {}, limit, ...range }: RangeOf<R>,
  most = mostLookedAt,
): Promise<Look<R>> {
  const columns = placeColumns(range.index, range.prefix.length);
  const placeOf = (row: object | undefined): readonly KeyValue[] | undefined =>
    row === undefined ? undefined : columns.map((column) => Reflect.get(row, column) as KeyValue);
  const cut = (rows: readonly Seen<R>[]): Look<R> => {
    const page = rows.slice(0, limit);
    return { rows: page, more: true, last: placeOf(page.at(-1)) };
  };

  // Most filters that are asked for let most rows pass. One row more than wanted tells whether there are more.
  const near = await reads.range({ ...range, limit: limit + 1 });
  const passing = near.filter((row) => passes(row, where));
  if (near.length <= limit) return { rows: passing, more: false, last: placeOf(near.at(-1)) };
  if (passing.length > limit) return cut(passing);

  const beyond = { ...range, ...bound("after", placeOf(near.at(-1))) };
  const [end] = await reads.range({ ...beyond, skip: Math.max(0, most - near.length - 1), limit: 1 });
  const far = await reads.range({
    ...beyond,
    ...bound("until", placeOf(end)),
    where,
    limit: limit + 1 - passing.length,
  });
  const rows = [...passing, ...far, ...(end !== undefined && passes(end, where) ? [end] : [])];
  if (rows.length > limit) return cut(rows);
  return { rows, more: end !== undefined, last: placeOf(end ?? far.at(-1) ?? near.at(-1)) };
}

/** What tells two rows of a stretch apart, in its order: the rest of the index and the primary key. */
export function placeColumns({ columns, collection }: Index, prefix: number): readonly string[] {
  return [...columns.slice(prefix), ...collection.primary.columns.filter((each) => !columns.includes(each))];
}

function bound(name: "after" | "until", place: readonly KeyValue[] | undefined): Pick<Range, "after" | "until"> {
  return place === undefined ? {} : { [name]: place };
}

function passes(row: Row, where: NonNullable<Range["where"]>): boolean {
  return Object.entries(where).every(([column, wanted]) => {
    const value = row[column];
    return isList(wanted) ? wanted.some((each) => each === value) : wanted === value;
  });
}

function isList(wanted: KeyValue | readonly KeyValue[]): wanted is readonly KeyValue[] {
  return Array.isArray(wanted);
}
