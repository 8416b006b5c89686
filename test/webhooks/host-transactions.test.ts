import { expect, it } from "vitest";
import { storages } from "../support/storage/storages.ts";
import { webhookWorld } from "./world.ts";

const soonMs = 6_000;

it("an open host transaction blocks no other deliveries, and its own are sent in commit order", async () => {
  const open = storages.find(({ name }) => name === "PostgreSQL")?.open;
  if (open === undefined) throw new Error("no PostgreSQL");
  const world = await webhookWorld(open());
  const { clock, receivers, desk } = world;
  const [any, ordered] = [
    await world.hook("any"),
    await world.hook("ordered", undefined, { ordering: "fifo" }),
  ];
  // It is enabled later, when only the commit order decides.
  const kept = await world.hook("kept", undefined, { ordering: "fifo" });
  await desk.webhooks.update(kept.id, { status: "paused" });
  const engine = await world.start();
  const seenBy = (url: string): string[] =>
    receivers.seen.filter((each) => each.url === url).map(({ id }) => id);

  const [written, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const own: string[] = [];
  const transaction = engine.transaction(async (tx) => {
    for (let i = 0; i < 3; i++) {
      own.push((await engine.sandbox.event({ type: "message.received" }, { tx })).id);
    }
    written.resolve();
    await finished.promise;
  });
  await written.promise;
  await clock.advance(1_000);
  const meanwhile = await world.tell(3);
  await clock.advance(soonMs);
  expect(seenBy(any.url).toSorted()).toEqual(meanwhile.toSorted());
  expect(seenBy(ordered.url)).toEqual(meanwhile);
  // Webhooks with uncommitted deliveries can be changed meanwhile.
  await desk.webhooks.update(ordered.id, { description: "ours" });
  finished.resolve();
  await transaction;
  await clock.advance(soonMs);
  const after = await world.tell(1);
  await clock.advance(soonMs);
  expect(seenBy(any.url).toSorted()).toEqual([...meanwhile, ...own, ...after].toSorted());
  expect(seenBy(ordered.url)).toEqual([...meanwhile, ...own, ...after]);

  await desk.webhooks.update(kept.id, { status: "enabled" });
  await clock.advance(soonMs);
  expect(seenBy(kept.url)).toEqual([...meanwhile, ...own, ...after]);

  // A rolled-back event is never sent.
  const failing = engine.transaction(async (tx) => {
    await engine.sandbox.event({ type: "message.received" }, { tx });
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  await clock.advance(soonMs);
  expect(receivers.seen).toHaveLength(21);
});
