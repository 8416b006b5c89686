import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { Lookup, Row, StoragePort } from "../../src/ports/storage.ts";
import { over } from "../support/over.ts";
import { world } from "../support/world.ts";

/**
 * The storage as one that reads each index of a batch in a statement of its own, as PostgreSQL does.
 * Calls `after` when it has read contacts.
 */
function readingByIndex(storage: StoragePort, after: () => Promise<void>): StoragePort {
  return over(storage, {
    capabilities: { ...storage.capabilities, synchronous: false },
    begin(how) {
      return over(storage.begin(how), {
        async read(lookups: readonly Lookup[]) {
          const found = new Map<Lookup, readonly Row[]>();
          for (const index of new Set(lookups.map((lookup) => lookup.index))) {
            const statement = storage.begin("shared");
            const own = lookups.filter((lookup) => lookup.index === index);
            const rows = await statement.read(own);
            await statement.abort();
            own.forEach((lookup, i) => found.set(lookup, rows[i] ?? []));
            if (index.collection.name === "contacts") await after();
          }
          return lookups.map((lookup) => found.get(lookup) ?? []);
        },
      });
    },
  });
}

it("a message to a contact that another process merges meanwhile goes to the survivor", async () => {
  const { engine } = world();
  const storage = memory();
  const other = engine(storage);
  const merged = await other.contacts.create({ phone: "+15005550001" });
  const survivor = await other.contacts.create({ phone: "+15005550002" });
  const third = await other.contacts.create({ phone: "+15005550003" });
  let isMerged = false;
  const mergeOnce = async (): Promise<void> => {
    if (isMerged) return;
    isMerged = true;
    await other.contacts.merge(survivor.id, merged.id);
  };
  const one = engine(readingByIndex(storage, mergeOnce));
  // They share a group, so the contacts may be read before the addresses.
  const [, sent] = await Promise.all([
    one.contacts.update(third.id, { name: "Third" }),
    one.messages.send({ to: merged.id, body: "Hello" }, { idempotencyKey: "k" }),
  ]);
  expect(isMerged).toBe(true);
  expect(sent.contact_id).toBe(survivor.id);
});
