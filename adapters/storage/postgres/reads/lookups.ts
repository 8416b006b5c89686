import { getOrInsert } from "../../../../src/kernel/index.ts";
import { orderOf, type Index, type Lookup, type Row } from "../../../../src/ports/index.ts";
import { columnType } from "../../layout.ts";
import type { TableOf } from "../../make-tables.ts";
import { whereClause } from "../../sql.ts";
import type { Result, Statement } from "../connections/statement.ts";
import type { Table } from "../tables/tables.ts";
import { arrayText, keyText, sqlTypes } from "../tables/values.ts";
import { scanConditions, scanOrder } from "./index-scan.ts";

/** Look-ups that one statement can answer. */
interface LookupGroup {
  readonly index: Index;
  /** For each part of the given keys, whether it is null. In SQL, `=` never finds a null. */
  readonly nulls: readonly boolean[];
  readonly order: "ascending" | "descending";
  readonly lock: boolean;
  readonly lookups: { readonly lookup: Lookup; readonly place: number }[];
}

/** The statements for some look-ups: one for each index, form of key and order. */
export interface PlannedLookups {
  readonly statements: readonly Statement[];
  /** Converts the statements' results to one list of rows for each look-up, in order. */
  readonly toRows: (results: readonly Result[]) => Row[][];
}

/** Plans look-ups as few statements. */
export function planLookups(lookups: readonly Lookup[], tableOf: TableOf<Table>): PlannedLookups {
  const groups = groupLookups(lookups);
  return {
    statements: groups.map((group) => lookupStatement(group, tableOf(group.index.collection))),
    toRows: (results) => {
      const found: Row[][] = lookups.map(() => []);
      for (const [i, { index, lookups: members }] of groups.entries()) {
        const table = tableOf(index.collection);
        for (const row of results[i]?.rows ?? []) {
          const place = members[Number(row[0]) - 1]?.place;
          if (place !== undefined) found[place]?.push(table.decode(row, 1));
        }
      }
      return found;
    },
  };
}

function groupLookups(lookups: readonly Lookup[]): LookupGroup[] {
  const byIndex = new Map<Index, Map<string, LookupGroup>>();
  for (const [place, lookup] of lookups.entries()) {
    const { index, key, order = "ascending", lock = false } = lookup;
    const byForm = getOrInsert(byIndex, index, () => new Map<string, LookupGroup>());
    const nulls = key.map((value) => value === null);
    const form = `${lock} ${order} ${nulls.join()}`;
    const group = getOrInsert(byForm, form, () => ({ index, nulls, order, lock, lookups: [] }));
    group.lookups.push({ lookup, place });
  }
  const groups = [...byIndex.values()].flatMap((byForm) => [...byForm.values()]);
  // Locks come first. The other statements then see what the last holder of a lock has committed.
  return groups.toSorted((a, b) => Number(b.lock) - Number(a.lock));
}

/**
 * Returns a statement that looks up each key on its own, in order. The LIMIT of the inner query
 * excludes every other way to join.
 */
function lookupStatement(
  { index, nulls, order, lock, lookups }: LookupGroup,
  table: Table,
): Statement {
  const columns = orderOf(index);
  const given = nulls.map((isNull, place) => (isNull ? null : `wanted.k${place}`));
  const parts = nulls.flatMap((isNull, place) =>
    isNull ? [] : [{ place, type: columnType(index.collection, columns[place] ?? "") }],
  );
  const params = parts.map(({ type }, i) => `$${i + 1}::${sqlTypes[type]}[]`);
  const maxRows = `$${params.length + 1}::bigint[]`;
  const names = parts.map(({ place }) => `k${place}`);
  const conditions = whereClause(scanConditions(index, table, given));
  const rows = `${conditions}${scanOrder(index, given, order === "ascending" ? "ASC" : "DESC")}`;
  const text =
    `SELECT wanted.n, found.* FROM unnest(${[...params, maxRows].join(", ")}) ` +
    `WITH ORDINALITY AS wanted(${[...names, "max_rows", "n"].join(", ")}) ` +
    `CROSS JOIN LATERAL (SELECT ${table.selected} FROM ${table.name}${rows} ` +
    `LIMIT wanted.max_rows${lock ? " FOR UPDATE SKIP LOCKED" : ""}) AS found`;
  const requested = lookups.map(({ lookup }) => lookup);
  return {
    text,
    values: [
      ...parts.map(({ type, place }) =>
        arrayText(
          type,
          requested.map(({ key }) => keyText(key[place] ?? null)),
        ),
      ),
      arrayText(
        "integer",
        requested.map(({ limit }) => String(limit)),
      ),
    ],
  };
}
