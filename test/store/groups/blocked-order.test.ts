/**
 * Commands of one process for the same row keep their order, also if the earlier one meets a
 * conflict while the later one waits for a row that another transaction has locked.
 */
import { setImmediate } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { seededRandom, virtualClock } from "../../../adapters/testing/index.ts";
import { silent } from "../../../src/ports/logger.ts";
import { StorageConflict, type Write } from "../../../src/ports/storage.ts";
import { Store } from "../../../src/store/store.ts";
import { over } from "../../support/over.ts";
import { itemById, items, schema } from "../commands.ts";
import { put, tokenOf } from "../two-processes.ts";
import { beforeCommits } from "../../support/storage/groups.ts";

const idsOf = (writes: readonly Write[]): unknown[] =>
  writes.map((write) => ("row" in write ? write.row["id"] : undefined));

/**
 * A store with the rows `shared` and `locked`. The first commit that changes `shared` waits until
 * `release` is called, and then meets a conflict. Commits that change `locked` meet its lock until
 * `unlock` is called.
 */
async function opened() {
  const storage = memory();
  const gate = Promise.withResolvers<void>();
  const state = { isLocked: false, willConflict: false };
  const conflicting = beforeCommits(storage, async (writes) => {
    const ids = idsOf(writes);
    if (state.isLocked && ids.includes("locked")) {
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
  onTestFinished(() => store.close());
  await store.commitUnscoped(async (tx) => {
    for (const id of ["shared", "locked"]) await put(tx, id, "");
  });
  Object.assign(state, { isLocked: true, willConflict: true });
  /** Adds a name to the tokens of rows. */
  const add = (name: string, ...ids: readonly string[]): Promise<void> =>
    store.commitUnscoped(async (tx) => {
      for (const id of ids) {
        const row = (await tx.get(itemById, [id])) ?? expect.fail(id);
        tx.update(items, row, { token: row.token + name });
      }
    });
  const unlock = (): void => void (state.isLocked = false);
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
  unlock();
  await clock.advance(200);
  release();
  await clock.advance(200);
  await Promise.all([blocked, first, second]);
  expect(await tokenOf(store, "shared")).toBe("12");
  expect(await tokenOf(store, "locked")).toBe("02");
});
