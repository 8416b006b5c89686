import { StorageConflict, type Write } from "../../../../src/ports/index.ts";
import type { Store, UnscopedTx } from "../../../../src/store/index.ts";
import { Dice } from "../../simulated/dice.ts";
import { failsWith, failure, holds, same } from "../checks.ts";
import {
  entries,
  entriesByPosition,
  entry,
  item,
  itemById,
  itemByLabel,
  items,
  itemsByTime,
  type Item,
} from "./collections.ts";
import {
  allIds,
  insert,
  portWith,
  update,
  write,
  type OpenPorts,
  type StorageChecks,
} from "./fixture.ts";

/** Two stores on the same rows, like two processes. */
async function two(ports: OpenPorts): Promise<[Store, Store]> {
  return [await ports.store(), await ports.store()];
}

async function seed(store: Store, ...rows: readonly Item[]): Promise<void> {
  await store.commitUnscoped(async (tx) => {
    for (const row of rows) tx.insert(items, row);
  });
}

/** Adds one to the row's rank. An increment is lost when two commands write the same version. */
const increment =
  (id: string) =>
  async (tx: UnscopedTx): Promise<void> => {
    const row = await tx.get(itemById, [id]);
    if (row !== undefined) tx.update(items, row, { rank: (row.rank ?? 0) + 1 });
  };

/**
 * Several processes on one storage. Every outcome must equal the outcome of some serial order of
 * the commands.
 */
