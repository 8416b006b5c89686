/** What a process keeps of the rows that it wrote, and what other processes do to them meanwhile. */
import type { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { TidingsError } from "../../../src/kernel/errors.ts";
import type { Store } from "../../../src/store/store.ts";
import type { UnscopedTx } from "../../../src/store/transactions/transaction.ts";
import { held } from "../../support/engines/carrier.ts";
import { beforeCommits, failingCommits } from "../../support/storage/groups.ts";
import { embeddedStorages, storages, type StorageCase } from "../../support/storage/storages.ts";
import { itemById, items } from "../commands.ts";
import { distrustMs, keep, put, recent, remove, tokenOf, twoProcesses } from "../two-processes.ts";

/** What another process does to the row that this one keeps, in one commit or several. */
const changes: Readonly<Record<string, readonly ((tx: UnscopedTx) => Promise<void>)[]>> = {
  "has written it": [(tx) => put(tx, "a", "theirs")],
  "has removed it": [(tx) => remove(tx, "a")],
  "has removed it and created it again": [(tx) => remove(tx, "a"), (tx) => put(tx, "a", "theirs")],
  "has replaced it in one commit": [
    async (tx) => {
      await remove(tx, "a");
      await put(tx, "a", "theirs");
    },
  ],
};

type Use = (tx: UnscopedTx, options: { readonly hold: true | "recent" }) => unknown;

/** What a command of this process does with the row. */
const uses: Readonly<Record<string, Use>> = {
  "writes it": async (tx, options) => {
    const row = await tx.get(itemById, ["a"], options);
    if (row === undefined) await put(tx, "a", "new");
    else tx.update(items, row, { token: `${row.token} and ours` });
  },
  "removes it": async (tx, options) => {
    const row = await tx.get(itemById, ["a"], options);
    if (row !== undefined) tx.remove(items, row);
    return row?.token;
  },
  "only reads it": async (tx, options) => (await tx.get(itemById, ["a"], options))?.token,
  "decides with it about another row": async (tx, options) => {
    const row = await tx.get(itemById, ["a"], options);
    await put(tx, "b", `saw ${row?.token}`);
  },
  "fails because of it": async (tx, options) => {
    const row = await tx.get(itemById, ["a"], options);
    if (row?.token === "kept") throw new RangeError("refused");
    return row?.token;
  },
  "fails whatever it is": async (tx, options) => {
    const row = await tx.get(itemById, ["a"], options);
    throw new RangeError(`saw ${row?.token}`);
  },
  "notes that an attempt refused it": async (tx, options) => {
    const attempt = tx.attempt(async (part) => {
      const row = await part.get(itemById, ["a"], options);
      if (row?.token === "kept") throw new RangeError("refused");
      return "accepted";
    });
    await put(tx, "b", await attempt.catch((error: unknown) => String(error)));
  },
  "returns why an attempt refused it": (tx, options) =>
    tx
      .attempt(async (part) => {
        const row = await part.get(itemById, ["a"], options);
        throw new RangeError(`saw ${row?.token}`);
      })
      .catch((error: unknown) => String(error)),
  "writes it after an undone attempt": async (tx, options) => {
    const attempt = tx.attempt(async (part) => {
      const row = await part.get(itemById, ["a"], options);
      if (row !== undefined) part.update(items, row, { token: "taken back" });
      throw new RangeError("on second thoughts");
    });
    await attempt.catch(() => {});
    const row = await tx.get(itemById, ["a"], options);
    if (row !== undefined) tx.update(items, row, { token: `${row.token} and ours` });
  },
};

const cases = Object.entries(uses).flatMap(([does, use]) =>
  Object.entries(changes).map(([has, theirs]) => ({ does, has, use, theirs })),
);

describe.each(embeddedStorages)("on $name, a row that this process wrote last", ({ open }) => {
  it("is read from no storage", async () => {
    const { one, recall } = await twoProcesses(open({ empty: true }));
    await keep(one, { a: "kept" });
    expect(await recall("a")).toEqual({ result: "kept", runs: 1, reads: 0 });
  });

  it.each(cases)(
    "is seen as it is by a command that $does, if another process $has",
    async ({ use, theirs }) => {
      const outcomeOf = async (options: typeof recent | { readonly hold: true }) => {
        const { one, other } = await twoProcesses(open({ empty: true }));
        await keep(one, { a: "kept" });
        for (const work of theirs) await other.commitUnscoped(work);
        const outcome = await one
          .commitUnscoped(async (tx) => use(tx, options))
          .catch((error: unknown) => ({ error: String(error) }));
        return { outcome, a: await tokenOf(other, "a"), b: await tokenOf(other, "b") };
      };
      expect(await outcomeOf(recent)).toEqual(await outcomeOf({ hold: true }));
    },
  );

  it("is seen as it is by each of the commands that commit together", async () => {
    const { one, other } = await twoProcesses(open({ empty: true }));
    await keep(one, { a: "kept" });
    await other.commitUnscoped((tx) => put(tx, "a", "theirs"));
    const append = (word: string) => async (tx: UnscopedTx) => {
      const row = await tx.get(itemById, ["a"], recent);
      if (row === undefined || row.token === "kept") throw new RangeError("refused");
      tx.update(items, row, { token: `${row.token} ${word}` });
    };
    await Promise.all([
      one.commitUnscoped(async (tx) => (await tx.get(itemById, ["a"], recent))?.token),
      one.commitUnscoped(append("first")),
      one.commitUnscoped(append("second")),
    ]);
    expect(await tokenOf(other, "a")).toBe("theirs first second");
  });

  it("is not taken for a row that was created again within the same millisecond", async () => {
    const { one, other, recall } = await twoProcesses(open({ empty: true }));
    await other.commitUnscoped((tx) => put(tx, "a", "first"));
    await keep(one, { a: "kept" });
    await other.commitUnscoped((tx) => remove(tx, "a"));
    await other.commitUnscoped((tx) => put(tx, "a", "created again"));
    expect((await recall("a")).result).toBe("created again");
  });

  it("is kept as this process's later commits leave it", async () => {
    const { one, recall } = await twoProcesses(open({ empty: true }));
    await keep(one, { a: "kept" });
    await one.commitUnscoped((tx) => put(tx, "a", "later"));
    expect(await recall("a")).toEqual({ result: "later", runs: 1, reads: 0 });
    await one.commitUnscoped((tx) => remove(tx, "a"));
    expect(await recall("a")).toEqual({ result: undefined, runs: 1, reads: 1 });
    await one.commitUnscoped((tx) => put(tx, "a", "again"));
    expect(await recall("a")).toEqual({ result: "again", runs: 1, reads: 0 });
  });

  it("is kept as it was if a later write of it is rolled back", async () => {
    const { one, recall, measured } = await twoProcesses(open({ empty: true }));
    await keep(one, { a: "kept" });
    await measured(async (tx) => {
      const attempt = tx.attempt(async (part) => {
        await put(part, "a", "taken back");
        throw new RangeError("on second thoughts");
      });
      await attempt.catch(() => {});
      await put(tx, "b", "beside it");
    });
    expect(await recall("a")).toEqual({ result: "kept", runs: 1, reads: 0 });
    const failed = one.commitUnscoped(async (tx) => {
      await put(tx, "a", "not written");
      throw new RangeError("refused");
    });
    await expect(failed).rejects.toThrow("refused");
    expect(await recall("a")).toEqual({ result: "kept", runs: 1, reads: 0 });
  });

  it("is kept as it was if the commit of a later write fails", async () => {
    let isDown = false;
    const { one, recall } = await twoProcesses(open({ empty: true }), (port) =>
      failingCommits(port, () => isDown),
    );
    await keep(one, { a: "kept" });
    isDown = true;
    const failed = one.commitUnscoped((tx) => put(tx, "a", "not written"));
    await expect(failed).rejects.toMatchObject({ code: "storage_unavailable" });
    isDown = false;
    expect(await recall("a")).toEqual({ result: "kept", runs: 1, reads: 0 });
  });
});

describe.each(embeddedStorages)("on $name, after a kept row was outdated", ({ open }) => {
  it("no other outdated row is tried", async () => {
    const { one, other, recall } = await twoProcesses(open({ empty: true }));
    await keep(one, { a: "kept", b: "kept" });
    await other.commitUnscoped(async (tx) => {
      await put(tx, "a", "theirs");
      await put(tx, "b", "theirs");
    });
    expect(await recall("a")).toMatchObject({ result: "theirs", runs: 2 });
    expect(await recall("b")).toEqual({ result: "theirs", runs: 1, reads: 1 });
  });

  it("the process keeps no rows for 10 s, as the other one may go on", async () => {
    const { one, other, clock, pass, recall } = await twoProcesses(open({ empty: true }));
    await keep(one, { a: "kept" });
    await other.commitUnscoped((tx) => put(tx, "a", "theirs"));
    await recall("a");
    const readsAfterWrite = async (token: string): Promise<number> => {
      await one.commitUnscoped((tx) => put(tx, "a", token));
      return (await recall("a")).reads;
    };
    expect(await readsAfterWrite("at once")).toBe(1);
    // The wall clock does not count, so it can be set back.
    clock.step(-3_600_000);
    pass(distrustMs - 1);
    expect(await readsAfterWrite("later")).toBe(1);
    pass(1);
    expect(await readsAfterWrite("after 10 s")).toBe(0);
  });
});

/** A process whose next commits wait until the test ends them. */
async function slowCommits(open: StorageCase["open"]) {
  let hold: Promise<boolean> | undefined;
  let begun = (): void => {};
  const processes = await twoProcesses(open({ empty: true }), (port) =>
    beforeCommits(port, async () => {
      begun();
      const isWritten = hold;
      hold = undefined;
      if ((await isWritten) === false) {
        throw new TidingsError("storage_unavailable", "The disk is gone.");
      }
    }),
  );
  await keep(processes.one, { a: "kept" });
  const { one } = processes;
  /** Resolves when a commit of the token is in progress, which ends when `end` is called. */
  const beginWrite = async (token: string) => {
    const { promise, answer: end } = held<boolean>();
    hold = promise;
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const written = one.commitUnscoped((tx) => put(tx, "a", token)).catch(String);
    await isBegun;
    return { written, end };
  };
  return { ...processes, beginWrite };
}

/** Appends to the row's token. Resolves when the body has run for the first time. */
async function beginAppend(store: Store) {
  const seen: (string | undefined)[] = [];
  const { promise: hasRead, answer: read } = held<void>();
  const appended = store.commitUnscoped(async (tx) => {
    const row = await tx.get(itemById, ["a"], recent);
    seen.push(row?.token);
    if (row !== undefined) tx.update(items, row, { token: `${row.token}, appended` });
    read();
  });
  await hasRead;
  return { appended, seen };
}

describe.each(embeddedStorages)("on $name, while a commit writes a kept row", ({ open }) => {
  it("the next command sees what that commit writes", async () => {
    const { one, other, recall, beginWrite } = await slowCommits(open);
    const { written, end } = await beginWrite("later");
    const { appended, seen } = await beginAppend(one);
    end(true);
    await Promise.all([written, appended]);
    expect(seen).toEqual(["later"]);
    expect(await tokenOf(other, "a")).toBe("later, appended");
    expect(await recall("a")).toEqual({ result: "later, appended", runs: 1, reads: 0 });
  });

  it("the next command runs again with the row as it was if that commit fails", async () => {
    const { one, other, recall, beginWrite } = await slowCommits(open);
    const { written, end } = await beginWrite("not written");
    const { appended, seen } = await beginAppend(one);
    end(false);
    expect(await written).toContain("The disk is gone.");
    await appended;
    expect(seen).toEqual(["not written", "kept"]);
    expect(await tokenOf(other, "a")).toBe("kept, appended");
    expect(await recall("a")).toEqual({ result: "kept, appended", runs: 1, reads: 0 });
  });

  it("the next command runs again if another process has overtaken that commit", async () => {
    const { one, other, beginWrite } = await slowCommits(open);
    const { written, end } = await beginWrite("later");
    await other.commitUnscoped((tx) => put(tx, "a", "theirs"));
    const { appended, seen } = await beginAppend(one);
    end(true);
    await Promise.all([written, appended]);
    expect(await tokenOf(other, "a")).toBe("later, appended");
    expect(seen.at(-1)).toBe("later");
  });
});

const sqlite = storages.find(({ name }) => name === "SQLite");

describe("a row that a transaction of the host application wrote", () => {
  /** A process whose host application wrote a row, and then rolled back to a savepoint. */
  async function rolledBack() {
    const { open } = sqlite ?? expect.fail("no SQLite");
    const processes = await twoProcesses(open({ empty: true }));
    const { one } = processes;
    await keep(one, { a: "kept" });
    await one.transaction(async (handle) => {
      const database = handle as DatabaseSync;
      database.exec("SAVEPOINT before");
      await one.withinUnscoped(handle, (tx) => put(tx, "a", "rolled back"));
      database.exec("ROLLBACK TO before");
    });
    return processes;
  }

  it("is seen as it is after a rollback to a savepoint", async () => {
    const { other, recall } = await rolledBack();
    expect(await tokenOf(other, "a")).toBe("kept");
    expect((await recall("a")).result).toBe("kept");
  });

  it("is not taken for the row that another process wrote after a rollback to a savepoint", async () => {
    const { one, other } = await rolledBack();
    // This version of the row has the number of the one that was rolled back.
    await other.commitUnscoped((tx) => put(tx, "a", "theirs"));
    const { appended, seen } = await beginAppend(one);
    await appended;
    expect(await tokenOf(other, "a")).toBe("theirs, appended");
    expect(seen.at(-1)).toBe("theirs");
  });

  it("is read once more after that transaction, and then kept again", async () => {
    const { open } = sqlite ?? expect.fail("no SQLite");
    const { one, recall } = await twoProcesses(open({ empty: true }));
    await keep(one, { a: "kept" });
    await one.transaction((handle) => one.withinUnscoped(handle, (tx) => put(tx, "a", "theirs")));
    expect(await recall("a")).toEqual({ result: "theirs", runs: 1, reads: 1 });
    await one.commitUnscoped((tx) => put(tx, "a", "later"));
    expect(await recall("a")).toEqual({ result: "later", runs: 1, reads: 0 });
    await one.transaction((handle) => one.withinUnscoped(handle, (tx) => remove(tx, "a")));
    expect(await recall("a")).toEqual({ result: undefined, runs: 1, reads: 1 });
  });
});
