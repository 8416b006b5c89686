import { expect, test } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { seededRandom, virtualClock } from "../../../adapters/testing/index.ts";
import type { Scope } from "../../../src/kernel/ids.ts";
import { schemaOf } from "../../../src/ports/collection.ts";
import { scoped, text } from "../../../src/ports/define-collection.ts";
import { silent } from "../../../src/ports/logger.ts";
import { Store } from "../../../src/store/store.ts";
import { withGroups } from "../../support/storage/groups.ts";

const notes = scoped("notes", { id: text(), thread_id: text() });
notes.key("id");
const notesOfThread = notes.byId.index("by_thread", ["thread_id"]);
const scope: Scope = { account_id: "acct_1", mode: "live" };

async function opened(): Promise<{ store: Store; lookups: () => number }> {
  let count = 0;
  const storage = memory();
  const port = withGroups(storage, {
    read(lookups, group) {
      count += lookups.length;
      return group.read(lookups);
    },
  });
  const schema = schemaOf([notes]);
  const simulation = { clock: virtualClock(), random: seededRandom(1) };
  const store = new Store({ port, schema, ...simulation, logger: silent });
  await store.open();
  return { store, lookups: () => count };
}

test("reads under a drawn id return the command's own rows and do not read the storage", async () => {
  const { store, lookups } = await opened();
  await store.commit(scope, async (tx) => {
    const thread_id = tx.drawId("conv");
    expect(await tx.list(notesOfThread, [thread_id], 9)).toEqual([]);
    expect(await tx.get(notes.primary, [thread_id])).toBeUndefined();
    const note = tx.insert(notes, { id: "n", thread_id });
    expect(await tx.list(notesOfThread, [thread_id], 9)).toEqual([note]);
  });
  expect(lookups()).toBe(0);
});

test("a drawn id affects no reads under other keys, and no other transaction", async () => {
  const { store } = await opened();
  const drawn = await store.commit(scope, async (tx) => {
    const thread_id = tx.drawId("conv");
    tx.insert(notes, { id: "old", thread_id: "old" });
    tx.insert(notes, { id: "new", thread_id });
    return thread_id;
  });
  await store.commit(scope, async (tx) => {
    tx.drawId("conv");
    expect(await tx.list(notesOfThread, ["old"], 9)).toHaveLength(1);
    expect(await tx.list(notesOfThread, [drawn], 9)).toHaveLength(1);
  });
});
