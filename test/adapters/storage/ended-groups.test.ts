/** Reads of a group that come, or go on, after the group has ended. */
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { sqlite } from "../../../adapters/storage/sqlite/index.ts";
import { itemById, schema } from "../../../adapters/testing/conformance/storage/collections.ts";
import type { Lookup } from "../../../src/ports/storage.ts";
import { held } from "../../support/engines/carrier.ts";
import { database } from "../../support/postgres/test-database.ts";
import { closing, write } from "./port.ts";
import { insert, opened } from "./postgres/rows.ts";
import { temporaryFile } from "./sqlite/files.ts";

const lookup: Lookup = { index: itemById, key: ["a"], limit: 1 };
const ended = { code: "storage_unavailable", message: "The group has already ended." };

const refusal = (read: unknown): Promise<unknown> =>
  Promise.resolve(read).catch((error: unknown) => error);

async function openedFile() {
  const file = await temporaryFile();
  const port = closing(sqlite({ file }));
  await port.open(schema);
  const other = new DatabaseSync(file, { timeout: 0 });
  onTestFinished(() => other.close());
  return { port, other };
}

it("a read on SQLite that waits for another process does not lock the file after its group", async () => {
  const { port, other } = await openedFile();
  other.exec("BEGIN IMMEDIATE");
  const group = port.begin("exclusive");
  const read = refusal(group.read([lookup]));
  await group.abort();
  other.exec("ROLLBACK");
  expect(await read).toMatchObject(ended);
  other.exec("BEGIN IMMEDIATE; ROLLBACK");
});

it("a read on SQLite that waits for a transaction does not lock the file after its group", async () => {
  const { port, other } = await openedFile();
  const gate = held<undefined>();
  const transaction = port.transaction?.(async () => gate.promise);
  await port.yieldToEventLoop();
  const group = port.begin("exclusive");
  const read = refusal(group.read([lookup]));
  const aborted = group.abort();
  gate.answer(undefined);
  await Promise.all([transaction, aborted]);
  expect(await read).toMatchObject(ended);
  other.exec("BEGIN IMMEDIATE; ROLLBACK");
});

it("a read on SQLite that comes after its group does not keep transactions waiting", async () => {
  const { port } = await openedFile();
  const group = port.begin("exclusive");
  await group.abort();
  expect(await refusal((async () => group.read([lookup]))())).toMatchObject(ended);
  expect(await port.transaction?.(async () => "done")).toBe("done");
});

it.each([
  ["an exclusive group", "exclusive", lookup],
  ["a group that locks", "shared", { ...lookup, lock: true }],
] as const)(
  "a read of %s on PostgreSQL begins no transaction after its group",
  async (_, access, late) => {
    const where = await database();
    const [port, other] = [await opened(where), await opened(where)];
    const group = port.begin(access);
    const aborted = group.abort();
    await expect((async () => group.read([late]))()).rejects.toMatchObject(ended);
    await aborted;
    await write(other, insert("a"));
    const admin = where.pool();
    const open = "SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction'";
    expect((await admin.query(`${open} AND datname = current_database()`)).rowCount).toBe(0);
  },
);
