/**
 * The order of commands that wait for a row which another transaction has locked. Those of one
 * process for the same row keep their order, also if the earlier one meets a conflict meanwhile.
 */
import { setImmediate } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { seededRandom, virtualClock } from "../../../adapters/testing/index.ts";
import { silent } from "../../../src/ports/logger.ts";
import { StorageConflict, type Write } from "../../../src/ports/storage.ts";
import { Store } from "../../../src/store/store.ts";
import { over } from "../../support/over.ts";
import { beforeCommits } from "../../support/storage/groups.ts";
import { itemById, items, schema } from "../commands.ts";
import { put, tokenOf } from "../two-processes.ts";

const idsOf = (writes: readonly Write[]): unknown[] =>
  writes.map((write) => ("row" in write ? write.row["id"] : undefined));

/**
 * A store with the rows `shared`, `locked` and `other`. The first commit that changes `shared` waits
 * until `release` is called, and then meets a conflict. Commits that change `locked` or `other` meet
 * its lock until `unlock` is called with its id.
 */
async function opened() {
  const storage = memory();
  const gate = Promise.withResolvers<void>();
  const locked = new Set<unknown>();
  const state = { willConflict: false };
  const conflicting = beforeCommits(storage, async (writes) => {
    const ids = idsOf(writes);
    if (ids.some((id) => locked.has(id))) {
      throw new StorageConflict("another transaction has locked it", { isLocked: true });
    }
    if (state.willConflict && ids.includes("shared")) {
      state.willConflict = false;
      await gate.promise;
      throw new StorageConflict("another process has changed it");
    }
  });
  const port = over(conflicting, { capabilities: { ...storage.capabilities, synchronous: false } });
  const clock = virtualClock();
  const store = new Store({ port, schema, clock, random: seededRandom(1), logger: silent });
  await store.open();
  onTestFinished(async () => {
    locked.clear();
    gate.resolve();
    const closed = store.close();
    await clock.advance(6_000);
    await closed;
  });
  await store.commitUnscoped(async (tx) => {
    for (const id of ["shared", "locked", "other"]) await put(tx, id, "");
  });
  state.willConflict = true;
  for (const id of ["locked", "other"]) locked.add(id);
  /** Adds a name to the tokens of rows. */
  const add = (name: string, ...ids: readonly string[]): Promise<void> =>
    store.commitUnscoped(async (tx) => {
      for (const id of ids) {
        const row = (await tx.get(itemById, [id])) ?? expect.fail(id);
        tx.update(items, row, { token: row.token + name });
      }
    });
  const unlock = (id: string): void => void locked.delete(id);
  return { store, clock, add, unlock, release: gate.resolve };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await setImmediate();
}

it.each([
  { when: "together with the earlier one", isTogether: true },
  { when: "while the earlier one commits", isTogether: false },
])("a command that waits for a lock and was given $when keeps its place", async (given) => {
  const { store, clock, add, unlock, release } = await opened();
  const blocked = add("0", "locked");
  await turns();
  const first = add("1", "shared");
  if (!given.isTogether) await turns();
  const second = add("2", "shared", "locked");
  await turns();
  unlock("locked");
  await clock.advance(200);
  release();
  await clock.advance(200);
  await Promise.all([blocked, first, second]);
  expect(await tokenOf(store, "shared")).toBe("12");
  expect(await tokenOf(store, "locked")).toBe("02");
});

it("a command for a row that is free again does not wait for one whose row stays locked", async () => {
  const { store, clock, add, unlock } = await opened();
  let isDone = false;
  const long = Promise.allSettled([add("1", "locked")]);
  const brief = add("2", "other").then(() => (isDone = true));
  await turns();
  await clock.advance(200);
  unlock("other");
  await clock.advance(500);
  expect(isDone).toBe(true);
  expect(await tokenOf(store, "other")).toBe("2");
  await clock.advance(6_000);
  expect(await long).toMatchObject([{ reason: { code: "storage_contended" } }]);
  await brief;
});
