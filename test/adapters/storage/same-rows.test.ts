/** The same commands leave the same rows in every storage, whatever the values are. */
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import {
  bookById,
  books,
  booksByWords,
  entries,
  entriesByPosition,
  entriesByTopic,
  entryById,
  item,
  itemById,
  itemByLabel,
  itemOfAKind,
  items,
  itemsByFlag,
  itemsByRank,
  itemsByTime,
  openItems,
  schema,
  sumByDay,
  sums,
  type Book,
  type Item,
} from "../../../adapters/testing/conformance/storage/collections.ts";
import { seededRandom, virtualClock } from "../../../adapters/testing/index.ts";
import { silent } from "../../../src/ports/logger.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { Store } from "../../../src/store/store.ts";
import type { UnscopedTx } from "../../../src/store/transactions/transaction.ts";
import { runs } from "../../support/runs.ts";
import { storages } from "../../support/storage/storages.ts";

const texts = fc.constantFrom(
  ..."|a|b|a\0|\u0001|\u0001\u0002|\0|'|\"|\\|{|,|NULL|\u{1f600}|\uff01|\ud7ff|é|e\u0301| a|a |\n|\\N|0|1e5|\ufeff".split(
    "|",
  ),
);
const integers = fc.constantFrom(
  0,
  -1,
  2 ** 31,
  -(2 ** 32),
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
);
const reals = fc.constantFrom(
  0,
  -0,
  0.1 + 0.2,
  1 / 3,
  2 ** 53 + 2,
  -(2 ** 63),
  1e21,
  1e300,
  Number.MIN_VALUE,
);
const ids = fc.oneof(fc.constantFrom("i1", "i2", "i3"), texts);
const patches: fc.Arbitrary<Partial<Item>> = fc.record(
  {
    owner: fc.oneof(fc.constantFrom("anna", "bert"), texts),
    state: fc.oneof(fc.constantFrom("open", "it's held", "closed"), texts),
    rank: fc.option(integers),
    weight: reals,
    flag: fc.boolean(),
    at: fc.oneof(fc.nat(5), integers),
    data: fc.oneof(fc.jsonValue({ maxDepth: 2 }), texts),
    extra: fc.option(fc.jsonValue({ maxDepth: 1 })),
  },
  { requiredKeys: [] },
);
const words = fc.array(
  fc.constantFrom(
    "a",
    "ab",
    "日本",
    "日",
    "é",
    "and",
    "or",
    "near",
    "0",
    "x".repeat(100),
    "\u{1d400}",
  ),
  { maxLength: 4 },
);

type Step = (tx: UnscopedTx) => Promise<void>;

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(ids, patches).map(([id, patch]): Step => async (tx) => {
    const row = await tx.get(itemById, [id]);
    if (row === undefined) tx.insert(items, item(id, patch));
    else tx.update(items, row, patch);
  }),
  ids.map((id): Step => async (tx) => {
    const row = await tx.get(itemById, [id]);
    if (row !== undefined) tx.remove(items, row);
  }),
  // A row takes the label of another one.
  fc.tuple(ids, fc.oneof(fc.constant("k"), texts)).map(([id, label]): Step => async (tx) => {
    const row = await tx.get(itemById, [id]);
    const holder = row && (await tx.get(itemByLabel, [row.owner, label]));
    if (row === undefined || holder?.id === id) return;
    if (holder !== undefined) tx.update(items, holder, { label: null });
    tx.update(items, row, { label });
  }),
  fc
    .tuple(fc.constantFrom("1", "2", "3"), fc.option(words), fc.boolean())
    .map(([id, found, removes]): Step => async (tx) => {
      const row = await tx.get(bookById, ["shelf", id]);
      const book: Book = { shelf: "shelf", id, words: found?.join(" ") || null, pages: 1 };
      if (row === undefined) tx.insert(books, book);
      else if (removes) tx.remove(books, row);
      else tx.update(books, row, { words: book.words });
    }),
  fc.tuple(fc.nat(9), texts).map(([n, topic]): Step => async (tx) => {
    const row = await tx.get(entryById, [`e${n}`]);
    if (row === undefined) tx.insert(entries, { id: `e${n}`, topic, body: "", position: 0 });
    else tx.update(entries, row, { topic });
  }),
  fc
    .tuple(texts, fc.integer(), fc.constantFrom(0.1, -0.5, 3))
    .map(([day, count, cost]): Step => async (tx) => {
      tx.add(sums, { day, kind: "k", count, cost });
    }),
);
const commands = fc.array(
  fc.record({ does: fc.array(steps, { minLength: 1, maxLength: 4 }), fails: fc.boolean() }),
  {
    minLength: 5,
    maxLength: 30,
    size: "max",
  },
);
type Commands = typeof commands extends fc.Arbitrary<infer T> ? T : never;

/** Runs the commands one after the other, and returns what every index and some searches find. */
async function rowsAfter(given: Commands, port: StoragePort): Promise<unknown> {
  const [clock, random] = [virtualClock(0), seededRandom(1)];
  const store = new Store({ port, schema, clock, random, logger: silent });
  await store.open();
  const outcomes: string[] = [];
  for (const { does, fails } of given) {
    const command = async (tx: UnscopedTx): Promise<string> => {
      const attempt = tx.attempt(async () => {
        for (const step of does) await step(tx);
        if (fails) throw new Error("as told");
      });
      return attempt.then(() => "done", String);
    };
    outcomes.push(await store.commitUnscoped(command).catch((error: unknown) => String(error)));
  }
  const indexes = [
    itemById,
    itemsByTime,
    itemsByRank,
    itemsByFlag,
    openItems,
    itemByLabel,
    itemOfAKind,
    bookById,
    entryById,
    entriesByPosition,
    entriesByTopic,
    sumByDay,
  ];
  const found: unknown[] = [];
  for (const index of indexes) {
    for (const order of ["ascending", "descending"] as const) {
      const rows = await port.reader.range({ index, prefix: [], order, limit: 1_000 });
      // A storage may leave gaps between positions.
      found.push(rows.map(({ position: _, ...row }) => row));
    }
  }
  for (const word of ["a", "日", "é", "and", "x", "x".repeat(100), "\u{1d400}"]) {
    for (const prefix of [true, false]) {
      const search = { index: booksByWords, words: [{ word, prefix }], limit: 100 };
      const [rows = []] = await port.reader.search([search]);
      found.push(rows.map(({ id }) => String(id)).toSorted());
    }
  }
  await store.commitUnscoped(async (tx) => {
    for (const row of await tx.list(itemById, [], 1_000)) tx.remove(items, row);
    for (const row of await tx.list(bookById, [], 1_000)) tx.remove(books, row);
    for (const row of await tx.list(entryById, [], 1_000)) tx.remove(entries, row);
    for (const row of await tx.list(sumByDay, [], 1_000)) tx.remove(sums, row);
  });
  return { outcomes, found };
}

test.each(storages.filter(({ name }) => name !== "memory"))(
  "$name has the same rows as the storage in memory after the same commands",
  async ({ name, open }) => {
    const port = open({ empty: true }).connect();
    await port.open(schema);
    onTestFinished(() => port.close());
    await fc.assert(
      fc.asyncProperty(commands, async (given) => {
        expect(await rowsAfter(given, port)).toEqual(await rowsAfter(given, memory()));
      }),
      { numRuns: runs(name === "SQLite" ? 150 : 20) },
    );
  },
);
