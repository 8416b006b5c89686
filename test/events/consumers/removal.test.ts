/** Removing a consumer, also if the removal is interrupted, and the limit of consumers. */
import { describe, expect, it } from "vitest";
import type { MessagingEngine } from "../../../src/engine.ts";
import { consumerEvents, consumers, maxConsumers } from "../../../src/events/consumers/rows.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { jobs } from "../../../src/queue/jobs/rows.ts";
import { held } from "../../support/engines/carrier.ts";
import { world, type World } from "../../support/engines/world.ts";
import { beforeCommits, writesTo } from "../../support/storage/groups.ts";
import { rowsOf } from "../../support/storage/rows.ts";
import { lightStorages, storages } from "../../support/storage/storages.ts";
import { eventually } from "./storages-with-table.ts";

const anna = "+15005551001";
const texts = ["swordfish", "trout", "salmon"];

const removesEvents = writesTo(consumerEvents, "remove");

const quoting = ["message.received"] as const;

/** A consumer that has failed at the first of many events, and whose removal was interrupted. */
async function interrupted(
  { clock, engine }: World,
  storage: StoragePort,
): Promise<{ readonly contact_id: string }> {
  const one = engine(storage);
  one.consume("quoting", quoting, ({ data: { body } }) => {
    throw new Error(`cannot store ${body}`);
  });
  await one.start();
  const received = [];
  for (const body of texts) received.push(await one.sandbox.inbound({ from: anna, body }));
  await eventually(clock, async () => {
    const rows = await rowsOf(storage, consumerEvents);
    return rows.length === texts.length && rows.some(({ error }) => error !== null);
  });
  await one.stop({ deadlineMs: 0 });
  const dying = engine(
    beforeCommits(storage, async (writes) => {
      if (writes.some(removesEvents)) throw new Error("the process ends");
    }),
  );
  await expect(dying.removeConsumer("quoting")).rejects.toThrow("the process ends");
  return { contact_id: received[0]?.contact_id ?? "" };
}

const leftIn = async (storage: StoragePort): Promise<number> =>
  (await rowsOf(storage, consumerEvents)).length +
  (await rowsOf(storage, consumers)).length +
  (await rowsOf(storage, jobs)).filter(({ key }) => key.includes("quoting")).length;

describe.each(lightStorages)("an interrupted removal of a consumer on $name", ({ open }) => {
  it("is continued by a started engine", async () => {
    const storage = open().connect();
    const there = world();
    await interrupted(there, storage);
    expect(await leftIn(storage)).toBeGreaterThan(0);
    await there.started(storage);
    await eventually(there.clock, async () => (await leftIn(storage)) === 0);
  });

  it("leaves no error that an erasure does not find", async () => {
    const storage = open().connect();
    const there = world();
    const { contact_id } = await interrupted(there, storage);
    await there.engine(storage).contacts.erase(contact_id);
    expect(JSON.stringify(await rowsOf(storage, consumerEvents))).not.toContain("swordfish");
  });

  it("is completed before a consumer of the same name starts anew", async () => {
    const storage = open().connect();
    const there = world();
    await interrupted(there, storage);
    const bodies: string[] = [];
    const two = there.engine(storage);
    const note = ({ data: { body } }: { readonly data: { readonly body: string } }) =>
      void bodies.push(body);
    two.consume("quoting", quoting, note, { from: "beginning" });
    await two.start();
    await eventually(there.clock, () => bodies.length === texts.length);
    expect(bodies).toEqual(texts);
  });
});

describe.each(lightStorages)("the removal of a consumer on $name", ({ open }) => {
  it("leaves no job, also if the consumer stopped when it had just handled its last event", async () => {
    const storage = open().connect();
    const { clock, engine } = world();
    const one = engine(storage);
    const gate = held<undefined>();
    let calls = 0;
    const consumer = one.consume("quoting", quoting, async () => {
      calls++;
      await gate.promise;
    });
    await one.start();
    await one.sandbox.inbound({ from: anna, body: "swordfish" });
    await eventually(clock, () => calls === 1, 10);
    const stopping = consumer.stop();
    gate.answer(undefined);
    await stopping;
    await one.removeConsumer("quoting");
    expect(await leftIn(storage)).toBe(0);
  });
});

/** Stores consumers of the host application until there are `count`. */
async function fill(storage: StoragePort, engine: MessagingEngine, count: number): Promise<void> {
  await engine.contacts.list();
  const rows = Array.from({ length: count }, (_, i) => ({
    name: `consumer-${i}`,
    position: 0,
    moved_at: 0,
    version: 1,
  }));
  await storage
    .begin()
    .commit(rows.map((row) => ({ kind: "insert", collection: consumers, row }) as const));
}

const ignore = (): void => {};

describe.each(storages)("the limit of consumers on $name", ({ open }) => {
  it("refuses one more until another one is removed", async () => {
    const storage = open().connect();
    const { engine } = world();
    const one = engine(storage);
    await fill(storage, one, maxConsumers);
    one.consume("one-more", quoting, ignore);
    one.consume("consumer-7", quoting, ignore);
    await expect(one.start()).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("1000 consumers") as string,
    });
    await one.removeConsumer("consumer-8");
    await one.start();
    expect(await rowsOf(storage, consumers)).toHaveLength(maxConsumers);
  });

  it("holds when engines create consumers at the same time", async () => {
    const ground = open();
    const { engine } = world();
    const first = ground.connect();
    await fill(first, engine(first), maxConsumers - 1);
    const starts = ["a", "y", "z"].map(async (name) => {
      const one = engine(ground.connect());
      one.consume(name, quoting, ignore);
      await one.start();
    });
    const results = await Promise.allSettled(starts);
    expect(results.map(({ status }) => status).toSorted()).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
    ]);
    expect(await rowsOf(first, consumers)).toHaveLength(maxConsumers);
  });
});
