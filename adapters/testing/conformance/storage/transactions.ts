import type { Store, UnscopedTx } from "../../../../src/store/index.ts";
import { failsWith, failure, holds, same } from "../checks.ts";
import {
  entries,
  entry,
  entryById,
  item,
  itemById,
  itemByLabel,
  items,
  itemsByTime,
  openItems,
  sumByDay,
  sums,
  type Item,
} from "./collections.ts";
import type { StorageChecks } from "./fixture.ts";

const idsUnder = async (store: Store): Promise<unknown[]> => {
  const rows = await store.unscopedReads.range({
    index: itemsByTime,
    prefix: ["anna"],
    order: "ascending",
    limit: 100,
  });
  return rows.map(({ id }) => id);
};

const need = async (tx: UnscopedTx, id: string): Promise<Item & { readonly version: number }> => {
  const row = await tx.get(itemById, [id]);
  if (row === undefined) throw new Error(`no ${id}`);
  return row;
};

/** How often a storage may yield until other work of the process has run. */
const maxYields = 10;

/** Commands in the engine's transactions: what each reads, and what is committed. */
export const transactionChecks: StorageChecks = {
  "a row can take a unique key that another row frees in the same command, in any order": async (
    ports,
  ) => {
    const store = await ports.store();
    await store.commitUnscoped(async (tx) => {
      tx.insert(items, item("a", { label: "one" }));
      tx.insert(items, item("b"));
      tx.insert(items, item("c", { label: "two" }));
    });
    await store.commitUnscoped(async (tx) => {
      const [a, b, c] = [await need(tx, "a"), await need(tx, "b"), await need(tx, "c")];
      const touched = tx.update(items, b, { rank: 1 });
      const moved = tx.update(items, a, { label: "three" });
      tx.update(items, c, { label: "one" });
      tx.update(items, touched, { label: "two" });
      tx.update(items, moved, { rank: 2 });
    });
    const rows = await store.unscopedReads.getAll(itemById, [["a"], ["b"], ["c"]]);
    same(
      rows.map(({ label }) => label),
      ["three", "two", "one"],
      "the labels",
    );
  },

  "all writes of a command are committed when it resolves": async (ports) => {
    const store = await ports.store();
    const answered = await store.commitUnscoped(async (tx) => {
      const seen = tx.insert(items, item("a"));
      tx.update(items, seen, { state: "closed" });
      tx.insert(entries, entry("e"));
      tx.add(sums, { day: "mon", kind: "x", count: 1, cost: 2 });
      tx.add(sums, { day: "mon", kind: "x", count: 1, cost: 0 });
      return "done";
    });
    same(answered, "done", "the answer");
    const row = await store.unscopedReads.get(itemById, ["a"]);
    same(row, { ...item("a", { state: "closed" }), version: row?.version }, "the row");
    same((await store.unscopedReads.get(entryById, ["e"]))?.topic, "news", "the log's row");
    const sum = await store.unscopedReads.get(sumByDay, ["mon", "x"]);
    same([sum?.count, sum?.cost], [2, 2], "the counter");
  },

  "a command that throws writes nothing and rejects with its error": async (ports) => {
    const store = await ports.store();
    const failed = store.commitUnscoped(async (tx) => {
      tx.insert(items, item("a"));
      tx.add(sums, { day: "mon", kind: "x", count: 1, cost: 0 });
      await tx.get(itemById, ["a"]);
      throw new RangeError("no");
    });
    const others = store.commitUnscoped(async (tx) => tx.insert(items, item("b")));
    same((await failure(() => failed, "the command")).message, "no", "the error");
    await others;
    same(await idsUnder(store), ["b"], "rows");
    same(await store.unscopedReads.get(sumByDay, ["mon", "x"]), undefined, "the counter");
  },

  "writes are not visible to others before the commit": async (ports) => {
    const reached = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const store = await ports.store(async () => {
      reached.resolve();
      await go.promise;
    });
    let answered = false;
    const command = store
      .commitUnscoped(async (tx) => void tx.insert(items, item("a")))
      .then(() => (answered = true));
    await reached.promise;
    same(await idsUnder(store), [], "rows before the commit");
    holds(!answered, "a command that resolves after its commit", "one that resolved before it");
    go.resolve();
    await command;
    same(await idsUnder(store), ["a"], "rows after it");
  },

  "commands that commit together see their own writes and those of earlier ones": async (ports) => {
    const store = await ports.store();
    await store.commitUnscoped(async (tx) => {
      for (const [at, id] of ["a", "b", "c", "d"].entries()) {
        tx.insert(items, item(id, { at: at * 10 }));
      }
    });
    const [, listed] = await Promise.all([
      store.commitUnscoped(async (tx) => {
        tx.remove(items, await need(tx, "a"));
        tx.update(items, await need(tx, "b"), { at: 35 });
        tx.insert(items, item("e", { at: 25, label: "taken" }));
        tx.update(items, await need(tx, "d"), { state: "closed" });
      }),
      store.commitUnscoped(async (tx) => {
        tx.insert(items, item("f", { at: 1 }));
        const all = await tx.list(itemsByTime, ["anna"], 10);
        const first = await tx.list(itemsByTime, ["anna"], 2);
        const open = await tx.list(openItems, ["anna"], 10);
        const labelled = await tx.get(itemByLabel, ["anna", "taken"]);
        const gone = await tx.get(itemById, ["a"]);
        const lists = [all, first, open].map((rows) => rows.map(({ id }) => id).join(""));
        return [...lists, labelled?.id, gone?.id ?? "gone"];
      }),
    ]);
    same(listed, ["fcedb", "fc", "fceb", "e", "gone"], "lists");
  },

  "a failed attempt discards its own writes and no others": async (ports) => {
    const store = await ports.store();
    await store.commitUnscoped(async (tx) => {
      tx.insert(items, item("a"));
      await tx
        .attempt(async (inner) => {
          inner.insert(items, item("b"));
          inner.update(items, await need(inner, "a"), { state: "closed" });
          throw new RangeError("no");
        })
        .catch((error: unknown) =>
          holds(error instanceof RangeError, "the RangeError of the attempt", error),
        );
      await tx.attempt(async (inner) => void inner.insert(items, item("c")));
    });
    same(await idsUnder(store), ["a", "c"], "rows");
    same(
      (await store.unscopedReads.get(itemById, ["a"]))?.state,
      "open",
      "the row that the attempt changed",
    );
  },

  "a command rejects only after the commit of what it read": async (ports) => {
    const reached = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const store = await ports.store(async () => {
      reached.resolve();
      await go.promise;
    });
    const first = store.commitUnscoped(async (tx) => void tx.insert(items, item("a")));
    let rejected = false;
    const second = store
      .commitUnscoped(async (tx) => {
        if ((await tx.get(itemById, ["a"])) !== undefined) throw new RangeError("it is there");
      })
      .catch((error: unknown) => {
        rejected = error instanceof RangeError;
      });
    await reached.promise;
    for (let i = 0; i < 10; i++) await Promise.resolve();
    holds(!rejected, "no rejection before the commit of what the command read", "one");
    go.resolve();
    await Promise.all([first, second]);
    holds(rejected, "a rejection of the command", "none");
  },

  "a rejecting command runs again when the commit of what it read fails": async (ports) => {
    const rival = await ports.store();
    await rival.commitUnscoped(async (tx) => void tx.insert(items, item("a")));
    let meddle = true;
    const store = await ports.store(async () => {
      if (!meddle) return;
      meddle = false;
      await rival.commitUnscoped(
        async (tx) => void tx.update(items, await need(tx, "a"), { state: "closed" }),
      );
    });
    const first = store.commitUnscoped(async (tx) => {
      const row = await need(tx, "a");
      if (row.state === "open") tx.update(items, row, { label: "only while open" });
    });
    const second = store.commitUnscoped(async (tx) => {
      const row = await need(tx, "a");
      if (row.label !== null) throw new RangeError("labelled");
      return row.state;
    });
    const [, state] = await Promise.all([first, second]);
    same(state, "closed", "what the second command saw at last");
  },

  "a command that awaits something other than its transaction fails, and others continue": async (
    ports,
  ) => {
    const store = await ports.store();
    const never = new Promise<void>(() => {});
    const refused = store.commitUnscoped(async (tx) => {
      tx.insert(items, item("a"));
      await never;
    });
    const good = store.commitUnscoped(async (tx) => void tx.insert(items, item("b")));
    const { message } = await failure(() => refused, "the command that waits");
    holds(
      /await/.test(message) && /transaction/.test(message),
      "an error that says what may be awaited",
      message,
    );
    await good;
    await store.commitUnscoped(async (tx) => void tx.insert(items, item("c")));
    same(await idsUnder(store), ["b", "c"], "rows");
  },

  "a transaction cannot be used after its command has returned": async (ports) => {
    const store = await ports.store();
    let leaked: UnscopedTx | undefined;
    await store.commitUnscoped(async (tx) => {
      leaked = tx;
    });
    await failure(() => leaked?.get(itemById, ["a"]), "a read after the end");
    await failure(() => leaked?.insert(items, item("a")), "a write after the end");
    same(await idsUnder(store), [], "rows");
  },

  "a write that the storage refuses permanently fails only its own command": async (ports) => {
    const store = await ports.store();
    const commands = Array.from({ length: 9 }, (_, i) =>
      store.commitUnscoped(async (tx) => {
        tx.insert(items, item(`i${i}`, i === 4 ? { owner: "half a \ud83d" } : {}));
      }),
    );
    const settled = await Promise.allSettled(commands);
    const refused = settled.flatMap(({ status }, i) => (status === "rejected" ? [i] : []));
    same(refused, [4], "commands that were refused");
    same(await idsUnder(store), ["i0", "i1", "i2", "i3", "i5", "i6", "i7", "i8"], "rows");
  },

  "yielding to the event loop lets timers and sockets go on": async (ports) => {
    const port = await ports.port();
    let hasRun = false;
    setImmediate(() => (hasRun = true));
    for (let i = 0; i < maxYields && !hasRun; i++) await port.yieldToEventLoop();
    holds(hasRun, `other work of the process within ${maxYields} yields`, "none");
  },

  "a listener is called for each commit, and its errors do not affect commands": async (ports) => {
    const store = await ports.store();
    const heard: number[] = [];
    store.onCommit(() => {
      throw new Error("a listener's own");
    });
    const stop = store.onCommit((writes) => void heard.push(writes.length));
    await store.commitUnscoped(async (tx) => void tx.insert(items, item("a")));
    stop();
    await store.commitUnscoped(async (tx) => void tx.insert(items, item("b")));
    same(heard, [1], "what was heard");
  },

  "close settles waiting commands and refuses new ones": async (ports) => {
    const store = await ports.store();
    const insert = (i: number): Promise<void> =>
      store.commitUnscoped(async (tx) => void tx.insert(items, item(`i${i}`)));
    const waiting = Array.from({ length: 200 }, (_, i) => insert(i));
    const closed = store.close();
    await failsWith(
      "shutting_down",
      () => store.commitUnscoped(async () => {}),
      "a command after closing",
    );
    await Promise.all(waiting);
    await closed;
    await store.close();
    const again = await ports.store();
    const rows = await again.unscopedReads.range({
      index: itemsByTime,
      prefix: ["anna"],
      order: "ascending",
      limit: 500,
    });
    same(rows.length, 200, "rows after closing");
  },
};
