/** Commands that meet conflicts while they run, not at their commit. */
import { describe, expect, it, onTestFinished } from "vitest";
import { simulated } from "../../../adapters/testing/index.ts";
import { silent } from "../../../src/ports/logger.ts";
import { StorageConflict } from "../../../src/ports/storage.ts";
import { Store } from "../../../src/store/store.ts";
import { over } from "../../support/over.ts";
import { storages } from "../../support/storage/storages.ts";
import { itemById, items, schema } from "../commands.ts";

describe.each(storages)("a command that meets a conflict while it runs, on $name", ({ open }) => {
  const opened = async (): Promise<Store> => {
    const port = open({ empty: true }).connect();
    const store = new Store({ port, schema, ...simulated(), logger: silent });
    await store.open();
    onTestFinished(() => store.close());
    return store;
  };

  it("fails after 8 runs, and the commands beside it commit", async () => {
    const store = await opened();
    const runs = { before: 0, contended: 0, after: 0 };
    const insert = (id: "before" | "after"): Promise<void> =>
      store.commitUnscoped(async (tx) => {
        runs[id]++;
        tx.insert(items, { id, owner: "own", label: null, token: id });
      });
    const contended = (): Promise<void> =>
      store.commitUnscoped(async (tx) => {
        runs.contended++;
        await tx.get(itemById, ["absent"]);
        throw new StorageConflict("the rows are from different moments");
      });
    const results = await Promise.allSettled([insert("before"), contended(), insert("after")]);
    expect(results).toMatchObject([
      { status: "fulfilled" },
      { status: "rejected", reason: { code: "storage_contended" } },
      { status: "fulfilled" },
    ]);
    expect(runs.contended).toBe(8);
    // Together with it, then in an exclusive group with it, then alone.
    expect(Math.max(runs.before, runs.after)).toBe(3);
    const stored = await store.unscopedReads.getAll(itemById, [["before"], ["after"]]);
    expect(stored.map((row) => row?.id)).toEqual(["before", "after"]);
  });

  it("commits when a later run meets none", async () => {
    const store = await opened();
    let runs = 0;
    await store.commitUnscoped(async (tx) => {
      if (++runs < 8) throw new StorageConflict("the rows are from different moments");
      tx.insert(items, { id: "a", owner: "own", label: null, token: "a" });
    });
    expect(runs).toBe(8);
  });
});

it.each(storages)(
  "a command reads what an earlier one writes that commits together with it, on $name",
  async ({ open }) => {
    const port = open({ empty: true }).connect();
    const store = new Store({ port, schema, ...simulated(), logger: silent });
    await store.open();
    onTestFinished(() => store.close());
    const own = { owner: "own", label: null };
    await store.commitUnscoped(async (tx) => {
      tx.insert(items, { ...own, id: "read", token: "old" });
    });
    const [, found] = await Promise.all([
      store.commitUnscoped(async (tx) => {
        const item = (await tx.get(itemById, ["read"])) ?? expect.fail("no item");
        tx.update(items, item, { token: "new" });
      }),
      store.commitUnscoped(async (tx) => {
        const item = await tx.get(itemById, ["read"]);
        tx.insert(items, { ...own, id: "copy", token: item?.token ?? "" });
        return item?.token;
      }),
    ]);
    const copy = await store.unscopedReads.get(itemById, ["copy"]);
    expect([found, copy?.token]).toEqual(["new", "new"]);
  },
);

it("commands that commit together have the same time on PostgreSQL, also if one runs again", async () => {
  const { open } =
    storages.find(({ name }) => name === "PostgreSQL") ?? expect.fail("no PostgreSQL");
  const port = open({ empty: true }).connect();
  const { clock, random } = simulated();
  let now = clock.now();
  const began = now;
  const ticking = over(clock, { now: () => now });
  const store = new Store({ port, schema, clock: ticking, random, logger: silent });
  await store.open();
  onTestFinished(() => store.close());
  const times: { readonly first: number[]; readonly second: number[] } = { first: [], second: [] };
  const put = (token: "first" | "second"): Promise<void> =>
    store.commitUnscoped(async (tx) => {
      times[token].push(tx.now - began);
      now += 1_000;
      const item = await tx.get(itemById, ["a"]);
      if (item === undefined) tx.insert(items, { id: "a", owner: "own", label: null, token });
      else tx.update(items, item, { token });
    });
  await Promise.all([put("first"), put("second")]);
  expect(times).toEqual({ first: [0], second: [0, 0] });
});
