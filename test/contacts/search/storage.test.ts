import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { postgres } from "../../../adapters/storage/postgres/index.ts";
import { sqlite } from "../../../adapters/storage/sqlite/index.ts";
import { schemaOf, type Collection } from "../../../src/ports/collection.ts";
import { collection, nullable, text } from "../../../src/ports/define-collection.ts";
import { StorageConflict, type StoragePort } from "../../../src/ports/storage.ts";
import { world } from "../../support/engines/world.ts";
import { makeDatabase } from "../../support/postgres/temporary-database.ts";
import { serverUrl } from "../../support/postgres/test-database.ts";
import { storages } from "../../support/storage/storages.ts";

/** The collection in the first version of a schema and in the second. */
function songs(version: 1 | 2) {
  const described = collection("songs", { id: text(), words: nullable(text()) });
  described.key("id");
  const byWords = described.index("by_words", ["words"]);
  const index = version === 2 ? described.words("words", "words", { since: 2 }) : undefined;
  return { schema: schemaOf([described]), collection: described as Collection, index, byWords };
}

async function keep(
  port: StoragePort,
  { collection: of }: ReturnType<typeof songs>,
  ...rows: { readonly id: string; readonly words: string | null }[]
): Promise<void> {
  await port
    .begin()
    .commit(rows.map((row) => ({ kind: "insert", collection: of, row: { ...row, version: 1 } })));
}

async function found(
  port: StoragePort,
  { index }: ReturnType<typeof songs>,
  word: string,
): Promise<unknown[]> {
  if (index === undefined) return [];
  const [rows = []] = await port.reader.search([
    { index, words: [{ word, prefix: false }], limit: 9 },
  ]);
  return rows.map(({ id }) => id);
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "tidings-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

describe("a word index that is added later", () => {
  it.each(storages)("contains the existing rows, on $name", async ({ open }) => {
    const { connect } = open({ empty: true });
    const before = songs(1);
    const old = connect();
    await old.open(before.schema);
    await keep(old, before, { id: "a", words: "blue moon" }, { id: "b", words: null });
    await old.close();
    const after = songs(2);
    const port = connect();
    await port.open(after.schema);
    await keep(port, after, { id: "c", words: "blue" });
    expect(new Set(await found(port, after, "blue"))).toEqual(new Set(["a", "c"]));
    expect(await found(port, after, "moon")).toEqual(["a"]);
    // The rows' key and their other indexes still work.
    await expect(keep(port, after, { id: "a", words: null })).rejects.toThrow(StorageConflict);
    const [same] = await port.reader.get([{ index: after.byWords, key: ["blue moon"], limit: 9 }]);
    expect(same).toEqual([{ id: "a", words: "blue moon", version: 1 }]);
    await port.close();
  });

  it("can be added with the printed statements", async () => {
    const file = join(folder(), "test.db");
    const printed = sqlite({ file, migrate: false });
    using database = new DatabaseSync(file);
    database.exec(printed.migrationSql(songs(1).schema));
    database.exec(`INSERT INTO tidings_songs VALUES ('a', 'blue moon', 1)`);
    database.exec(printed.migrationSql(songs(2).schema, 1));
    await printed.open(songs(2).schema);
    expect(await found(printed, songs(2), "moon")).toEqual(["a"]);
    await printed.close();

    await using made = await makeDatabase(await serverUrl());
    const pool = made.pool();
    const port = postgres({ pool, migrate: false });
    await pool.query(port.migrationSql(songs(1).schema));
    await pool.query(`INSERT INTO tidings_songs VALUES ('a', 'blue moon', 1)`);
    await pool.query(port.migrationSql(songs(2).schema, 1));
    await port.open(songs(2).schema);
    expect(await found(port, songs(2), "moon")).toEqual(["a"]);
    await port.close();
  });
});

describe("contacts that are written in the host application's transaction", () => {
  it("are found only if it commits", async () => {
    const file = join(folder(), "test.db");
    const engine = world().engine(sqlite({ file }));
    await engine.contacts.list();
    const host = new DatabaseSync(file);
    onTestFinished(() => host.close());
    const idsOf = async (): Promise<string[]> =>
      (await engine.contacts.search({ q: "moon" })).data.map((each) => each.id);
    host.exec("BEGIN");
    await engine.contacts.create({ name: "Blue Moon" }, { tx: host });
    host.exec("ROLLBACK");
    expect(await idsOf()).toEqual([]);
    host.exec("BEGIN");
    const { id } = await engine.contacts.create({ name: "Blue Moon" }, { tx: host });
    expect(await idsOf()).toEqual([]);
    host.exec("COMMIT");
    expect(await idsOf()).toEqual([id]);
  });
});

describe("an erased contact", () => {
  it("leaves no words in SQLite's word index", async () => {
    const file = join(folder(), "test.db");
    const engine = world().engine(sqlite({ file }));
    const { id } = await engine.contacts.create({ name: "Zebulon", phone: "+15005550001" });
    await engine.contacts.create({ name: "Anna", phone: "+15005550002" });
    using database = new DatabaseSync(file);
    const blocks = (): string =>
      database
        .prepare("SELECT block FROM tidings_contacts_words_data")
        .all()
        .map(({ block }) => Buffer.from(block as Uint8Array).toString("latin1"))
        .join("\n");
    expect(blocks()).toContain("zebulon");
    await engine.contacts.erase(id);
    expect(blocks()).not.toMatch(/ebulon|555000(?=1)/);
    expect(blocks()).toContain("nna");
  });

  it("causes no writes to the word index if only its number is known", async () => {
    const file = join(folder(), "test.db");
    const engine = world().engine(sqlite({ file }));
    await engine.messages.send({ to: "+15005550001", body: "hello" });
    using database = new DatabaseSync(file);
    const count = (table: string) =>
      database.prepare(`SELECT count(*) AS n FROM tidings_${table}`).get();
    expect([count("contacts"), count("contacts_words_idx")]).toEqual([{ n: 1 }, { n: 0 }]);
    await engine.contacts.create({ name: "Anna", phone: "+15005550002" });
    expect([count("contacts"), count("contacts_words_idx")]).toEqual([{ n: 2 }, { n: 1 }]);
  });
});
