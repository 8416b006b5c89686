/**
 * Adds up what transactions of the host application add to counters. Such a transaction may stay
 * open for long. If it changed the counters' rows, they would be locked until its end, and all
 * other commands that add to them would wait. It inserts its additions into a table of their own
 * instead, where it meets nobody. The next reader of a counter then adds them to the counters, in
 * a short transaction. The engine's clean-up reads counters every ten minutes, so few additions
 * wait at any time. Look-ups within a group do not do this, because groups only look for old
 * counters to remove.
 */
import { columnsOf, type Row } from "../../../../src/ports/index.ts";
import { quoted } from "../../sql.ts";
import type { Statement } from "../connections/statement.ts";
import type { StorageContext } from "../context.ts";
import type { Names } from "../names.ts";
import type { Table } from "../tables/tables.ts";
import { arrayText, sqlTypes } from "../tables/values.ts";
import { countSettings } from "../transactions/settings.ts";
import { onConflictAdd } from "./writes.ts";

/** How many additions to each counter one transaction adds up. It has to be short. */
const maxBatch = 1_000;

/** Returns the statement that creates the table. */
export function createPendingCounts({ pendingCounts }: Names): string {
  return (
    `CREATE TABLE IF NOT EXISTS ${pendingCounts} (counter text COLLATE "C" NOT NULL, ` +
    `id bigint GENERATED ALWAYS AS IDENTITY, added jsonb NOT NULL, PRIMARY KEY (counter, id));`
  );
}

/** Returns a function whose statement keeps additions to a counter until they are added up. */
export function pendingAdditions({ pendingCounts }: Names) {
  return (table: Table, rows: readonly Row[]): Statement => ({
    text:
      `INSERT INTO ${pendingCounts} (counter, added) ` +
      `SELECT $1::text, added::jsonb FROM unnest($2::text[]) AS given(added)`,
    values: [
      table.collection.name,
      arrayText(
        "text",
        rows.map((row) => table.jsonText(row)),
      ),
    ],
  });
}

/** Returns a statement that returns a row if additions wait. */
export const findPendingCounts = ({ pendingCounts }: Names): Statement => ({
  text: `SELECT 1 FROM ${pendingCounts} LIMIT 1`,
  values: [],
});

/** Adds all additions that wait to their counters. Waits for others that do the same. */
export async function addPendingCounts({ pool, names, counters }: StorageContext): Promise<void> {
  const statements = counters.map((counter) => addUpStatement(names, counter));
  let mayLeaveSome: boolean;
  do {
    const [, ...results] = await pool.atomic([countSettings, ...statements]);
    mayLeaveSome = results.some(({ rows }) => Number(rows[0]?.[0]) === maxBatch);
  } while (mayLeaveSome);
}

/**
 * Returns the statement that adds up to `maxBatch` additions to one counter and returns their
 * number. The additions are removed in the same statement, so each counts once. The counter's rows
 * are written in the order in which groups write them (`writes.ts`), so there is no deadlock.
 */
export function addUpStatement({ pendingCounts }: Names, table: Table): Statement {
  const { collection } = table;
  const key = collection.primary.columns;
  const columns = columnsOf(collection).map(([column]) => column);
  const typeOf = (column: string): string => sqlTypes[table.type(column)];
  const given = columns.map((column) => `${quoted(column)} ${typeOf(column)}`);
  const sums = columns.map((column) =>
    // An addition by an older version of the code lacks newer columns.
    key.includes(column)
      ? quoted(column)
      : `coalesce(sum(${quoted(column)}), 0)::${typeOf(column)}`,
  );
  const text =
    `WITH taken AS (DELETE FROM ${pendingCounts} AS p USING (` +
    `SELECT ctid AS place FROM ${pendingCounts} WHERE counter >= $1 AND counter <= $1 ` +
    `ORDER BY counter, id LIMIT ${maxBatch} FOR UPDATE) AS found ` +
    `WHERE p.ctid = found.place RETURNING p.added), ` +
    `counted AS (INSERT INTO ${table.name} AS t (${columns.map(quoted).join(", ")}) ` +
    `SELECT ${sums.join(", ")} FROM taken, ` +
    `jsonb_to_record(taken.added) AS given(${given.join(", ")}) ` +
    `GROUP BY ${key.map(quoted).join(", ")} ` +
    `ORDER BY ${key.map((column) => `${quoted(column)}::text COLLATE "C"`).join(", ")} ` +
    `${onConflictAdd(table)}) SELECT count(*) FROM taken`;
  return { text, values: [collection.name] };
}
