/**
 * Where the storage has locks, the commands that lock rows have groups of their own. Neither kind waits
 * for the other's commits.
 */
import { setImmediate } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { seededRandom, virtualClock } from "../../../adapters/testing/index.ts";
import { silent } from "../../../src/ports/logger.ts";
import { Store } from "../../../src/store/store.ts";
import { over } from "../../support/over.ts";
import { beforeCommits } from "../../support/storage/groups.ts";
import { itemById, items, schema } from "../commands.ts";

/** A store whose commit waits while it inserts the item `held`. */
async function opened() {
  const storage = memory();
  const gate = Promise.withResolvers<void>();
  const waiting = beforeCommits(storage, async (writes) => {
    if (writes.some((write) => write.kind === "insert" && write.row["id"] === "held")) {
      await gate.promise;
    }
  });
  const port = over(waiting, { capabilities: { ...storage.capabilities, synchronous: false } });
  const [clock, random] = [virtualClock(), seededRandom(1)];
  const store = new Store({ port, schema, clock, random, logger: silent });
  await store.open();
  onTestFinished(async () => {
    gate.resolve();
    await store.close();
  });
  /** Inserts an item. */
  const put = (id: string, locks: boolean): Promise<void> =>
    store.commitUnscoped(
      async (tx) => {
        await tx.get(itemById, [id], { lock: locks });
        tx.insert(items, { id, owner: "nobody", label: null, token: "" });
      },
      { origin: "engine", locks },
    );
  return { store, put, release: gate.resolve };
}

it.each([
  { held: "locks rows", locks: true },
  { held: "locks no rows", locks: false },
])("a command that $held delays none of the other kind by its commit", async ({ locks }) => {
  const { put, release } = await opened();
  const done: string[] = [];
  const ids = ["held", "first", "second"];
  const all = ids.map((id) => put(id, id === "held" ? locks : !locks).then(() => done.push(id)));
  for (let turn = 0; turn < 20; turn++) await setImmediate();
  expect(done).toEqual(["first", "second"]);
  release();
  await Promise.all(all);
});

it("a command that locks rows reads only when the earlier ones have committed", async () => {
  const { store, put, release } = await opened();
  const held = put("held", true);
  await setImmediate();
  // It would find the rows locked that the commit still holds.
  let hasBegun = false;
  const next = store.commitUnscoped(
    (tx) => {
      hasBegun = true;
      return tx.get(itemById, ["held"], { lock: true });
    },
    { origin: "engine", locks: true },
  );
  for (let turn = 0; turn < 20; turn++) await setImmediate();
  expect(hasBegun).toBe(false);
  release();
  await held;
  expect(await next).toMatchObject({ id: "held" });
});

it("closes only after the commands that lock rows", async () => {
  const { store, put, release } = await opened();
  const done: string[] = [];
  const held = put("held", true).then(() => done.push("command"));
  const closed = store.close().then(() => done.push("store"));
  await setImmediate();
  done.push("release");
  release();
  await Promise.all([held, closed]);
  expect(done).toEqual(["release", "command", "store"]);
});
