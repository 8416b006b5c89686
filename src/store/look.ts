import {
  type Index,
  keyOf,
  type KeyValue,
  type Range,
  type Row,
  type Seen,
} from "../ports/index.ts";
import { comparePlaces, encodeKey } from "./keys.ts";
import type { Scope } from "../kernel/index.ts";
import type { RangeOf, Reads, ScopedRangeOf, UnscopedReads } from "./reads.ts";

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
export async function look<R extends Scope>(
  reads: Pick<Reads, "range" | "scope">,
  range: ScopedRangeOf<R>,
  most?: number,
): Promise<Look<R>>;
export async function look<R extends object>(
  reads: Pick<UnscopedReads, "range">,
  range: RangeOf<R>,
  most?: number,
): Promise<Look<R>>;
export async function look<R extends object>(
  reads: AnyReads<R>,
  range: RangeOf<R>,
  most = mostLookedAt,
): Promise<Look<R>> {
  return lookIn(reads, range, most);
}

async function lookIn<R extends object>(
  reads: AnyReads<R>,
  { where = {}, limit, ...range }: RangeOf<R>,
  most: number,
): Promise<Look<R>> {
  const columns = columnsBeyond(reads, range);
  const placeOf = (row: object | undefined): readonly KeyValue[] | undefined =>
    row && placeAt(columns, row);
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
  const [end] = await reads.range({
    ...beyond,
    skip: Math.max(0, most - near.length - 1),
    limit: 1,
  });
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

/**
 * A look at several stretches as if they were one: their rows in the order that they share, which is that of the rest of their index.
 * Nothing is answered from beyond the place up to which all of them were looked at. A row that goes from one stretch to another between
 * their reads is answered once.
 */
export async function lookAcross<R extends Scope>(
  reads: Pick<Reads, "range" | "scope">,
  stretches: readonly ScopedRangeOf<R>[],
  most?: number,
): Promise<Look<R>>;
export async function lookAcross<R extends object>(
  reads: Pick<UnscopedReads, "range">,
  stretches: readonly RangeOf<R>[],
  most?: number,
): Promise<Look<R>>;
export async function lookAcross<R extends object>(
  reads: AnyReads<R>,
  stretches: readonly RangeOf<R>[],
  most = mostLookedAt,
): Promise<Look<R>> {
  const [first, ...others] = stretches;
  if (first === undefined) return { rows: [], more: false, last: undefined };
  if (others.length === 0) return lookIn(reads, first, most);
  const { index, order, limit } = first;
  const columns = columnsBeyond(reads, first);
  const sign = order === "ascending" ? 1 : -1;
  const compare = (a: readonly KeyValue[], b: readonly KeyValue[]): number =>
    sign * comparePlaces(a, b);

  const looks = await Promise.all(stretches.map((stretch) => lookIn(reads, stretch, most)));
  const ends = looks.flatMap(({ more, last }) => (more && last !== undefined ? [last] : []));
  const [horizon] = ends.toSorted(compare);
  const found = new Map<string, { readonly row: Seen<R>; readonly place: readonly KeyValue[] }>();
  for (const row of looks.flatMap(({ rows }) => rows)) {
    const place = placeAt(columns, row);
    if (horizon === undefined || compare(place, horizon) <= 0) {
      found.set(encodeKey(keyOf(index.collection, row)), { row, place });
    }
  }
  const merged = [...found.values()].toSorted((a, b) => compare(a.place, b.place));
  const page = merged.slice(0, limit);
  const rows = page.map(({ row }) => row);
  if (merged.length > limit) return { rows, more: true, last: page.at(-1)?.place };
  return { rows, more: horizon !== undefined, last: horizon ?? page.at(-1)?.place };
}

/** Reads within a scope, or of all of them. */
interface AnyReads<R extends object> {
  readonly scope?: Scope;
  range(range: RangeOf<R>): Promise<readonly Seen<R>[]>;
}

function columnsBeyond(
  { scope }: { readonly scope?: Scope },
  { index, prefix }: Pick<Range, "index" | "prefix">,
): readonly string[] {
  return scope === undefined
    ? placeColumns(index, prefix.length)
    : ownPlaceColumns(index, prefix.length);
}

/** `placeColumns` of a stretch within a scope, whose prefix leaves out the account and the mode. */
export function ownPlaceColumns(index: Index, prefix: number): readonly string[] {
  return placeColumns(index, index.scoping === "key" ? prefix + 2 : prefix);
}

/** What tells two rows of a stretch apart, in its order: the rest of the index and the primary key. */
function placeColumns({ columns, collection }: Index, prefix: number): readonly string[] {
  return [
    ...columns.slice(prefix),
    ...collection.primary.columns.filter((each) => !columns.includes(each)),
  ];
}

/** Where a row stands in its stretch. */
export function placeAt(columns: readonly string[], row: object): readonly KeyValue[] {
  return columns.map((column) => Reflect.get(row, column) as KeyValue);
}

function bound(
  name: "after" | "until",
  place: readonly KeyValue[] | undefined,
): Pick<Range, "after" | "until"> {
  return place === undefined ? {} : { [name]: place };
}

export function passes(row: Row, where: NonNullable<Range["where"]>): boolean {
  return Object.entries(where).every(([column, wanted]) => {
    const value = row[column];
    return isList(wanted) ? wanted.some((each) => each === value) : wanted === value;
  });
}

function isList(wanted: KeyValue | readonly KeyValue[]): wanted is readonly KeyValue[] {
  return Array.isArray(wanted);
}
