import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Connection } from "../../../../adapters/storage/sqlite/connections/connection.ts";
import { sqlite } from "../../../../adapters/storage/sqlite/index.ts";
import { Reads } from "../../../../adapters/storage/sqlite/reads/reads.ts";
import { Table } from "../../../../adapters/storage/sqlite/tables/tables.ts";
import * as conformance from "../../../../adapters/testing/conformance/storage/collections.ts";
import type { Index } from "../../../../src/ports/collection.ts";
import { closing, write } from "../port.ts";
import { temporaryFile } from "./files.ts";

/** Calls `before` before each query but the first. */
class InterruptedConnection extends Connection {
  readonly #before: () => void;
  #queries = 0;

  constructor(handle: DatabaseSync, before: () => void) {
    super(handle);
    this.#before = before;
  }

  override statement(sql: string): ReturnType<Connection["statement"]> {
    if (this.#queries++ > 0) this.#before();
    return super.statement(sql);
  }
}

it("a range finds a row once that moves from null to a value while the range is read", async () => {
  const { item, items, itemsByRank, schema } = conformance;
  const file = await temporaryFile();
  const port = closing(sqlite({ file }));
  await port.open(schema);
  const row = { ...item("i", { owner: "anna", rank: null }), version: 1 };
  await write(port, { kind: "insert", collection: items, row });
  const [handle, other] = [new DatabaseSync(file), new DatabaseSync(file)];
  onTestFinished(() => {
    handle.close();
    other.close();
  });
  const connection = new InterruptedConnection(handle, () =>
    other.exec("UPDATE tidings_conformance_items SET rank = 1"),
  );
  const reads = new Reads(() => new Table(items));
  const range = { index: itemsByRank, prefix: ["anna"], order: "ascending", limit: 5 } as const;
  const found = reads.range(connection, { ...range, until: [9] });
  expect(found).toMatchObject([{ id: "i", rank: null }]);
  expect(reads.range(new Connection(handle), range)).toMatchObject([{ id: "i", rank: 1 }]);
});

describe("the plans of reads", () => {
  it("are scans along the named index in its order, without sorts and table scans", () => {
    const handle = new DatabaseSync(":memory:");
    onTestFinished(() => handle.close());
    handle.exec(sqlite({ file: "unused" }).migrationSql(conformance.schema));
    const prepare = vi.spyOn(handle, "prepare");
    const connection = new Connection(handle);
    const { collections } = conformance.schema;
    const tables = new Map(
      collections.map((collection) => [collection.name, new Table(collection)]),
    );
    const reads = new Reads(({ name }) => tables.get(name) ?? expect.fail(name));
    const indexes: readonly Index[] = collections.flatMap(({ primary, indexes: others }) => [
      primary,
      ...others,
    ]);
    for (const index of indexes) {
      const ordering = [...new Set([...index.columns, ...index.collection.primary.columns])];
      for (let length = 0; length <= index.columns.length; length++) {
        const prefix = Array<number>(length).fill(1);
        for (const order of ["ascending", "descending"] as const) {
          reads.get(connection, { index, key: prefix, limit: 5, order });
          reads.range(connection, { index, prefix, order, limit: 5 });
          reads.range(connection, { index, prefix, order, skip: 3, limit: 5 });
          for (let bound = 1; bound <= ordering.length - length; bound++) {
            const tuple = Array<number>(bound).fill(1);
            reads.range(connection, { index, prefix, order, after: tuple, limit: 5 });
            reads.range(connection, { index, prefix, order, after: tuple, until: tuple, limit: 5 });
          }
        }
      }
    }
    const texts = new Set(prepare.mock.calls.map(([text]) => text));
    expect(texts.size).toBeGreaterThan(100);
    for (const text of texts) {
      const plan = handle
        .prepare(`EXPLAIN QUERY PLAN ${text}`)
        .all()
        .map(({ detail }) => String(detail));
      expect(plan, text).toHaveLength(1);
      // Without a condition there is nothing to seek, and a scan from one end is right.
      const seeks = text.replace(/ORDER BY.*/, "").includes("?");
      expect(plan[0], text).toMatch(seeks ? /^SEARCH/ : /^(SCAN|SEARCH)/);
    }
  });
});
