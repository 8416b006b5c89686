/** Several engines that share one storage object in a process. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { postgres } from "../../../adapters/storage/postgres/index.ts";
import { sqlite } from "../../../adapters/storage/sqlite/index.ts";
import { schema } from "../../../adapters/testing/conformance/storage/collections.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { world } from "../../support/engines/world.ts";
import { eventually } from "../../support/eventually.ts";
import { database } from "../../support/postgres/test-database.ts";
import { firstSchema, insertNote, notes } from "./notes.ts";
import { closing, write } from "./port.ts";
import { insert } from "./postgres/rows.ts";
import { temporaryDirectory, temporaryFile } from "./sqlite/files.ts";

const storages: readonly (readonly [string, () => Promise<StoragePort>])[] = [
  ["SQLite", async () => sqlite({ file: await temporaryFile() })],
  ["PostgreSQL", async () => postgres({ pool: (await database()).pool() })],
];

it.each(storages)(
  "engines on one %s object hear of commits at most every 20 ms, the last one included",
  async (_, make) => {
    const port = closing(closing(await make()));
    // Once for each of two engines.
    await port.open(schema);
    await port.open(schema);
    let committed = 0;
    const heard: number[] = [];
    const unwatch = port.watch?.(() => void heard.push(committed));
    onTestFinished(() => unwatch?.());
    const begun = performance.now();
    for (let n = 1; n <= 100; n++) {
      const writing = write(port, insert(`item ${n}`));
      committed = n;
      await writing;
    }
    await eventually(() => expect(heard.at(-1)).toBe(100));
    // PostgreSQL's listener is also called when it begins to listen.
    expect(heard.length).toBeLessThanOrEqual(3 + (performance.now() - begun) / 20);
  },
);

it.each(storages)(
  "an engine on a shared %s object can be first called inside a transaction of the other",
  async (_, make) => {
    const storage = await make();
    const { engine } = world();
    const [one, other] = [engine(storage), engine(storage)];
    const { id } = await one.transaction((tx) =>
      other.messages.send({ to: "+15005550001", body: "Hi" }, { tx }),
    );
    expect(await one.messages.get(id)).toMatchObject({ body: "Hi" });
  },
);

describe("an engine that opens an object which another one gave up and has not closed yet", () => {
  const never = new AbortController().signal;

  it("can use it, on PostgreSQL", async () => {
    const port = closing(closing(postgres({ pool: (await database()).pool() })));
    await port.open(firstSchema);
    await port.abandonUnless?.(never);
    await port.open(firstSchema);
    await write(port, insertNote("a"));
    expect(await notes(port)).toEqual(["a"]);
  });

  it("waits for the lock of another process, on SQLite", async () => {
    const file = await temporaryFile();
    const port = closing(closing(sqlite({ file })));
    await port.open(firstSchema);
    await port.abandonUnless?.(never);
    await port.open(firstSchema);
    const other = new DatabaseSync(file);
    onTestFinished(() => other.close());
    other.exec("BEGIN IMMEDIATE");
    const writing = write(port, insertNote("a"));
    writing.catch(() => {});
    await sleep(100);
    other.exec("ROLLBACK");
    await writing;
    expect(await notes(port)).toEqual(["a"]);
  });
});

it("a storage stays open for the second engine, although an earlier one gave up while it failed to open", async () => {
  const directory = join(await temporaryDirectory(), "later");
  const port = closing(sqlite({ file: join(directory, "test.db") }));
  const failed = port.open(firstSchema).catch((error: unknown) => error);
  await port.close();
  expect(await failed).toMatchObject({ code: "storage_unavailable" });
  await mkdir(directory);
  await port.open(firstSchema);
  await port.open(firstSchema);
  await port.close();
  expect(await notes(port)).toEqual([]);
});
