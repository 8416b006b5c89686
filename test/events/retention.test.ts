import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { stopped, world } from "../support/engines/world.ts";
import { lightStorages } from "../support/storage/storages.ts";

const from = "+15005550001";
/** All events, newest first. */
const logOf = async ({ events }: MessagingEngine) => (await events.list({ limit: 100 })).data;

describe.each(lightStorages)("events on $name", ({ open }) => {
  it("cannot be resumed from after the retention time, though a consumer has kept them", async () => {
    const { clock, engine } = world();
    const ground = open();
    const start = async (): Promise<MessagingEngine> => {
      const one = engine(ground.connect(), { eventRetentionDays: 1 });
      one.consume("failing", ["contact.created"], () => {
        throw new Error("not now");
      });
      await one.start();
      return one;
    };
    const one = await start();
    await one.sandbox.inbound({ from, body: "old" });
    await clock.settle();
    const kept = (await logOf(one)).find(({ type }) => type === "contact.created");
    await one.stop();
    clock.step(25 * 3_600_000);
    const two = await start();
    await clock.advance(10_000);
    // The events after it are gone.
    expect((await logOf(two)).map(({ id }) => id)).toEqual([kept?.id]);
    await expect(two.events.stream({ last_event_id: kept?.id })).rejects.toMatchObject({
      errors: [
        {
          pointer: "/last_event_id",
          code: "unknown_event",
          // The list may have no newer event from which the stream could be resumed.
          message: expect.stringContaining("Open the stream without last_event_id"),
        },
      ],
    });
  });

  it("are kept for 30 days or the configured retention time", async () => {
    const { clock, engine } = world();
    const ground = open();
    const one = engine(ground.connect(), { eventRetentionDays: 2 });
    await one.sandbox.inbound({ from, body: "old" });
    await clock.advance(24 * 3_600_000);
    const { id } = await one.sandbox.inbound({ from, body: "young" });
    await clock.advance(24 * 3_600_000 + 1);
    await one.start();
    await clock.settle();
    const log = await logOf(one);
    expect(log.map(({ data }) => ("message_id" in data ? data.message_id : ""))).toEqual([id]);
  });
});

it("events are removed though hundreds of older ones are kept, which a consumer has not handled", async () => {
  const { clock, engine } = world();
  const storage = memory();
  const start = async (): Promise<MessagingEngine> => {
    const one = engine(storage, { eventRetentionDays: 1 });
    const fail = (): never => {
      throw new Error("not now");
    };
    one.consume("failing", ["contact.created"], fail, { from: "beginning" });
    await one.start();
    return one;
  };
  const one = await start();
  const phones = Array.from({ length: 250 }, (_, i) => `+1500555${1_000 + i}`);
  for await (const _ of one.contacts.import(phones.map((phone) => ({ phone })))) continue;
  await one.sandbox.inbound({ from: phones[0] ?? "", body: "Hello" });
  await clock.advance(2_000);
  await stopped(one, clock);
  clock.step(25 * 3_600_000);
  const two = await start();
  await clock.advance(2_000);
  const { data } = await two.events.list({ limit: 100 });
  expect([...new Set(data.map(({ type }) => type))]).toEqual(["contact.created"]);
});
