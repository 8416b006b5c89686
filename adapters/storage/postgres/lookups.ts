import type { Index } from "../../../src/ports/collection.ts";
import type { Lookup, Row } from "../../../src/ports/storage.ts";
import { orderOf } from "../layout.ts";
import type { Result, Statement } from "./session/batch.ts";
import { type Table, typeOf } from "./tables.ts";
import { arrayText, keyText, sqlTypes } from "./values.ts";
import { walkConditions, walkOrder, where } from "./walks.ts";

/** Look-ups that one statement answers. */
interface Shape {
  readonly index: Index;
  /** How much of the index's key is given, and where it is null: `=` never finds that. */
  readonly nulls: readonly boolean[];
  readonly claim: boolean;
  readonly lookups: { readonly lookup: Lookup; readonly place: number }[];
}

/** Statements that answer look-ups, one for each index and form of key, and what becomes of their results. */
export interface PlannedLookups {
  readonly statements: readonly Statement[];
  /** One list of rows for each look-up, in order. `results` are the statements'. */
  readonly rows: (results: readonly Result[]) => Row[][];
}

export function planLookups(
  lookups: readonly Lookup[],
  tableOf: (name: string) => Table,
): PlannedLookups {
  const shapes = shapesOf(lookups);
  return {
    statements: shapes.map((shape) => lookupStatement(shape, tableOf(shape.index.collection.name))),
    rows: (results) => {
      const found: Row[][] = lookups.map(() => []);
      for (const [i, { index, lookups: asked }] of shapes.entries()) {
        const table = tableOf(index.collection.name);
        for (const [ordinal, ...values] of results[i]?.rows ?? []) {
          const place = asked[Number(ordinal) - 1]?.place;
          if (place !== undefined) found[place]?.push(table.decode(values));
        }
      }
      return found;
    },
  };
}

function shapesOf(lookups: readonly Lookup[]): Shape[] {
  const shapes = new Map<Index, Map<string, Shape>>();
  for (const [place, lookup] of lookups.entries()) {
    const { index, key, claim = false } = lookup;
    let forms = shapes.get(index);
    if (forms === undefined) shapes.set(index, (forms = new Map<string, Shape>()));
    const nulls = key.map((value) => value === null);
    const form = `${claim} ${nulls.join()}`;
    let shape = forms.get(form);
    if (shape === undefined) forms.set(form, (shape = { index, nulls, claim, lookups: [] }));
    shape.lookups.push({ lookup, place });
  }
  return [...shapes.values()].flatMap((forms) => [...forms.values()]);
}

/** Each key is looked up by itself, in order: the inner query has a limit, so there is no other way to join it. */
function lookupStatement({ index, nulls, claim, lookups }: Shape, table: Table): Statement {
  const order = orderOf(index);
  const given = nulls.map((isNull, i) => ({
    isNull,
    sql: `asked.k${i}`,
    type: typeOf(index.collection, order[i] ?? ""),
  }));
  const parts = given.flatMap(({ isNull, sql, type }, place) =>
    isNull ? [] : [{ sql, type, place }],
  );
  const params = parts.map(({ type }, i) => `$${i + 1}::${sqlTypes[type]}[]`);
  const text =
    `SELECT asked.n, found.* FROM unnest(${[...params, `$${params.length + 1}::bigint[]`].join(", ")}) ` +
    `WITH ORDINALITY AS asked(${[...parts.map(({ place }) => `k${place}`), "most", "n"].join(", ")}) CROSS JOIN LATERAL (` +
    `SELECT ${table.selected} FROM ${table.name}${where(walkConditions(index, table, given))}` +
    `${walkOrder(index, given, "ASC")} LIMIT asked.most${claim ? " FOR UPDATE SKIP LOCKED" : ""}) AS found`;
  const asked = lookups.map(({ lookup }) => lookup);
  return {
    text,
    values: [
      ...parts.map(({ type, place }) =>
        arrayText(
          type,
          asked.map(({ key }) => keyText(key[place] ?? null)),
        ),
      ),
      arrayText(
        "integer",
        asked.map(({ limit }) => String(limit)),
      ),
    ],
  };
}
