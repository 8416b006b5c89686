import { expect, expectTypeOf, test } from "vitest";
import { eventTypes } from "../../adapters/entry.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { seededRandom, virtualClock } from "../../adapters/testing/index.ts";
import { completedEventId, handoffEventId } from "../../src/events/rows.ts";
import type { EventType } from "../../src/events/types.ts";
import { idSource, isId, ulidOf } from "../../src/kernel/ids.ts";
import type { Event } from "../../src/webhooks/event-catalog.ts";
import { world } from "../support/engines/world.ts";

test("events that were asked for by their type have the data of that type", async () => {
  const one = world().engine(memory());
  const types = ["contact.created", "contact.updated"] as const;
  const stream = (await one.events.stream({ types }))[Symbol.asyncIterator]();
  const { id } = await one.contacts.create({ name: "Ann" });
  const streamed = await stream.next();
  await stream.return?.();
  const listed = await one.events.list({ type: "contact.created" });
  expectTypeOf(listed.data).toEqualTypeOf<Event<"contact.created">[]>();
  if (streamed.done === true) throw new Error("the stream ended");
  expectTypeOf(streamed.value).toEqualTypeOf<Event<(typeof types)[number]>>();
  for (const { data } of [streamed.value, ...listed.data]) expect(data.contact.id).toBe(id);

  const simulated = await one.sandbox.event({ type: "contact.created" });
  expectTypeOf(simulated).toEqualTypeOf<Event<"contact.created">>();
  expect(simulated.data.contact.name).toBeTypeOf("string");

  // Without types, or with those of a variable, any event may come.
  const query: { types?: readonly EventType[] } = {};
  expectTypeOf(one.events.stream(query)).resolves.toEqualTypeOf<AsyncIterable<Event>>();
  expectTypeOf(one.events.list()).resolves.toHaveProperty("data").toEqualTypeOf<Event[]>();
});

test("one handler can be called with every event", async () => {
  const one = world().engine(memory());
  const seen: EventType[] = [];
  for (const type of eventTypes) one.on(type, (event) => void seen.push(event.type));
  await one.messages.send({ to: "+15005550001", body: "Hello" });
  await one.contacts.create({ name: "Ann" });
  expect(seen).toEqual(["contact.created", "conversation.created", "contact.created"]);
});

test("the event of a hand-off has the id of an event, with the time of its run and other bits", () => {
  const draw = idSource(virtualClock(), seededRandom(1));
  const runs = Array.from({ length: 100 }, () => draw("run"));
  const ids = runs.map(handoffEventId);
  expect(ids.filter((id) => !isId("evt", id))).toEqual([]);
  expect(new Set([...ids, ...runs.map(completedEventId)]).size).toBe(200);
  expect(ids.map((id) => ulidOf(id).slice(0, 10))).toEqual(
    runs.map((id) => ulidOf(id).slice(0, 10)),
  );
});
