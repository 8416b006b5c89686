import type { Scope } from "../../kernel/index.ts";
import {
  keyOf,
  orderOf,
  type Index,
  type KeyValue,
  type Range,
  type Row,
  type Seen,
} from "../../ports/index.ts";
import { KeyMap } from "../transactions/key-map.ts";
import { comparePlaces } from "./index-order.ts";
import type { RangeOf, Reads, ScopedRangeOf, UnscopedReads } from "./reads.ts";

/**
 * The maximum number of rows that one scan examines. That takes some milliseconds on SQLite, which
 * reads synchronously.
 */
const maxExamined = 1_000;

/** The rows that a scan found, and where it ended. */
export interface Scan<R extends object> {
  readonly rows: readonly Seen<R>[];
  /** Whether the range continues after `last`, even when fewer than `limit` rows were found. */
  readonly more: boolean;
  /** The position after which the next scan starts; undefined when the scan examined no row. */
  readonly last: readonly KeyValue[] | undefined;
}

/** A filter that the storage cannot apply. */
export interface RowFilter<R> {
  /** Whether a row that passes `where` is kept. Default: every row is. */
  readonly keep?: (row: R) => boolean;
}

/**
 * Finds up to `limit` rows that match the filters, from the start of a range. Examines at most
 * `max` rows or one page, so that a filter which few rows match does not block the process.
 *
 * Rows may change between the reads. The scan first determines its end and then examines all rows
 * up to it. So a row that does not move is in exactly one of two successive scans.
 */
export async function scan<R extends Scope>(
  reads: Pick<Reads, "range" | "scope">,
  range: ScopedRangeOf<R> & RowFilter<R>,
  max?: number,
): Promise<Scan<R>>;
export async function scan<R extends object>(
  reads: Pick<UnscopedReads, "range">,
  range: RangeOf<R> & RowFilter<R>,
  max?: number,
): Promise<Scan<R>>;
export async function scan<R extends object>(
  reads: AnyReads<R>,
  range: RangeOf<R> & RowFilter<R>,
  max = maxExamined,
): Promise<Scan<R>> {
  return scanRange(reads, range, max);
}

async function scanRange<R extends object>(
  reads: AnyReads<R>,
  range: RangeOf<R> & RowFilter<R>,
  max: number,
): Promise<Scan<R>> {
  const begun = await beginScan(reads, range);
  return begun.isEnough ? begun.scan : scanFurther(reads, begun, max - begun.examined);
}

/** What the first read of a scan found. */
interface Begun<R extends object> {
  readonly range: RangeOf<R> & RowFilter<R>;
  readonly scan: Scan<R>;
  /** The number of rows that were read. */
  readonly examined: number;
  /** Whether the scan has found `limit` rows, or has come to the end of the range. */
  readonly isEnough: boolean;
}

/** Usually most rows match the filters. One row beyond the limit shows whether there are more. */
async function beginScan<R extends object>(
  reads: AnyReads<R>,
  range: RangeOf<R> & RowFilter<R>,
): Promise<Begun<R>> {
  const { where = {}, keep, limit, ...unfiltered } = range;
  const columns = columnsBeyond(reads, range);
  const near = await reads.range({ ...unfiltered, limit: limit + 1 });
  const rows = kept(
    near.filter((row) => passes(row, where)),
    keep,
  );
  const more = near.length > limit;
  const isFull = rows.length > limit;
  const scan = isFull
    ? firstPage(rows, limit, columns)
    : { rows, more, last: lastPlace(columns, near) };
  return { range, scan, examined: near.length, isEnough: isFull || !more };
}

/**
 * Examines up to `max` more rows of a range whose first rows held too few. The storage applies
 * `where` now. It reads on until it has found enough rows, so the range gets an end first.
 */
async function scanFurther<R extends object>(
  reads: AnyReads<R>,
  { range, scan: begun }: Begun<R>,
  max: number,
): Promise<Scan<R>> {
  const { where = {}, keep, limit, ...beginning } = range;
  const columns = columnsBeyond(reads, range);
  let last = begun.last ?? [];
  const unfiltered = { ...beginning, after: last };
  const [end] = await reads.range({ ...unfiltered, skip: Math.max(0, max - 1), limit: 1 });
  const endsAt = end && placeAt(columns, end);
  const bounded = endsAt === undefined ? unfiltered : { ...unfiltered, until: endsAt };
  const rows = [...begun.rows];
  let wanted = limit + 1 - rows.length;
  let matched = 0;
  do {
    const far = await reads.range({ ...bounded, after: last, where, limit: wanted });
    rows.push(...kept(far, keep));
    const isCut = far.length === wanted;
    // All rows up to the end were read, but not the end itself: `until` excludes it.
    if (!isCut && end !== undefined && passes(end, where)) rows.push(...kept([end], keep));
    if (rows.length > limit) return firstPage(rows, limit, columns);
    last = lastPlace(columns, far) ?? last;
    if (!isCut) return { rows, more: end !== undefined, last: endsAt ?? last };
    matched += far.length;
    // `keep` may drop most rows, so each read asks for twice as many as the one before.
    wanted *= 2;
  } while (matched < max);
  // Others inserted many rows since the end was read.
  return { rows, more: true, last };
}

