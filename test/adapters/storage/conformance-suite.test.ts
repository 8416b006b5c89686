/**
 * The conformance suite for storages finds the mistake of each of these storages. Each has one.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { storageConformance } from "../../../adapters/testing/index.ts";
import { arrays, emptyDatabase, type Database } from "../../../examples/storage/arrays.ts";
import type { Group, Range, Row, StoragePort, Write } from "../../../src/ports/storage.ts";
import { errorOfCheck } from "../../support/conformance-checks.ts";
import { cases } from "../../support/runs.ts";

type Spoil = (sound: StoragePort, database: Database) => Partial<StoragePort>;

/** Runs one check of the suite on a spoilt storage, and returns its error. */
function errorOf(check: string, spoil: Spoil): Promise<string | undefined> {
  return errorOfCheck(check, (runner) =>
    storageConformance(runner, "spoilt", async () => {
      const database = emptyDatabase();
      const connect = (): StoragePort => {
        const sound = arrays(database);
        return { ...sound, ...spoil(sound, database) };
      };
      return { connect };
    }),
  );
}

const inGroups =
  (change: (group: Group, sound: StoragePort, database: Database) => Partial<Group>): Spoil =>
  (sound, database) => ({
    begin(how) {
      const group = sound.begin(how);
      return { ...group, ...change(group, sound, database) };
    },
  });

/** Changes the writes of each commit. */
const writing = (change: (write: Write) => Write | Write[]): Spoil =>
  inGroups((group) => ({ commit: (writes) => group.commit(writes.flatMap(change)) }));

const writingRows = (change: (row: Row, write: Write) => Row): Spoil =>
  writing((write) => ("row" in write ? { ...write, row: change(write.row, write) } : write));

/** Changes the values of each row that is written. */
const writingValues = (change: (value: unknown) => unknown): Spoil =>
  writingRows((row) => mapped(row, change));

const mapped = (row: Row, change: (value: unknown) => unknown): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, change(value)]));

const ranging =
  (change: (row: Row) => Row): Spoil =>
  ({ reader }) => ({
    reader: { ...reader, range: async (range: Range) => (await reader.range(range)).map(change) },
  });

