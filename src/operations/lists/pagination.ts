import { createHmac, timingSafeEqual, type KeyObject } from "node:crypto";
import {
  defaultPageSize,
  pageQuerySchema,
  TidingsError,
  type Page,
  type PageQuery,
  type Scope,
} from "../../kernel/index.ts";
import type { Index, KeyValue, ScopedIndex, Seen } from "../../ports/index.ts";
import {
  placeAt,
  scan,
  scopedPlaceColumns,
  type Reads,
  type RowFilter,
  type Scan,
  type ScopedRangeOf,
} from "../../store/index.ts";
import type { Call, Query } from "../operation.ts";

/** The request for a page of a list. */
interface PageRequest {
  /**
   * The name of the operation. A cursor is valid for one operation, account, mode and set of
   * filters.
   */
  readonly operation: string;
  readonly filters: Readonly<Record<string, unknown>>;
  readonly input: Pick<PageQuery, "limit" | "cursor">;
}

/** A list that reads one index range, with the request for a page of it. */
export interface RangeList<R extends Scope>
  extends Omit<ScopedRangeOf<R>, "limit">, RowFilter<R>, PageRequest {}

/** A list with its own scan, in the order of an index of which `prefix` columns are fixed. */
export interface ScanList<R extends object> extends PageRequest {
  readonly index: Index;
  readonly prefix: number;
  /** Returns up to `limit` rows after a position. */
  scan(limit: number, after: readonly KeyValue[] | undefined): Promise<Scan<R>>;
}

/** What a cursor needs of a call. */
type ListCall = Pick<Call, "scope"> & { readonly services: Pick<Call["services"], "secret"> };

/**
 * The number of characters of text after which a page ends. A hundred agents with all the knowledge
 * that they can have would make a response of 40 MB, and block the process for seconds.
 */
const maxCharacters = 2 * 1_024 * 1_024;

/**
 * How many resources are read at once where each may be large. An agent or a playbook may have
 * 1 MB.
 */
const maxStep = 10;

/**
 * Returns one page of rows in the order of the index, with fewer rows than asked for if they are
 * very large. The cursor holds the position of the last scanned row instead of a count, so
 * concurrent inserts and removals never cause a skipped or repeated row.
 * @throws TidingsError `invalid_cursor`
 */
export async function page<R extends Scope>(
  reads: Pick<Reads, "range" | "scope">,
  { operation, filters, input, ...range }: RangeList<R>,
  call: ListCall,
): Promise<Page<Seen<R>>> {
  const { index, prefix } = range;
  const list: ScanList<R> = {
    operation,
    filters,
    input,
    index,
    prefix: prefix.length,
    scan: async (limit, after = range.after) => {
      const wanted = { ...range, limit, ...(after === undefined ? {} : { after }) };
      return shortened(await scan(reads, wanted), scopedPlaceColumns(index, prefix.length));
    },
  };
  return pageOf(list, call);
}

/** Leaves out the rows after the first `maxCharacters`. At least one row stays. */
function shortened<R extends object>(found: Scan<R>, columns: readonly string[]): Scan<R> {
  let characters = 0;
  const end = found.rows.findIndex((row, i) => {
    characters += charactersIn(row);
    return characters > maxCharacters && i > 0;
  });
  return end === -1 ? found : firstRows(found, end, columns);
}

/** Ends a scan after its first `count` rows. */
function firstRows<R extends object>(
  found: Scan<R>,
  count: number,
  columns: readonly string[],
): Scan<R> {
  const last = found.rows[count - 1];
  if (last === undefined || count === found.rows.length) return found;
  return { rows: found.rows.slice(0, count), more: true, last: placeAt(columns, last) };
}

/** Counts the characters of all texts in a value. */
function charactersIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + charactersIn(each), 0);
}

/**
 * Returns one page of a list that has its own scan.
 * @throws TidingsError `invalid_cursor`
 */
export async function pageOf<R extends object>(
  list: ScanList<R>,
  { scope, services: { secret } }: ListCall,
): Promise<Page<Seen<R>>> {
  const { operation, filters, input, index, prefix } = list;
  const { limit = defaultPageSize, cursor } = input;
  const binding = JSON.stringify([
    "cursor",
    operation,
    scope.account_id,
    scope.mode,
    index.name,
    canonical(filters),
  ]);
  const length = scopedPlaceColumns(index, prefix).length;
  const after = typeof cursor !== "string" ? undefined : decode(cursor, binding, secret, length);
  const { rows, more, last } = await list.scan(limit, after);
  const next_cursor = more && last !== undefined ? encode(last, binding, secret) : null;
  return { data: [...rows], has_more: next_cursor !== null, next_cursor };
}

