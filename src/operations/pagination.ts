import { defaultPageSize, type Page, type Scope, TidingsError } from "../kernel/index.ts";
import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import type { Call } from "./operation.ts";
import type { KeyValue, ScopedIndex, Seen } from "../ports/index.ts";
import {
  look,
  type Look,
  ownPlaceColumns,
  type Reads,
  type ScopedRangeOf,
} from "../store/index.ts";

/** What a list was asked for. */
export interface Asked {
  /** The operation's name. A cursor is good for this operation, account and mode, and for these filters. */
  readonly operation: string;
  readonly filters: Readonly<Record<string, unknown>>;
  readonly input: { readonly limit?: number | undefined; readonly cursor?: string | undefined };
}

/** What a list walks, and the input that asked for it. */
export interface Walk<R extends Scope> extends Omit<ScopedRangeOf<R>, "limit">, Asked {}

/** A list that goes through its rows in a way of its own, along an index below `prefix` of its columns. */
export interface OwnWalk<R extends object> extends Asked {
  readonly index: ScopedIndex;
  readonly prefix: number;
  /** Up to `limit` rows behind a place. */
  look(limit: number, after: readonly KeyValue[] | undefined): Promise<Look<R>>;
}

type Caller = Pick<Call, "scope"> & { readonly services: Pick<Call["services"], "secret"> };

/**
 * The rows of one page, in the order of the index. The cursor holds the place of the last row that was looked at, not a
 * count, so a walk never skips or repeats a row that stood still, whatever comes and goes meanwhile.
 * @throws TidingsError `invalid_cursor`
 */
export async function page<R extends Scope>(
  reads: Pick<Reads, "range" | "scope">,
  { operation, filters, input, ...range }: Walk<R>,
  caller: Caller,
): Promise<Page<Seen<R>>> {
  const { index, prefix } = range;
  const own: OwnWalk<R> = {
    operation,
    filters,
    input,
    index,
    prefix: prefix.length,
    look: (limit, after = range.after) =>
      look(reads, { ...range, limit, ...(after === undefined ? {} : { after }) }),
  };
  return pageOf(own, caller);
}

/**
 * The same of a list that has its own way.
 * @throws TidingsError `invalid_cursor`
 */
export async function pageOf<R extends object>(
  {
    operation,
    filters,
    input: { limit = defaultPageSize, cursor },
    index,
    prefix,
    ...own
  }: OwnWalk<R>,
  { scope, services: { secret } }: Caller,
): Promise<Page<Seen<R>>> {
  const binding = JSON.stringify([
    "cursor",
    operation,
    scope.account_id,
    scope.mode,
    index.name,
    canonical(filters),
  ]);
  const length = ownPlaceColumns(index, prefix).length;
  const after = cursor === undefined ? undefined : decode(cursor, binding, secret, length);
  const { rows, more, last } = await own.look(limit, after);
  const next_cursor = more && last !== undefined ? encode(last, binding, secret) : null;
  return { data: [...rows], has_more: next_cursor !== null, next_cursor };
}

/** The same page of other things. */
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
    // `Buffer.from` skips what is not base64url: two texts must not be one cursor.
    bytes.toString("base64url") === cursor &&
    bytes.length > macBytes &&
    timingSafeEqual(bytes.subarray(0, macBytes), mac(binding, position, secret));
  const values: unknown = genuine ? JSON.parse(position.toString()) : undefined;
  // One made by an older version of the code can be genuine and yet of another shape.
  if (!Array.isArray(values) || values.length !== length) {
    throw new TidingsError(
      "invalid_cursor",
      "The cursor does not belong to this list with these filters.",
      {
        errors: [
          { parameter: "cursor", code: "invalid_cursor", message: "Start again without a cursor." },
        ],
      },
    );
  }
  return values as KeyValue[];
}