export const raceChecks: StorageChecks = {
  "no update is lost between two processes": async (ports) => {
    const stores = await two(ports);
    await seed(stores[0], item("a", { rank: 0 }), item("b", { rank: 0 }));
    const done = await Promise.allSettled(
      Array.from({ length: 200 }, (_, i) =>
        stores[i % 2 === 0 ? 0 : 1].commitUnscoped(increment(i % 3 === 0 ? "a" : "b")),
      ),
    );
    const counted = done.filter(({ status }) => status === "fulfilled").length;
    holds(counted > 100, "more than 100 commands that succeed", counted);
    const [a, b] = await stores[1].unscopedReads.getAll(itemById, [["a"], ["b"]]);
    same((a?.rank ?? 0) + (b?.rank ?? 0), counted, "sum of the committed increments");
  },

  "of many concurrent inserts of one key, one wins and the others see its row": async (ports) => {
    const stores = await two(ports);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        stores[i % 2 === 0 ? 0 : 1].commitUnscoped(async (tx) => {
          const before = await tx.get(itemByLabel, ["anna", "the one"]);
          return (before ?? tx.insert(items, item(`i${i}`, { label: "the one" }))).id;
        }),
      ),
    );
    same(new Set(answers).size, 1, "number of winners");
    const rows = await stores[0].unscopedReads.range({
      index: itemsByTime,
      prefix: ["anna"],
      order: "ascending",
      limit: 99,
    });
    same(
      rows.map(({ id }) => id),
      [answers[0]],
      "rows",
    );
  },

  "a held row cannot change before the commit of a decision that depends on it": async (ports) => {
    // Each leaves only while the other stays. If both left, a decision would rest on an outdated
    // row.
    const leave =
      (own: string, other: string) =>
      async (tx: UnscopedTx): Promise<void> => {
        const stays = await tx.get(itemById, [other], { hold: true });
        const row = await tx.get(itemById, [own]);
        if (stays?.state === "on duty" && row !== undefined) {
          tx.update(items, row, { state: "off duty" });
        }
      };
    const rival = await ports.store();
    let meddle = true;
    const store = await ports.store(async () => {
      if (meddle) await rival.commitUnscoped(leave("b", "a"));
      meddle = false;
    });
    await seed(rival, item("a", { state: "on duty" }), item("b", { state: "on duty" }));
    await store.commitUnscoped(leave("a", "b"));
    const rows = await rival.unscopedReads.getAll(itemById, [["a"], ["b"]]);
    same(
      rows.map(({ state }) => state),
      ["on duty", "off duty"],
      "who is on duty",
    );
  },

  "a command that only meets conflicts runs 8 times and then fails with storage_contended": async (
    ports,
  ) => {
    const store = await ports.store(() => {
      throw new StorageConflict("a rival was faster");
    });
    let runs = 0;
    const contended = store.commitUnscoped(async (tx) => {
      runs++;
      tx.insert(items, item("a"));
    });
    const error = await failsWith("storage_contended", () => contended, "the command");
    holds(error.retryable, "a retryable error", error);
    holds(error.cause instanceof StorageConflict, "a StorageConflict as the cause", error.cause);
    same(runs, 8, "runs");
    same(await store.unscopedReads.get(itemById, ["a"]), undefined, "the row");
  },

  "a command succeeds although others keep changing its rows": async (ports) => {
    const rival = await ports.store();
    await seed(rival, item("a", { rank: 0 }));
    const changes: Promise<void>[] = [];
    const store = await ports.store(async () => {
      const change = rival.commitUnscoped(increment("a"));
      changes.push(change);
      // Awaited at the end, unless this command fails first.
      change.catch(() => {});
      // Later changes may have to wait for this command, so it does not wait for them.
      if (changes.length === 1) await change;
    });
    await store.commitUnscoped(increment("a"));
    await Promise.all(changes);
    same(
      (await rival.unscopedReads.get(itemById, ["a"]))?.rank,
      changes.length + 1,
      "the rank after all increments",
    );
  },

  "after a conflict, every command of the group runs again on the current rows": async (ports) => {
    const rival = await ports.store();
    await seed(rival, item("a", { rank: 1 }));
    let meddle = true;
    const store = await ports.store(async () => {
      if (!meddle) return;
      meddle = false;
      await rival.commitUnscoped(increment("a"));
    });
    await Promise.all([store.commitUnscoped(increment("a")), store.commitUnscoped(increment("a"))]);
    same(
      (await rival.unscopedReads.get(itemById, ["a"]))?.rank,
      4,
      "the rank after three increments",
    );
  },

  "a commit that needs a row of an open transaction conflicts, and others commit": async (
    ports,
  ) => {
    const port = await portWith(ports, "transaction", "host");
    // A storage with one transaction at a time has a single writer.
    if (port === undefined || port.capabilities.transactions < 2) return;
    await write(port, insert(item("a")));
    const label = (version: number, text: string): Write =>
      update("a", version, item("a", { label: text }), "label");
    await port.transaction(async (handle) => {
      await port.host(handle).commit([label(1, "theirs"), insert(item("b"))]);
      for (const needed of [label(1, "mine"), insert(item("b"))]) {
        const conflict = await failure(() => write(port, needed), "a locked row");
        holds(conflict instanceof StorageConflict, "a StorageConflict", conflict);
        same((conflict as StorageConflict).isLocked, true, "whether the row is locked");
      }
      await write(port, insert(item("c")));
    });
    const outdated = await failure(() => write(port, label(1, "mine")), "an outdated row");
    same((outdated as StorageConflict).isLocked, false, "whether the row is locked later");
    await write(port, label(2, "mine"));
    same(await allIds(port), ["a", "b", "c"], "rows");
  },

  "a reader of a log misses no row: no position is visible before a lower one": async (ports) => {
    const stores = await two(ports);
    const port = await ports.port();
    const count = 300;
    const written = Promise.all(
      Array.from({ length: count }, (_, i) =>
        stores[i % 2 === 0 ? 0 : 1].commitUnscoped(async (tx) => {
          tx.insert(entries, entry(`e${i}`));
          if (i % 7 === 0) tx.insert(entries, entry(`f${i}`));
        }),
      ),
    );
    let ended = false;
    void written.finally(() => (ended = true)).catch(() => {});
    const followed: unknown[] = [];
    let last = 0;
    for (let idle = 0; idle < 2; idle += ended ? 1 : 0) {
      const beyond = {
        index: entriesByPosition,
        prefix: [],
        order: "ascending",
        after: [last],
      } as const;
      const rows = await port.reader.range({ ...beyond, limit: 20 });
      for (const { id, position } of rows) {
        followed.push(id);
        holds(Number(position) > last, `a position above ${last} in a range after it`, position);
        last = Number(position);
      }
      if (rows.length > 0) idle = 0;
      await port.yieldToEventLoop();
    }
    await written;
    const all = await port.reader.range({
      index: entriesByPosition,
      prefix: [],
      order: "ascending",
      limit: 1_000,
    });
    same(
      followed,
      all.map(({ id }) => id),
      "rows followed",
    );
    same(followed.length, count + Math.ceil(count / 7), "number of rows");
  },

  "reading by cursor never skips or repeats a row that does not move": async (ports) => {
    const [store, writer] = await two(ports);
    const dice = new Dice(3);
    const anyTime = (): number => dice.between(0, 10);
    const still = Array.from({ length: 60 }, (_, i) => item(`still${i}`, { at: i % 11 }));
    const restless = Array.from({ length: 40 }, (_, i) => item(`restless${i}`, { at: anyTime() }));
    await seed(store, ...still, ...restless);
    const stir = (round: number): Promise<void> =>
      writer.commitUnscoped(async (tx) => {
        for (let i = 0; i < 5; i++) {
          const row = await tx.get(itemById, [`restless${dice.between(0, 39)}`]);
          if (row === undefined) continue;
          if (dice.chance(1 / 4)) tx.remove(items, row);
          else tx.update(items, row, { at: anyTime() });
        }
        tx.insert(items, item(`new${round}`, { at: anyTime() }));
      });
    for (const order of ["ascending", "descending"] as const) {
      const walked: string[] = [];
      let after: readonly [number, string] | undefined;
      for (let page = 0; ; page++) {
        const cursor = after === undefined ? {} : { after };
        const rows = await store.unscopedReads.range({
          index: itemsByTime,
          prefix: ["anna"],
          order,
          ...cursor,
          limit: 7,
        });
        walked.push(...rows.map(({ id }) => id).filter((id) => id.startsWith("still")));
        const last = rows.at(-1);
        if (last === undefined) break;
        holds(page < 200, "an end of the pages", `page ${page}`);
        after = [last.at, last.id];
        if (page < 20) await stir(order === "ascending" ? page : 100 + page);
      }
      const expected = still.map(({ id }) => id).toSorted();
      same(walked.toSorted(), expected, `rows that do not move, ${order}`);
    }
  },
};