/**
 * Returns one page of the resources of a list that has its own scan. `show` is called for a few
 * rows at a time, so the page also ends when what it reads for them is large.
 * @throws TidingsError `invalid_cursor`
 */
export async function shownPage<R extends object, T>(
  list: ScanList<R>,
  show: (rows: readonly Seen<R>[]) => Promise<readonly T[]>,
  call: ListCall,
): Promise<Page<T>> {
  const data: T[] = [];
  const columns = scopedPlaceColumns(list.index, list.prefix);
  const scanAndShow = async (
    limit: number,
    after: readonly KeyValue[] | undefined,
  ): Promise<Scan<R>> => {
    const found = await list.scan(limit, after);
    let characters = 0;
    for (let end = maxStep; end - maxStep < found.rows.length; end += maxStep) {
      const shown = await show(found.rows.slice(end - maxStep, end));
      data.push(...shown);
      characters += charactersIn(shown);
      if (characters > maxCharacters) return firstRows(found, end, columns);
    }
    return found;
  };
  return { ...(await pageOf({ ...list, scan: scanAndShow }, call)), data };
}

/** The list of all rows of a collection in an account and mode. */
interface WholeList<R extends Scope, T> {
  /** The name of the operation. */
  readonly name: string;
  readonly index: ScopedIndex<R>;
  readonly order: "ascending" | "descending";
  /** Returns the resources of a page's rows, in their order. */
  readonly show: (rows: readonly Seen<R>[], reads: Reads) => T[] | Promise<T[]>;
}

/** Returns the query that lists a whole collection, page by page. */
export function listQuery<R extends Scope, T>({
  name,
  index,
  order,
  show,
}: WholeList<R, T>): Query<PageQuery, Page<T>> {
  return {
    kind: "query",
    name,
    input: () => pageQuerySchema,
    async run(reads, input, call) {
      const data: T[] = [];
      let characters = 0;
      const list: ScanList<R> = {
        operation: name,
        filters: {},
        input,
        index,
        prefix: 0,
        async scan(limit, after) {
          const rows: Seen<R>[] = [];
          for (let from = after; ;) {
            const step = Math.min(maxStep, limit - rows.length);
            const range = { index, prefix: [], order, limit: step, ...(from && { after: from }) };
            const found = await scan<R>(reads, range);
            const shown = await show(found.rows, reads);
            rows.push(...found.rows);
            data.push(...shown);
            characters += charactersIn(shown);
            const isFull = rows.length === limit || characters > maxCharacters;
            if (isFull || !found.more) return { ...found, rows };
            from = found.last;
          }
        },
      };
      return { ...(await pageOf(list, call)), data };
    },
  };
}

/** Maps the items of a page. */
export function mapPage<T, U>(of: Page<T>, map: (row: T) => U): Page<U> {
  return { ...of, data: of.data.map(map) };
}

function canonical(
  filters: Readonly<Record<string, unknown>>,
): readonly (readonly [string, unknown])[] {
  return Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const macBytes = 12;

const mac = (binding: string, position: Uint8Array, secret: KeyObject): Buffer =>
  createHmac("sha256", secret)
    .update(binding)
    .update("\0")
    .update(position)
    .digest()
    .subarray(0, macBytes);

function encode(position: readonly KeyValue[], binding: string, secret: KeyObject): string {
  const bytes = Buffer.from(JSON.stringify(position));
  return Buffer.concat([mac(binding, bytes, secret), bytes]).toString("base64url");
}

function decode(
  cursor: string,
  binding: string,
  secret: KeyObject,
  length: number,
): readonly KeyValue[] {
  const bytes = Buffer.from(cursor, "base64url");
  const position = bytes.subarray(macBytes);
  const genuine =
    // `Buffer.from` ignores invalid characters, so compare: a cursor has exactly one text.
    bytes.toString("base64url") === cursor &&
    bytes.length > macBytes &&
    timingSafeEqual(bytes.subarray(0, macBytes), mac(binding, position, secret));
  const values: unknown = genuine ? JSON.parse(position.toString()) : undefined;
  // A genuine cursor from an older version of the code can have another shape.
  if (!Array.isArray(values) || values.length !== length) {
    throw new TidingsError(
      "invalid_cursor",
      "The cursor does not belong to this list with these filters. Start again without a cursor.",
      {
        errors: [
          { parameter: "cursor", code: "invalid_cursor", message: "Start again without a cursor." },
        ],
      },
    );
  }
  return values as KeyValue[];
}
