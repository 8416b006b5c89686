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

test("a list under a promised key has the transaction's rows and reads nothing", async () => {
  const { store, lookups } = await opened();
  await store.commit(scope, async (tx) => {
    tx.promiseNone(notesOfThread, ["new"]);
    expect(await tx.list(notesOfThread, ["new"], 9)).toEqual([]);
    const note = tx.insert(notes, { id: "n", thread_id: "new" });
    expect(await tx.list(notesOfThread, ["new"], 9)).toEqual([note]);
  });
  expect(lookups()).toBe(0);
});

test("a promise covers one key, and ends with its transaction", async () => {
  const { store } = await opened();
  await store.commit(scope, async (tx) => {
    tx.insert(notes, { id: "old", thread_id: "old" });
    tx.insert(notes, { id: "new", thread_id: "new" });
  });
  await store.commit(scope, async (tx) => {
    tx.promiseNone(notesOfThread, ["other"]);
    expect(await tx.list(notesOfThread, ["old"], 9)).toHaveLength(1);
  });
  await store.commit(scope, async (tx) => {
    expect(await tx.list(notesOfThread, ["new"], 9)).toHaveLength(1);
  });
});