function kept<R extends object>(
  rows: readonly Seen<R>[],
  keep: RowFilter<R>["keep"],
): readonly Seen<R>[] {
  return keep === undefined ? rows : rows.filter(keep);
}

/** Returns the first `limit` of more rows than that. */
function firstPage<R extends object>(
  rows: readonly Seen<R>[],
  limit: number,
  columns: readonly string[],
): Scan<R> {
  const page = rows.slice(0, limit);
  return { rows: page, more: true, last: lastPlace(columns, page) };
}

/**
 * Scans several ranges of one index as one, in the order of the index columns after their prefixes.
 * Returns no row beyond the position up to which all ranges were examined. Examines at most `max`
 * rows of all ranges together, or one page of each. A row that moves from one range to another
 * between the reads is returned once.
 */
export async function scanAcross<R extends Scope>(
  reads: Pick<Reads, "range" | "scope">,
  ranges: readonly ScopedRangeOf<R>[],
  max?: number,
): Promise<Scan<R>>;
export async function scanAcross<R extends object>(
  reads: Pick<UnscopedReads, "range">,
  ranges: readonly RangeOf<R>[],
  max?: number,
): Promise<Scan<R>>;
export async function scanAcross<R extends object>(
  reads: AnyReads<R>,
  ranges: readonly RangeOf<R>[],
  max = maxExamined,
): Promise<Scan<R>> {
  const [first, ...others] = ranges;
  if (first === undefined) return { rows: [], more: false, last: undefined };
  if (others.length === 0) return scanRange(reads, first, max);
  const { index, order, limit } = first;
  const columns = columnsBeyond(reads, first);
  const sign = order === "ascending" ? 1 : -1;
  const compare = (a: readonly KeyValue[], b: readonly KeyValue[]): number =>
    sign * comparePlaces(a, b);

  const nearestEnd = (scans: readonly Scan<R>[]): readonly KeyValue[] | undefined =>
    scans
      .flatMap(({ more, last }) => (more && last !== undefined ? [last] : []))
      .toSorted(compare)[0];

  const begun = await Promise.all(ranges.map((range) => beginScan(reads, range)));
  // No row beyond the end of one scan is returned, so the others need not go further.
  const until = nearestEnd(begun.flatMap(({ isEnough, scan }) => (isEnough ? [scan] : [])));
  const isAtEnd = ({ isEnough, scan: { last = [] } }: Begun<R>): boolean =>
    isEnough || (until !== undefined && compare(last, until) >= 0);
  const left = begun.reduce((rest, { examined }) => rest - examined, max);
  const share = Math.floor(left / begun.filter((each) => !isAtEnd(each)).length);
  const scans = await Promise.all(
    begun.map(async (each) => {
      if (isAtEnd(each)) return each.scan;
      const range = until === undefined ? each.range : { ...each.range, until };
      return scanFurther(reads, { ...each, range }, share);
    }),
  );
  const horizon = nearestEnd(scans);
  const found = new KeyMap<{ readonly row: Seen<R>; readonly place: readonly KeyValue[] }>();
  for (const row of scans.flatMap(({ rows }) => rows)) {
    const place = placeAt(columns, row);
    if (horizon === undefined || compare(place, horizon) <= 0) {
      found.set(keyOf(index.collection, row), { row, place });
    }
  }
  const merged = found.values().toSorted((a, b) => compare(a.place, b.place));
  const page = merged.slice(0, limit);
  const rows = page.map(({ row }) => row);
  if (merged.length > limit) return { rows, more: true, last: page.at(-1)?.place };
  return { rows, more: horizon !== undefined, last: horizon ?? page.at(-1)?.place };
}

/** Scoped or unscoped reads. */
interface AnyReads<R extends object> {
  readonly scope?: Scope;
  range(range: RangeOf<R>): Promise<readonly Seen<R>[]>;
}

/** Returns the columns that order the rows of a range: those after its prefix. */
function columnsBeyond(
  { scope }: { readonly scope?: Scope },
  { index, prefix }: Pick<Range, "index" | "prefix">,
): readonly string[] {
  return scope === undefined
    ? orderOf(index).slice(prefix.length)
    : scopedPlaceColumns(index, prefix.length);
}

/**
 * Returns the columns that order the rows of a range within a scope, whose prefix leaves out the
 * account and mode.
 */
export function scopedPlaceColumns(index: Index, prefix: number): readonly string[] {
  return orderOf(index).slice(index.scoping === "key" ? prefix + 2 : prefix);
}

/** Returns a row's position in its range. */
export function placeAt(columns: readonly string[], row: object): readonly KeyValue[] {
  return columns.map((column) => Reflect.get(row, column) as KeyValue);
}

/** Returns the position of the last of some rows. */
function lastPlace(
  columns: readonly string[],
  rows: readonly object[],
): readonly KeyValue[] | undefined {
  const last = rows.at(-1);
  return last && placeAt(columns, last);
}

/** Whether a row passes a filter. */
export function passes(row: Row, where: NonNullable<Range["where"]>): boolean {
  return Object.entries(where).every(([column, wanted]) => {
    const value = row[column];
    return isList(wanted) ? wanted.some((each) => each === value) : wanted === value;
  });
}

function isList(wanted: KeyValue | readonly KeyValue[]): wanted is readonly KeyValue[] {
  return Array.isArray(wanted);
}
