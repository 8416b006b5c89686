import { expect, test } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { seededRandom, virtualClock } from "../../../adapters/testing/index.ts";
import type { Scope } from "../../../src/kernel/ids.ts";
import { schemaOf } from "../../../src/ports/collection.ts";
import { integer, scoped, text } from "../../../src/ports/define-collection.ts";
import { silent } from "../../../src/ports/logger.ts";
import { Store } from "../../../src/store/store.ts";

const notes = scoped("notes", { id: text(), thread_id: text(), count: integer() });
const noteById = notes.key("id");
const notesOfThread = notes.byId.index("by_thread", ["thread_id"]);
const parts = scoped("parts", { id: text(), note_id: text() });
const partById = parts.byId.key("id");
const counts = scoped("counts", { day: text(), count: integer() }, { kind: "counter" });
const countByDay = counts.key("day");

const own: Scope = { account_id: "acct_1", mode: "live" };
const others: readonly Scope[] = [
  { account_id: "acct_1", mode: "sandbox" },
  { account_id: "acct_2", mode: "live" },
];

async function opened(): Promise<Store> {
  const clock = virtualClock();
  const random = seededRandom(1);
  const schema = schemaOf([notes, parts, counts]);
  const store = new Store({ port: memory(), schema, clock, random, logger: silent });
  await store.open();
  await store.commit(own, async (tx) => {
    tx.insert(notes, { id: "n", thread_id: "t", count: 1 });
    tx.insert(parts, { id: "p", note_id: "n" });
    tx.add(counts, { day: "mon", count: 1 });
  });
  return store;
}

test("scoped transactions and reads use keys without account and mode", async () => {
  const store = await opened();
  const found = await store.commit(own, async (tx) => [
    tx.scope,
    await tx.get(noteById, ["n"]),
    await tx.get(partById, ["p"]),
    await tx.list(notesOfThread, ["t"], 9),
    await tx.get(countByDay, ["mon"]),
  ]);
  const note = expect.objectContaining({ ...own, id: "n" }) as unknown;
  const part = expect.objectContaining({ ...own, id: "p" }) as unknown;
  expect(found).toEqual([own, note, part, [note], { ...own, day: "mon", count: 1 }]);
  const reads = store.reads(own);
  const order = "ascending";
  expect([
    await reads.get(noteById, ["n"]),
    await reads.getAll(partById, [["p"]]),
    await reads.lists(notesOfThread, [["t"]], 9),
    await reads.range({ index: noteById, prefix: [], order, limit: 9 }),
    await reads.range({ index: notesOfThread, prefix: ["t"], order, limit: 9 }),
  ]).toEqual([note, [part], [[note]], [note], [note]]);
});

test.each(others)("another scope ($account_id, $mode) reads none of the rows", async (scope) => {
  const store = await opened();
  await store.commit(scope, async (tx) => {
    expect([
      await tx.get(noteById, ["n"]),
      await tx.get(partById, ["p"], { hold: true }),
      await tx.list(notesOfThread, ["t"], 9),
      await tx.list(notes.primary, [], 9),
      await tx.get(countByDay, ["mon"]),
    ]).toEqual([undefined, undefined, [], [], undefined]);
  });
  const reads = store.reads(scope);
  const order = "ascending";
  expect([
    await reads.get(partById, ["p"]),
    await reads.getAll(noteById, [["n"]]),
    await reads.lists(notesOfThread, [["t"]], 9),
    await reads.range({ index: noteById, prefix: [], order, limit: 9 }),
    await reads.range({ index: notesOfThread, prefix: ["t"], order, limit: 9 }),
  ]).toEqual([undefined, [], [[]], [], []]);
});

test.each(others)("another scope ($account_id, $mode) cannot write the rows", async (scope) => {
  const store = await opened();
  const note = await store.reads(own).get(noteById, ["n"]);
  const part = await store.reads(own).get(partById, ["p"]);
  if (note === undefined || part === undefined) throw new Error("they are there");
  const foreign = /another account or mode/;
  await store.commit(scope, async (tx) => {
    expect(() => tx.update(notes, note, { count: 2 })).toThrow(foreign);
    expect(() => tx.remove(notes, note)).toThrow(foreign);
    expect(() => tx.remove(parts, part)).toThrow(foreign);
    // A copied row belongs to the writing scope.
    const { version: _, ...copy } = note;
    const copied = tx.insert(notes, copy);
    expect(copied).toMatchObject({ ...scope, id: "n" });
    const away: object = own;
    expect(() => tx.update(notes, copied, away)).toThrow(/cannot be changed/);
  });
  expect(await store.reads(own).get(noteById, ["n"])).toEqual(note);
  expect(await store.reads(scope).get(noteById, ["n"])).toMatchObject(scope);
});

test("writes of an attempt in a scope are discarded if it throws", async () => {
  const store = await opened();
  await store.commit(own, async (tx) => {
    const work = tx.attempt(async (within) => {
      expect(within.scope).toEqual(own);
      within.insert(parts, { id: "q", note_id: "n" });
      throw new RangeError("taken back");
    });
    await expect(work).rejects.toThrow("taken back");
  });
  expect(await store.reads(own).get(partById, ["q"])).toBeUndefined();
});
