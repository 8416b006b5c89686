import { describe, expect, it } from "vitest";
import { held } from "../../support/engines/carrier.ts";
import { isLong } from "../../support/runs.ts";
import { anna, bert, opened } from "./consumer-world.ts";
import { eventually, later, lightPlaces, type PlaceCase } from "./storages-with-table.ts";

const nothing = {
  due: 0,
  later: 0,
  running: 0,
  oldest_due_at: null,
  parked: 0,
  unread_since: null,
};

/** A consumer that has read an event, and was stopped then. */
async function openStopped(where: PlaceCase) {
  const { clock, one, receive, noted, noting } = await opened(where);
  const consumer = noting(one);
  await one.start();
  await receive(anna, "read");
  await noted("read");
  await consumer.stop();
  return { clock, one, receive, consumer, stoppedAt: clock.now() };
}

describe.each(lightPlaces)("the backlog of a consumer on $name", (where) => {
  /** What does not depend on the storage. */
  const isTried = isLong || where.name === "memory";

  it("is empty once all events are handled", async () => {
    const { clock, one, receive, noted, noting } = await opened(where);
    const consumer = noting(one);
    await expect(consumer.backlog()).rejects.toMatchObject({ code: "not_found" });
    await one.start();
    await receive(anna, "1", "2");
    await noted("1", "2");
    await eventually(clock, async () => (await consumer.backlog()).running === 0);
    expect(await consumer.backlog()).toEqual(nothing);
  });

  it("counts conversations that wait for a retry, and parked events", async () => {
    const { clock, one, receive, noted, noting } = await opened(where);
    const consumer = noting(one, (body) => body === "bad");
    await one.start();
    await receive(anna, "bad", "behind");
    await receive(bert, "bad");
    await eventually(clock, async () => (await consumer.backlog()).later === 2);
    expect(await consumer.backlog()).toEqual({ ...nothing, later: 2 });
    await later(clock, async () => (await consumer.backlog()).parked === 2);
    expect(await consumer.backlog()).toEqual({ ...nothing, parked: 2 });
    const [first] = await consumer.parked();
    await consumer.skip(first?.event_id ?? "");
    await noted("behind");
    expect(await consumer.backlog()).toEqual({ ...nothing, parked: 1 });
  });

  it("tells since when events wait unread in the log of a stopped consumer", async () => {
    const { clock, one, receive, consumer, stoppedAt } = await openStopped(where);
    await one.messages.send({ to: bert, body: "causes events of other types" });
    expect((await consumer.backlog()).unread_since).toBeNull();
    await clock.advance(5_000);
    await receive(anna, "unread");
    const [event] = (await one.events.list({ type: "message.received", limit: 1 })).data;
    await clock.advance(60_000);
    await receive(bert, "unread, later");
    expect(await consumer.backlog()).toEqual({ ...nothing, unread_since: event?.created_at });
    expect(Date.parse(event?.created_at ?? "")).toBeGreaterThanOrEqual(stoppedAt + 5_000);
  });

  it.runIf(isTried)(
    "gives an earlier time if very many events of other types come first",
    async () => {
      const { clock, one, receive, consumer, stoppedAt } = await openStopped(where);
      const texts = Array.from({ length: 500 }, (_, i) => ({ to: bert, body: `${i}` }));
      await one.messages.batch({ messages: texts });
      await clock.advance(60_000);
      await receive(anna, "unread");
      const since = Date.parse((await consumer.backlog()).unread_since ?? "");
      expect(since).toBeGreaterThanOrEqual(stoppedAt);
      expect(since).toBeLessThan(clock.now());
    },
  );

  it("counts an event that is handled now", async () => {
    const { clock, one, receive } = await opened(where);
    const handling = held<void>();
    const consumer = one.consume("slow", ["message.received"], () => handling.promise);
    await one.start();
    await receive(anna, "1");
    await eventually(clock, async () => (await consumer.backlog()).running === 1, 10);
    expect(await consumer.backlog()).toEqual({ ...nothing, running: 1 });
    handling.answer();
    await eventually(clock, async () => (await consumer.backlog()).running === 0, 10);
    expect(await consumer.backlog()).toEqual(nothing);
  });
});