/** Each storage, the check that finds its mistake, and the mistake. */
const mistakes: readonly (readonly [what: string, check: string, spoil: Spoil])[] = [
  [
    "returns the look-ups of a group in another order",
    "values of every type are read as they were written",
    inGroups(({ read }) => ({ read: async (lookups) => (await read(lookups)).toReversed() })),
  ],
  [
    "returns the booleans of ranges as numbers",
    "values of every type are read as they were written",
    ranging((row) => mapped(row, (each) => (typeof each === "boolean" ? Number(each) : each))),
  ],
  [
    "leaves out the version in ranges",
    "values of every type are read as they were written",
    ranging(({ version: _, ...row }) => row),
  ],
  [
    "trims texts",
    "values of every type are read as they were written",
    writingValues((value) => (typeof value === "string" ? value.trimEnd() : value)),
  ],
  [
    "stores an empty text as null",
    "values of every type are read as they were written",
    writingRows((row) => (row["label"] === "" ? { ...row, label: null } : row)),
  ],
  [
    "cuts long texts",
    "values of every type are read as they were written",
    writingValues((value) => (typeof value === "string" ? value.slice(0, 65_535) : value)),
  ],
  [
    "normalizes texts",
    "text sorts by code point, and false sorts before true",
    writingValues((value) => (typeof value === "string" ? value.normalize() : value)),
  ],
  [
    "ignores the condition of a unique index",
    "a unique key of a partial index is unique among the rows that match its condition",
    writing((write) => {
      const indexes = write.collection.indexes.map((each) => ({ ...each, where: undefined }));
      return { ...write, collection: { ...write.collection, indexes } };
    }),
  ],
  [
    "gives each new row version 1",
    "a new row has the version that its write names",
    writingRows((row, { kind }) => (kind === "insert" ? { ...row, version: 1 } : row)),
  ],
  [
    "counts versions by itself",
    "an update writes the changed columns and the version",
    writingRows((row, write) =>
      write.kind === "update" ? { ...row, version: write.version + 1 } : row,
    ),
  ],
  [
    "has few parameters in a statement",
    "a group of many commands is written, and its rows are read at once",
    ({ reader }) => ({
      reader: {
        ...reader,
        async get(lookups) {
          if (lookups.length > 500) throw new RangeError("too many parameters");
          return reader.get(lookups);
        },
      },
    }),
  ],
  [
    "reads a counter before it writes it",
    "counters that two connections add to at once lose nothing",
    inGroups((group, { reader }) => ({
      async commit(writes) {
        const [write] = writes;
        if (write?.kind !== "add") return group.commit(writes);
        const { collection, row } = write;
        const key = [String(row["day"]), String(row["kind"])];
        const [[stored] = []] = await reader.get([{ index: collection.primary, key, limit: 1 }]);
        await nextTurn();
        const count = Number(row["count"]) + Number(stored?.["count"] ?? 0);
        const add = { ...write, row: { ...row, count } };
        if (stored === undefined) return group.commit([add]);
        return group.commit([{ kind: "remove", collection, key, version: 0 }, add]);
      },
    })),
  ],
  [
    "gives a row of a log a new position when it changes",
    "a row of a log keeps its position when it changes, and no later row gets it",
    writing((write) => {
      if (write.kind !== "update" || !("position" in write.row)) return write;
      const { collection, key, version, row } = write;
      return [
        { kind: "remove", collection, key, version },
        { kind: "insert", collection, row },
      ];
    }),
  ],
  [
    "takes the position after the last row of a log",
    "a row of a log keeps its position when it changes, and no later row gets it",
    inGroups((group, _, database) => ({
      commit(writes) {
        const positions = [...database.rows.values()].flat().map((row) => row["position"] ?? 0);
        database.position = Math.max(0, ...positions.map(Number));
        return group.commit(writes);
      },
    })),
  ],
  [
    "forgets the last position of a log",
    "a row of a log keeps its position when it changes, and no later row gets it",
    (sound, database) => ({
      async open(schema) {
        await sound.open(schema);
        database.position = 0;
      },
    }),
  ],
  [
    "ignores new columns",
    "rows from before an upgrade have the fill values of the new columns",
    () => ({ open: async () => {} }),
  ],
  [
    "leaves rows from before out of a new index",
    "new indexes have the rows from before an upgrade, and new collections take rows",
    ({ reader }) => ({
      reader: {
        ...reader,
        get: async (lookups) =>
          (await reader.get(lookups)).map((rows, i) =>
            lookups[i]?.index.name === "by_kind" ? [] : rows,
          ),
      },
    }),
  ],
  [
    "migrates only when it is opened",
    "a migration upgrades the storage as opening it does, and can be repeated",
    () => ({ migrate: async () => {} }),
  ],
  [
    "serves older code",
    "code that is older than the storage is refused, and changes nothing",
    (sound, database) => ({
      async open(schema) {
        if (schema.version > database.version) await sound.open(schema);
      },
    }),
  ],
  [
    "creates its tables twice",
    "engines that open an empty storage or upgrade it at once all succeed",
    (sound, database) => ({
      async open(schema) {
        const { version } = database;
        await nextTurn();
        if (version === 0 && database.version > 0) throw new Error("The table already exists.");
        await sound.open(schema);
      },
    }),
  ],
  [
    "yields to nothing but promises",
    "yielding to the event loop lets timers and sockets go on",
    () => ({ yieldToEventLoop: async () => {} }),
  ],
  [
    "has many writers and ignores locks",
    "locked rows can be written only by the group that locked them, until it ends",
    ({ capabilities }) => ({ capabilities: { ...capabilities, synchronous: false } }),
  ],
  [
    "lets a command join a transaction that has ended",
    "a transaction that has ended cannot be joined",
    (sound) => ({ host: () => sound.begin(), transaction: (work) => work({}) }),
  ],
  [
    "reverses the order of ranges",
    "reading by cursor never skips or repeats a row that does not move",
    ({ reader }) => ({
      reader: {
        ...reader,
        async range(range) {
          const rows = await reader.range({ ...range, limit: 1_000 });
          return rows.toReversed().slice(0, range.limit);
        },
      },
    }),
  ],
  [
    "loses signals",
    "signals reach every other engine in their order, and are not stored",
    () => ({ signals: () => ({ send: () => {}, leave: () => {} }) }),
  ],
  [
    "counts requests for ever",
    "a request is admitted again when earlier ones have left the window",
    (_, database) => ({
      admit: async (requests) =>
        requests.map(({ limit, window }) => {
          const admitted = ++database.position <= limit;
          const remaining = Math.max(0, limit - database.position);
          const retry_after_ms = remaining > 0 ? 0 : window;
          return { admitted, limit, remaining, reset_ms: window, retry_after_ms };
        }),
    }),
  ],
];
/** Their checks take seconds. */
const slow = new Set([
  "has few parameters in a statement",
  "loses signals",
  "counts requests for ever",
]);

test.each(cases(mistakes, ([what]) => !slow.has(what)))(
  "the suite for storages finds one that %s",
  async (_, check, spoil) => {
    expect(await errorOf(check, () => ({}))).toBeUndefined();
    expect(await errorOf(check, spoil)).toContain(`${check}: expected `);
  },
);

test("the suite for storages shows where long values differ", async () => {
  const error = await errorOf(
    "values of every type are read as they were written",
    writingValues((value) => (value === " anna " ? "anna" : value)),
  );
  expect(error).toContain('expected " anna " (rows read, at [2][0].owner), got "anna"');
});

test("the suite for storages shows the value that a storage should have refused", async () => {
  const error = await errorOf(
    "a value that its column cannot hold is refused permanently, with its whole group",
    writingValues((value) => (typeof value === "string" ? value.toWellFormed() : value)),
  );
  expect(error).toContain(String.raw`(a row with the owner "half a \ud83d"), got none`);
});

test("the suite for storages accepts one whose groups wait for each other", async () => {
  let last = Promise.resolve();
  const oneAfterTheOther = inGroups((group) => {
    const before = last;
    const ended = Promise.withResolvers<void>();
    last = ended.promise;
    return {
      read: (lookups) => before.then(() => group.read(lookups)),
      commit: (writes) => before.then(() => group.commit(writes)).finally(ended.resolve),
      abort: () => before.then(() => group.abort()).finally(ended.resolve),
    };
  });
  const check = "locked rows can be written only by the group that locked them, until it ends";
  expect(await errorOf(check, oneAfterTheOther)).toBeUndefined();
});
