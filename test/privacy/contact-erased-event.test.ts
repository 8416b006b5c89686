/** What an erasure tells the host application, so that it can erase its copies. */
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { events } from "../../src/events/rows.ts";
import type { Write } from "../../src/ports/storage.ts";
import { agency } from "../agents/world.ts";
import { world } from "../support/engines/world.ts";
import { beforeCommits } from "../support/storage/groups.ts";
import { lightStorages } from "../support/storage/storages.ts";
import { receivers } from "../webhooks/receivers.ts";

it.each(lightStorages)(
  "an erasure is told once for each contact that is gone, with its id alone, on $name",
  async ({ open }) => {
    const { engine, say, pass } = await agency(open().connect());
    const told: object[] = [];
    engine.consume("copies", ["contact.erased"], ({ data }) => {
      told.push(data);
    });
    const { contact_id } = await say("I am Ann.");
    const { contact_id: other } = await say("I am Ann, too.", "+15005550102");
    const { contact_id: stays } = await say("I am Ben.", "+15005550103");
    await pass();
    await engine.contacts.merge(contact_id, other);
    await pass();

    await engine.contacts.erase(contact_id, { idempotencyKey: "erase-ann" });
    await engine.contacts.erase(contact_id, { idempotencyKey: "erase-ann" });
    await pass();

    const gone = [{ contact_id }, { contact_id: other }];
    expect(told.toSorted(byText)).toEqual(gone.toSorted(byText));
    const stored = (await engine.events.list({ type: "contact.erased" })).data;
    expect(stored.map(({ data }) => data)).toEqual(gone);
    expect((await engine.contacts.get(stays)).id).toBe(stays);
  },
);

it("an erasure cancels the deliveries of the contact's events, but not that of its own", async () => {
  const { engine, clock } = world();
  const one = engine(memory(), { http: { client: receivers(clock).client } });
  const { id } = await one.webhooks.create({ url: "https://crm.example/hooks", events: ["*"] });
  const { contact_id } = await one.sandbox.inbound({ from: "+15005550101", body: "I am Ann." });
  await one.contacts.erase(contact_id);
  const { data } = await one.webhooks.deliveries(id, { limit: 100 });
  const kept = data.filter(({ status }) => status !== "canceled");
  expect(kept.map(({ event_type }) => event_type)).toEqual(["contact.erased"]);
  expect(data.length).toBeGreaterThan(1);
});

it("each transaction publishes it for at most one contact, as every webhook may get the event", async () => {
  const told: number[] = [];
  const storage = beforeCommits(memory(), (writes) => {
    told.push(writes.filter(tellsOfErasure).length);
    return Promise.resolve();
  });
  const one = world().engine(storage);
  const { id } = await one.contacts.create({ name: "Ann" });
  for (const name of ["Anna", "Anne"]) {
    const { id: other } = await one.contacts.create({ name });
    await one.contacts.merge(id, other);
  }
  await one.contacts.erase(id);
  expect(told.filter((count) => count > 0)).toEqual([1, 1, 1]);
});

const tellsOfErasure = (write: Write): boolean =>
  write.kind === "insert" && write.collection === events && write.row["type"] === "contact.erased";

const byText = (a: object, b: object): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
