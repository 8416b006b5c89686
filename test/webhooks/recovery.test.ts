/** A recovery schedules failed deliveries again, in several transactions. */
import { describe, expect, it } from "vitest";
import type { MessagingEngine } from "../../src/engine.ts";
import type { CreateWebhook } from "../../src/webhooks/input-types.ts";
import { deliveries, deliveriesOfWebhook } from "../../src/webhooks/rows.ts";
import { over } from "../support/over.ts";
import { cases } from "../support/runs.ts";
import { mortal } from "../support/storage/groups.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { lightStorages } from "../support/storage/storages.ts";
import { changeDeliveries, failed, loseJobs, partsOf } from "./rows.ts";
import { openedOn } from "./world.ts";

const hook: CreateWebhook = { url: "https://hooks.example.com/in", events: ["*"] };

const fire = (engine: MessagingEngine, count: number) =>
  Promise.all(Array.from({ length: count }, () => engine.sandbox.event({ type: "message.sent" })));

describe.each(lightStorages)("a recovery on $name", ({ name, open }) => {
  /** More than one transaction recovers, except on slow storages. */
  const many = { memory: 220, SQLite: 220, PostgreSQL: 30 }[name];

  function opened() {
    const there = openedOn(open());
    return { ...there, at: (): string => new Date(there.clock.now()).toISOString() };
  }

  it("redelivers each delivery that failed since a time once", async () => {
    const { clock, engine, storage, there, http, at } = opened();
    const one = engine(storage, { http });
    const { id } = await one.webhooks.create(hook);
    const fired = async (count: number): Promise<string[]> => {
      const events = await fire(one, count);
      await clock.advance(10);
      return events.map((event) => event.id).toSorted();
    };
    await fired(3);
    const since = at();
    const failing = await fired(many);
    const [succeeded = "", exhausted = "", erased = ""] = await fired(3);
    const rows = await rowsOf(storage, deliveries);
    const of = (event: string): string => rows.find(({ event_id }) => event_id === event)?.id ?? "";
    await changeDeliveries(
      storage,
      rows.map((row) => row.id),
      failed,
    );
    await changeDeliveries(storage, [of(succeeded)], { status: "succeeded", attempts: 1 });
    await changeDeliveries(storage, [of(exhausted)], { attempts: 100 });
    await changeDeliveries(storage, [of(erased)], { body: null });
    there.at(hook.url, () => ({ status: 500 }));
    await one.start();
    await one.webhooks.recover(id, { since });
    await one.webhooks.recover(id, { since });
    await clock.advance(20_000);
    const came = (): string[] => there.seen.map((each) => each.id).toSorted();
    expect(came()).toEqual(failing);
    expect((await partsOf(storage, id)).jobs).toEqual([]);
    there.at(hook.url, () => ({}));
    there.seen.splice(0);
    await one.webhooks.recover(id, { since });
    await clock.advance(20_000);
    expect(came()).toEqual(failing);
    there.seen.splice(0);
    await one.webhooks.recover(id, { since });
    await clock.advance(20_000);
    expect(came()).toEqual([]);
  });

  it("redelivers each delivery once if it is requested again while it runs", async () => {
    const { clock, engine, storage, there, http, at } = opened();
    let pages = 0;
    const reader = over(storage.reader, {
      async range(range) {
        const rows = await storage.reader.range(range);
        if (range.index === deliveriesOfWebhook && ++pages === 2) await clock.sleep(5_000);
        return rows;
      },
    });
    const one = engine(over(storage, { reader }), { http });
    there.at(hook.url, () => ({ status: 500 }));
    const since = at();
    const { id } = await one.webhooks.create(hook);
    await fire(one, many);
    const ids = (await rowsOf(storage, deliveries)).map((row) => row.id);
    await changeDeliveries(storage, ids, failed);
    await one.webhooks.recover(id, { since });
    await one.start();
    await clock.advance(4_000);
    expect(there.seen.length).toBeGreaterThan(0);
    await one.webhooks.recover(id, { since });
    await clock.advance(30_000);
    expect(there.seen).toHaveLength(many);
  });

  it("redelivers what failed before it was requested again, also if it was about to end", async () => {
    const { clock, engine, started, storage, there, http, at } = opened();
    let isAsked = false;
    const reader = over(storage.reader, {
      async range(range) {
        const rows = await storage.reader.range(range);
        if (range.index !== deliveriesOfWebhook || rows.length > 0 || isAsked) return rows;
        isAsked = true;
        await changeDeliveries(storage, [last], failed);
        await desk.webhooks.recover(id, { since });
        return rows;
      },
    });
    const desk = engine(storage, { http });
    const since = at();
    const { id } = await desk.webhooks.create(hook);
    for (let i = 0; i < 3; i++) await desk.sandbox.event({ type: "message.sent" });
    const [first = "", , last = ""] = (await rowsOf(storage, deliveries)).map((row) => row.id);
    await desk.webhooks.update(id, { status: "paused" });
    await changeDeliveries(storage, [first], failed);
    await desk.webhooks.recover(id, { since });
    there.at(hook.url, () => ({ status: 500 }));
    await started(over(storage, { reader }), { http });
    await clock.advance(20_000);
    expect(isAsked).toBe(true);
    const attempts = (await rowsOf(storage, deliveries)).map((row) => row.attempts);
    expect(attempts).toEqual([6, 0, 6]);
    expect((await partsOf(storage, id)).jobs).not.toContain("recover");
  });

  it("starts again from an earlier time that is asked for while it reads", async () => {
    const { clock, engine, started, storage, there, http, at } = opened();
    let isAsked = false;
    const reader = over(storage.reader, {
      async range(range) {
        const rows = await storage.reader.range(range);
        if (range.index !== deliveriesOfWebhook || isAsked) return rows;
        isAsked = true;
        await desk.webhooks.recover(id, { since: early });
        return rows;
      },
    });
    const desk = engine(storage, { http });
    const early = at();
    const { id } = await desk.webhooks.create(hook);
    await desk.sandbox.event({ type: "message.sent" });
    await clock.advance(10);
    const since = at();
    await desk.sandbox.event({ type: "message.sent" });
    const ids = (await rowsOf(storage, deliveries)).map((row) => row.id);
    await changeDeliveries(storage, ids, failed);
    await desk.webhooks.recover(id, { since });
    there.at(hook.url, () => ({}));
    await started(over(storage, { reader }), { http });
    await clock.advance(20_000);
    expect(isAsked).toBe(true);
    expect((await rowsOf(storage, deliveries)).map(({ status }) => status)).toEqual([
      "succeeded",
      "succeeded",
    ]);
    expect(there.seen).toHaveLength(2);
  });

  it("continues when it is requested again after its job was lost", async () => {
    const { clock, engine, storage, there, http, at } = opened();
    const one = engine(storage, { http });
    const since = at();
    const { id } = await one.webhooks.create(hook);
    await one.sandbox.event({ type: "message.sent" });
    const ids = (await rowsOf(storage, deliveries)).map((row) => row.id);
    await changeDeliveries(storage, ids, failed);
    await one.webhooks.recover(id, { since });
    await loseJobs(storage, id);
    there.at(hook.url, () => ({}));
    await one.start();
    await one.webhooks.recover(id, { since });
    await clock.advance(20_000);
    expect(there.seen).toHaveLength(1);
  });

  it.each(cases(["none", "fifo"] as const, (order) => order === "none"))(
    "holds up no new event with the order %s",
    async (ordering) => {
      const { clock, engine, storage, there, http, at } = opened();
      const one = engine(storage, { http });
      const since = at();
      const { id } = await one.webhooks.create({ ...hook, ordering });
      await fire(one, many);
      const ids = (await rowsOf(storage, deliveries)).map((row) => row.id);
      await changeDeliveries(storage, ids, failed);
      there.at(hook.url, () => ({ after: 2_000 }));
      await one.start();
      await one.webhooks.recover(id, { since });
      await clock.advance(5_000);
      const event = await one.sandbox.event({ type: "message.sent" });
      await clock.advance(5_000);
      expect(there.seen.map((each) => each.id)).toContain(event.id);
      expect(there.seen.length).toBeLessThan(many);
      await clock.advance(2 * many * 2_000);
      expect(there.seen).toHaveLength(many + 1);
    },
  );

  it("redelivers each delivery once if a process dies during it", async () => {
    const { clock, engine, started, ground, storage, there, http, at } = opened();
    there.at(hook.url, () => ({ status: 500 }));
    const { storage: own, dieAfter } = mortal(storage);
    const dying = engine(own, { http });
    const since = at();
    const { id } = await dying.webhooks.create(hook);
    await Promise.all(
      Array.from({ length: many }, () => dying.sandbox.event({ type: "message.sent" })),
    );
    const ids = (await rowsOf(storage, deliveries)).map((row) => row.id);
    await changeDeliveries(storage, ids, failed);
    await dying.webhooks.recover(id, { since });
    await dying.start();
    dieAfter(6);
    await clock.advance(2_000);
    await started(ground.connect(), { http });
    await clock.advance(3 * 60_000);
    const rows = await rowsOf(storage, deliveries);
    expect(rows.filter(({ manual_at }) => manual_at !== null)).toEqual([]);
    // Requests that were under way may repeat; recorded attempts may not.
    expect(new Set(rows.map(({ attempts }) => attempts))).toEqual(new Set([6]));
  });
});
