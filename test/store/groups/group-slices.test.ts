/**
 * On memory and SQLite, the commands of a group run one after the other. After each millisecond, the
 * event loop continues, so that no caller's command waits for a long group of other commands.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { sqlite } from "../../../adapters/storage/sqlite/index.ts";
import { seededRandom, virtualClock } from "../../../adapters/testing/index.ts";
import { silent } from "../../../src/ports/logger.ts";
import type { Access, StoragePort } from "../../../src/ports/storage.ts";
import type { Origin } from "../../../src/store/groups/command-queue.ts";
import { Store } from "../../../src/store/store.ts";
import { letWork } from "../../support/engines/let-work.ts";
import { over } from "../../support/over.ts";
import { beforeCommits, withGroups } from "../../support/storage/groups.ts";
import { embeddedStorages, type Ground, type StorageCase } from "../../support/storage/storages.ts";
import { itemById, items, schema } from "../commands.ts";
import { put, tokenOf, twoProcesses } from "../two-processes.ts";

const numbered = (count: number, name: string): readonly string[] =>
  Array.from({ length: count }, (_, n) => `${name} ${n + 1}`);

/** A store whose commands take a millisecond each. */
async function opened({ open }: StorageCase, change = (port: StoragePort): StoragePort => port) {
  const port = change(open({ empty: true }).connect());
  const clock = virtualClock();
  const spend = letWork(clock);
  const groups = { commits: 0 };
  const counted = withGroups(port, {
    commit(writes, group) {
      groups.commits++;
      return group.commit(writes);
    },
  });
  const random = seededRandom(1);
  const store = new Store({ port: counted, schema, clock, random, logger: silent });
  await store.open();
  onTestFinished(() => store.close());
  /** The commands that have run, and those that are done, in this order. */
  const ran: string[] = [];
  const done: string[] = [];
  /** Gives a command. Once it has run, `onRun` is called. */
  const give = async (name: string, origin: Origin, onRun = (): void => {}): Promise<void> => {
    await store.commitUnscoped(
      async (tx) => {
        tx.insert(items, { id: name, owner: "nobody", label: null, token: "" });
        spend(1);
        ran.push(name);
        onRun();
      },
      { origin },
    );
    done.push(name);
  };
  return { clock, spend, groups, ran, done, give };
}

describe.each(embeddedStorages)("the commands of a group on $name", (storage) => {
  it.each([
    { before: 3, origin: "engine" },
    { before: 1, origin: "item" },
  ] as const)(
    "let a caller's command join them after $before of the origin $origin",
    async ({ before, origin }) => {
      const { groups, ran, give } = await opened(storage);
      const names = numbered(20, origin);
      let asked: Promise<void> | undefined;
      // The caller's command arrives while the first one runs.
      const arrive = async (): Promise<void> => {
        await setImmediate();
        asked = give("caller", "caller");
      };
      const work = names.map((name, n) =>
        give(name, origin, n === 0 ? () => void arrive() : undefined),
      );
      await work[0];
      await asked;
      expect([ran, groups.commits]).toEqual([[...names.slice(0, before), "caller"], 1]);
      await Promise.all(work);
    },
  );

  it("end the group when the callers' commands have run, though items wait", async () => {
    const { groups, ran, give } = await opened(storage);
    const work = numbered(20, "item").map((name) => give(name, "item"));
    const callers = numbered(3, "caller");
    await Promise.all(callers.map((name) => give(name, "caller")));
    expect([ran, groups.commits]).toEqual([callers, 1]);
    await Promise.all(work);
  });

  it("have half of the time if the host application keeps the event loop busy", async () => {
    const { spend, give } = await opened(storage);
    let hostRuns = 0;
    let isDone = false;
    const busy = async (): Promise<void> => {
      for (; !isDone; hostRuns++) {
        await setImmediate();
        spend(5);
      }
    };
    const host = busy();
    await Promise.all(numbered(40, "engine").map((name) => give(name, "engine")));
    isDone = true;
    await host;
    // In as much time as the commands take, the host application runs eight times. It also runs when
    // a group begins and ends.
    expect(hostRuns).toBeLessThanOrEqual(20);
  });

  it("end the group after 8 ms, though callers' commands never stop to arrive", async () => {
    const { clock, ran, done, give } = await opened(storage);
    const all: Promise<void>[] = [];
    const next = (n: number): void => {
      if (n <= 40) all.push(give(`caller ${n}`, "caller", () => next(n + 1)));
    };
    const start = clock.now();
    next(1);
    await all[0];
    expect([clock.now() - start, ran.length]).toEqual([8, 8]);
    while (all.length > done.length) await Promise.all(all);
    expect(done).toEqual(numbered(40, "caller"));
  });

  it("end the group after 8 ms, though only the engine's commands wait", async () => {
    const { ran, give } = await opened(storage);
    const work = numbered(20, "engine").map((name) => give(name, "engine"));
    await work[0];
    expect(ran).toEqual(numbered(8, "engine"));
    await Promise.all(work);
  });

  it("let the commit of the previous group end between two of them", async () => {
    const work: Promise<void>[] = [];
    const { ran, give } = await opened(storage, (port) =>
      beforeCommits(port, async () => {
        if (work.length > 0) return;
        work.push(...numbered(7, "engine").map((name) => give(name, "engine")));
        while (ran.length < 2) await setImmediate();
      }),
    );
    await give("caller", "caller");
    expect(ran.length).toBeLessThan(5);
    await Promise.all(work);
  });

  it("go on while the previous group commits, since their commit would have to wait for it", async () => {
    const work: Promise<void>[] = [];
    const { ran, give } = await opened(storage, (port) =>
      beforeCommits(port, async () => {
        if (work.length > 0) return;
        work.push(give("second caller", "caller"));
        work.push(...numbered(7, "engine").map((name) => give(name, "engine")));
        for (let turn = 0; turn < 50 && ran.length < 7; turn++) await setImmediate();
      }),
    );
    await give("caller", "caller");
    expect(ran.length).toBeGreaterThanOrEqual(7);
    await Promise.all(work);
  });
});

