import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { contacts } from "../../src/contacts/rows.ts";
import type { Index } from "../../src/ports/collection.ts";
import { readingByIndex } from "../support/storage/reading-by-index.ts";
import { world } from "../support/engines/world.ts";

it("a message to a contact that another process merges meanwhile goes to the survivor", async () => {
  const { engine } = world();
  const storage = memory();
  const other = engine(storage);
  const merged = await other.contacts.create({ phone: "+15005550001" });
  const survivor = await other.contacts.create({ phone: "+15005550002" });
  const third = await other.contacts.create({ phone: "+15005550003" });
  let isMerged = false;
  const mergeOnce = async ({ collection }: Index): Promise<void> => {
    if (isMerged || collection !== contacts) return;
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