/**
 * Two processes with a row `a`. The commands of the first take a millisecond each and append their
 * names to the tokens of rows. When the first of them commits, the other process has changed `a`.
 */
async function overtaken(ground: Ground) {
  /** The commands that have run, in this order. */
  const ran: string[] = [];
  const groups: { readonly how: Access; readonly size: number }[] = [];
  const change = Promise.withResolvers<void>();
  const state = { meanwhile: (): void => {}, isFirst: false, waits: false };
  const { one, other, pass } = await twoProcesses(ground, (port) => {
    const slow = beforeCommits(port, async () => {
      if (!state.isFirst) return;
      state.isFirst = false;
      const runsBefore = ran.length;
      state.meanwhile();
      // The next group begins, if commands have come for it.
      for (let turn = 0; turn < 20 && ran.length === runsBefore; turn++) await setImmediate();
      await other.commitUnscoped((tx) => put(tx, "a", "other"));
      change.resolve();
    });
    return over(slow, {
      begin(how = "shared") {
        const group = slow.begin(how);
        return over(group, {
          commit(writes) {
            groups.push({ how, size: writes.length });
            return group.commit(writes);
          },
        });
      },
      async yieldToEventLoop() {
        await slow.yieldToEventLoop();
        if (!state.waits) return;
        // The commit meets its conflict between two commands of the next group.
        await change.promise;
        await slow.yieldToEventLoop();
      },
    });
  });
  await other.commitUnscoped((tx) => put(tx, "a", ""));
  state.isFirst = true;
  /**
   * Gives a command, which writes to the row `to` what the row `a` has. If it `waits`, the event
   * loop continues after its first run only when the other process has changed `a`.
   */
  const give = (
    name: string,
    origin: Origin,
    { to = name, waits = false, onRun = (): void => {} } = {},
  ): Promise<void> =>
    one.commitUnscoped(
      async (tx) => {
        const a = await tx.get(itemById, ["a"]);
        await put(tx, to, `${a?.token} ${name}`);
        pass(1);
        if (waits && !ran.includes(name)) state.waits = true;
        ran.push(name);
        onRun();
      },
      { origin },
    );
  return { one, state, groups, ran, give };
}

describe.each(embeddedStorages)("after a conflict on $name", ({ open }) => {
  it("the next group ends, and the commands of both run again in their order", async () => {
    const { one, state, ran, give } = await overtaken(open({ empty: true }));
    const work: Promise<void>[] = [];
    state.meanwhile = () => {
      work.push(give("engine 1", "engine", { waits: true }));
      for (const name of ["engine 2", "engine 3"]) work.push(give(name, "engine"));
    };
    await give("caller", "caller", { to: "a" });
    await Promise.all(work);
    const engine = numbered(3, "engine");
    expect(ran).toEqual(["caller", "engine 1", "caller", ...engine]);
    expect(await tokenOf(one, "a")).toBe("other caller");
    const tokens = await Promise.all(engine.map((name) => tokenOf(one, name)));
    expect(tokens).toEqual(engine.map((name) => `other caller ${name}`));
  });

  it("callers' commands run again in one exclusive group", async () => {
    const { groups, give } = await overtaken(open({ empty: true }));
    const names = numbered(5, "caller");
    await Promise.all([
      give("changes a", "caller", { to: "a" }),
      ...names.map((name) => give(name, "caller")),
    ]);
    expect(groups).toEqual([
      { how: "shared", size: 6 },
      { how: "exclusive", size: 6 },
    ]);
  });

  it("a command runs again in an exclusive group, though one that was given before does, too", async () => {
    const { groups, ran, give } = await overtaken(open({ empty: true }));
    const names = ["item", "caller"] as const;
    // The caller's command goes first.
    await Promise.all(names.map((name) => give(name, name, { to: "a" })));
    expect(ran).toEqual(["caller", "item", "item", "caller"]);
    expect(groups.map(({ how }) => how)).toEqual(["shared", "exclusive"]);
  });
});

it("a group on SQLite that has the file's write lock ends before the host application can write", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tidings-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "test.db");
  const { groups, give } = await overtaken({ connect: () => sqlite({ file }) });
  // A connection of the host application, in the thread of the engine.
  const host = new DatabaseSync(file);
  onTestFinished(() => host.close());
  const writes: unknown[] = [];
  const write = async (): Promise<void> => {
    await setImmediate();
    try {
      host.exec("BEGIN IMMEDIATE; COMMIT");
      writes.push("done");
    } catch (error) {
      writes.push(error);
    }
  };
  await Promise.all([
    give("engine 1", "engine", { to: "a", onRun: () => void write() }),
    ...["engine 2", "engine 3"].map((name) => give(name, "engine")),
  ]);
  await setImmediate();
  // The second group begins with the file's lock.
  expect(groups.map(({ how }) => how)).toEqual(["shared", "exclusive"]);
  expect(writes).toEqual(["done", "done"]);
});
