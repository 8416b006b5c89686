import { describe, expect, it } from "vitest";
import { deliveriesDue } from "../../src/webhooks/rows.ts";
import { stopped } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { cases } from "../support/runs.ts";
import { embeddedStorages, lightStorages, storages } from "../support/storage/storages.ts";
import type { Behavior } from "./receivers.ts";
import { webhookWorld, type WebhookWorld } from "./world.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Longer than the polling interval. */
const soonMs = 6_000;
const embedded = cases(embeddedStorages, ({ name }) => name === "SQLite");
/** Publishes three events, one after another. */
async function tellThree({ tell, clock }: WebhookWorld): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await tell();
    await clock.advance(soonMs);
  }
}
const hangs: Behavior = () => ({ after: Infinity });
const statuses = async ({ deliveries }: WebhookWorld) =>
  (await deliveries()).map(({ status }) => status);
const disabledEvents = async ({ desk }: WebhookWorld) =>
  (await desk.events.list()).data.filter(({ type }) => type === "webhook.disabled");

describe.each(storages)("a webhook on $name", ({ open }) => {
  it("gets the waiting deliveries once its ordering changes from fifo to none", async () => {
    const world = await webhookWorld(open());
    const { clock, receivers, desk } = world;
    await world.start();
    const { id } = await world.hook("a", (_, n) => (n === 0 ? { status: 500 } : {}), {
      ordering: "fifo",
    });
    await world.tell(3);
    await clock.advance(soonMs);
    expect(receivers.seen).toHaveLength(1);
    await desk.webhooks.update(id, { ordering: "none" });
    await clock.advance(soonMs);
    expect(receivers.seen).toHaveLength(3);
  });

  it("gets each event once, also if deliveries are read before an outcome is recorded", async () => {
    const world = await webhookWorld(open());
    const { clock, receivers, storage } = world;
    const late = over(storage, {
      reader: over(storage.reader, {
        async range(range) {
          const rows = await storage.reader.range(range);
          if (range.index === deliveriesDue) await clock.sleep(7);
          return rows;
        },
      }),
    });
    await world.start({}, late);
    await world.hook("a");
    const ids = await world.tell(12);
    await clock.advance(soonMs);
    expect(receivers.seen.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(await world.attempts()).toHaveLength(12);
  });

  it("gets new events while another response is slow", async () => {
    const world = await webhookWorld(open());
    const { clock, receivers } = world;
    const engine = await world.start();
    await world.hook("a", (_, n) => (n === 3 ? { after: 14_000 } : {}));
    await tellThree(world);
    await world.tell();
    await clock.advance(soonMs);
    expect(receivers.busy.get("https://a.example/hook")).toBe(1);
    const tellAtOnce = async (nth: number): Promise<void> => {
      await engine.sandbox.event({ type: "message.received" });
      const told = clock.now();
      await clock.advance(100);
      expect(receivers.seen[nth]?.at).toBe(told);
    };
    await tellAtOnce(4);
    await clock.advance(soonMs);
    // The time in which a drain begins attempts is over.
    expect(receivers.busy.get("https://a.example/hook")).toBe(1);
    await tellAtOnce(5);
  });
});

describe.each(lightStorages)("a webhook on $name", ({ open }) => {
  it("that answers 410 is disabled with one event and gets nothing more, also with a backlog", async () => {
    const world = await webhookWorld(open());
    const { clock, receivers } = world;
    const { id } = await world.hook("a", (_, n) => (n < 12 ? {} : { status: 410, after: 5 + n }));
    await world.tell(12);
    await world.start();
    await clock.advance(soonMs);
    expect(await statuses(world)).toEqual(Array(12).fill("succeeded"));
    await world.tell(30);
    await clock.advance(soonMs);
    const storm = receivers.seen.length - 12;
    expect(storm).toBeLessThanOrEqual(8);
    await world.pass(2 * dayMs);
    expect(receivers.seen.length).toBe(12 + storm);
    expect(await world.desk.webhooks.get(id)).toMatchObject({
      status: "disabled",
      disabled_reason: "gone",
    });
    expect(await disabledEvents(world)).toMatchObject([
      { data: { webhook_id: id, reason: "gone" } },
    ]);
    expect(
      (await world.desk.webhooks.deliveries(id, { status: "parked", limit: 50 })).data,
    ).toHaveLength(30 - storm);
  });
});

describe.each(embedded)("a webhook on $name", ({ open }) => {
  it("that sends Retry-After is paused, except for manual redeliveries; others are not", async () => {
    const world = await webhookWorld(open());
    const { clock, receivers, desk } = world;
    const { id } = await world.hook("a", (_, n) =>
      n === 0 ? { status: 429, headers: { "retry-after": "600" } } : {},
    );
    await world.hook("b");
    await world.start();
    const [first] = await world.tell();
    const begun = clock.now();
    await clock.advance(soonMs);
    await world.tell(5);
    const asked = (await desk.webhooks.deliveries(id)).data.find(
      ({ event_id }) => event_id === first,
    );
    await desk.webhooks.redeliver(id, asked?.id ?? "");
    const { data: held } = await desk.webhooks.deliveries(id);
    for (const { next_attempt_at } of held.filter(({ attempt_count }) => attempt_count === 0)) {
      expect(Date.parse(next_attempt_at ?? "") - begun).toBeGreaterThanOrEqual(600_000);
    }
    await clock.advance(590_000 - soonMs);
    const to = (name: string) => receivers.seen.filter(({ url }) => url.includes(`//${name}.`));
    expect(to("a").map((each) => each.id)).toEqual([first, first]);
    expect(to("b")).toHaveLength(6);
    await clock.advance(70_000);
    expect(to("a")).toHaveLength(7);
    for (const { at } of to("a").slice(2)) expect(at - begun).toBeGreaterThanOrEqual(600_000);
  });

  it("gets a retry at its current URL, and nothing after its deletion", async () => {
    const world = await webhookWorld(open());
    const { clock, receivers, desk } = world;
    const { id } = await world.hook("a", () => ({ status: 500 }));
    receivers.at("https://b.example/hook", () => ({ status: 500 }));
    await world.start();
    await world.tell();
    await clock.advance(soonMs);
    await desk.webhooks.update(id, { url: "https://b.example/hook" });
    await clock.advance(70_000);
    expect(receivers.seen.map(({ url }) => url)).toEqual([
      "https://a.example/hook",
      "https://b.example/hook",
    ]);
    await desk.webhooks.remove(id);
    await world.pass(2 * dayMs);
    expect(receivers.seen).toHaveLength(2);
    expect([await world.deliveries(), await world.attempts()]).toEqual([[], []]);
  });

  it("that is paused keeps its backlog, and gets it slowly at first once enabled", async () => {
    const world = await webhookWorld(open());
    const { clock, receivers, desk } = world;
    const url = "https://a.example/hook";
    const { id } = await world.hook("a", (_, n) => (n === 0 ? { status: 500 } : { after: 1_000 }));
    await world.start();
    await world.tell();
    await clock.advance(soonMs);
    await desk.webhooks.update(id, { status: "paused" });
    await world.tell(20);
    await world.pass(dayMs);
    expect(receivers.seen).toHaveLength(1);
    await desk.webhooks.update(id, { status: "enabled" });
    await clock.advanceUntil(() => receivers.seen.length === 2);
    await clock.advance(500);
    expect(receivers.busy.get(url)).toBe(1);
    await clock.advance(60_000);
    expect(await statuses(world)).toEqual(Array(21).fill("succeeded"));
    expect(receivers.busiest.get(url)).toBeLessThanOrEqual(8);
  });

  it("gets a manual redelivery once, also if the clock is set back", async () => {
    const world = await webhookWorld(open());
    const { clock, receivers } = world;
    const { id } = await world.hook("a", (_, n) => (n === 2 ? { after: 14_000 } : {}));
    const { webhooks } = await world.start();
    await tellThree(world);
    const [delivery] = (await webhooks.deliveries(id, { status: "succeeded" })).data;
    await webhooks.redeliver(id, delivery?.id ?? "");
    clock.step(-20_000);
    await clock.advance(10_000);
    expect(receivers.seen.map(({ id: event }) => event).slice(3)).toEqual([delivery?.event_id]);
    await clock.advance(60_000);
    expect(receivers.seen).toHaveLength(4);
    expect((await world.attempts()).filter(({ manual }) => manual)).toHaveLength(1);
  });

  it.each([200, 500])(
    "gets a redelivery that was requested during an attempt that is answered with %i",
    async (status) => {
      const world = await webhookWorld(open());
      const { clock, receivers, desk } = world;
      const { id } = await world.hook("a", (_, n) => (n === 0 ? { after: 5_000, status } : {}));
      await world.start();
      await world.tell();
      await clock.advance(soonMs);
      const [underWay] = (await desk.webhooks.deliveries(id)).data;
      const { next_attempt_at } = await desk.webhooks.redeliver(id, underWay?.id ?? "");
      expect(next_attempt_at).not.toBeNull();
      await clock.advance(10_000);
      expect(receivers.seen).toHaveLength(2);
      expect((await world.attempts()).map(({ manual }) => manual)).toEqual([false, true]);
      await world.pass(2 * dayMs);
      expect(receivers.seen).toHaveLength(2);
      expect(await statuses(world)).toEqual(["succeeded"]);
    },
  );

  it("gets a request that a stop cut off again soon after the next start", async () => {
    const world = await webhookWorld(open());
    const { clock, receivers } = world;
    const engine = await world.start();
    const url = "https://a.example/hook";
    await world.hook("a", (_, n) => (n === 0 ? { after: 10_000 } : {}));
    await world.tell();
    await clock.advance(soonMs);
    expect(receivers.busy.get(url)).toBe(1);
    await stopped(engine, clock);
    await world.start();
    const started = clock.now();
    await clock.advance(soonMs);
    expect(receivers.seen).toHaveLength(2);
    expect((receivers.seen[1]?.at ?? 0) - started).toBeLessThanOrEqual(soonMs);
    expect(await statuses(world)).toEqual(["succeeded"]);
  });
});

describe.each(lightStorages)("a fifo webhook on $name", ({ open }) => {
  it("gets events in order; a failed one is skipped, and its redelivery follows all that is due", async () => {
    const world = await webhookWorld(open());
    const { clock, receivers, desk } = world;
    let isBad = true;
    let first = "";
    const { id } = await world.hook(
      "a",
      ({ id: event }) => {
        first ||= event;
        return isBad && event === first ? { status: 500 } : {};
      },
      { ordering: "fifo" },
    );
    await world.start();
    const ids = await world.tell(3);
    for (const ms of [soonMs, 2 * minuteMs, 15 * minuteMs, 3 * hourMs]) await world.pass(ms);
    expect(receivers.seen.map((each) => each.id)).toEqual(Array(4).fill(ids[0]));
    await world.pass(18 * hourMs);
    expect(receivers.seen.map((each) => each.id)).toEqual([
      ...Array<string | undefined>(5).fill(ids[0]),
      ids[1],
      ids[2],
    ]);
    // Due deliveries come before the redelivery.
    isBad = false;
    await desk.webhooks.update(id, { status: "paused" });
    const more = await world.tell(2);
    await clock.advance(soonMs);
    await desk.webhooks.update(id, { status: "enabled" });
    const [failed] = (await desk.webhooks.deliveries(id, { status: "failed" })).data;
    await desk.webhooks.redeliver(id, failed?.id ?? "");
    await clock.advance(2 * soonMs);
    expect(receivers.seen.slice(7).map((each) => each.id)).toEqual([...more, ids[0]]);
    expect(receivers.busiest.get("https://a.example/hook")).toBe(1);
  });

  it("gets a redelivery of the event that blocks it at once; its retries stay on schedule", async () => {
    const world = await webhookWorld(open());
    const { clock, receivers, desk } = world;
    const { id } = await world.hook("a", (_, n) => (n < 3 ? { status: 500 } : {}), {
      ordering: "fifo",
    });
    await world.start();
    const [blocking, next] = await world.tell(2);
    await clock.advance(soonMs);
    const [first] = await world.deliveries();
    const sent = (): (string | undefined)[] => receivers.seen.map((each) => each.id);
    for (const requests of [2, 3]) {
      await desk.webhooks.redeliver(id, first?.id ?? "");
      await clock.advance(soonMs);
      expect(sent()).toEqual(Array(requests).fill(blocking));
    }
    await clock.advance(minuteMs);
    expect(sent()).toEqual([...Array<string | undefined>(4).fill(blocking), next]);
    expect((await world.attempts()).map(({ manual }) => manual)).toEqual([
      false,
      true,
      true,
      false,
      false,
    ]);
  });

  it("gets no retry of an event whose redelivery succeeded, and the next event instead", async () => {
    const world = await webhookWorld(open());
    const { clock, receivers, desk } = world;
    const { id } = await world.hook("a", (_, n) => (n === 0 ? { status: 500 } : {}), {
      ordering: "fifo",
    });
    await world.start();
    const [blocking, next] = await world.tell(2);
    await clock.advance(soonMs);
    const [first] = await world.deliveries();
    await desk.webhooks.redeliver(id, first?.id ?? "");
    await clock.advance(soonMs);
    expect(receivers.seen.map((each) => each.id)).toEqual([blocking, blocking, next]);
    await clock.advance(2 * minuteMs);
    expect(receivers.seen).toHaveLength(3);
  });

  it("gets a test at once, while an event waits for its retry and a redelivery for that event", async () => {
    const world = await webhookWorld(open());
    const { clock, receivers, desk } = world;
    const { id } = await world.hook("a", (_, n) => (n === 1 ? { status: 500 } : {}), {
      ordering: "fifo",
    });
    await world.start();
    const events = await world.tell(2);
    await clock.advance(soonMs);
    const [succeeded] = await world.deliveries();
    await desk.webhooks.redeliver(id, succeeded?.id ?? "");
    await clock.advance(soonMs);
    const { event_id } = await desk.webhooks.test(id);
    await clock.advance(soonMs);
    expect(receivers.seen.map((each) => each.id)).toEqual([...events, event_id]);
    await clock.advance(minuteMs);
    expect(receivers.seen.slice(3).map((each) => each.id)).toEqual(events.toReversed());
  });
});

describe("a webhook with a backlog", () => {
  it("gets at most 4 requests at once when it begins to fail", async () => {
    const world = await webhookWorld();
    const { clock, receivers } = world;
    let failsSince = Infinity;
    const concurrent: number[] = [];
    const { url } = await world.hook("a", ({ at }, n) => {
      if (n < 3) return {};
      failsSince = Math.min(failsSince, at);
      // Earlier requests began before the first failure was known.
      if (at >= failsSince + 500) concurrent.push(receivers.busy.get(url) ?? 0);
      return { status: 500, after: 500 };
    });
    await world.start();
    await tellThree(world);
    await world.tell(60);
    await clock.advance(2 * soonMs);
    expect(Math.max(...concurrent)).toBe(4);
  });

  it("gets one request at a time when it is enabled again, until one succeeds", async () => {
    const world = await webhookWorld();
    const { clock, receivers, desk } = world;
    const { id, url } = await world.hook("a", (_, n) => ({ after: n < 3 ? 5 : 2_000 }));
    await world.start();
    await tellThree(world);
    await world.tell(100);
    await clock.advanceUntil(() => receivers.busy.get(url) === 8);
    await clock.advance(500);
    await desk.webhooks.update(id, { status: "paused" });
    await desk.webhooks.update(id, { status: "enabled" });
    await clock.advance(3_000);
    expect(receivers.busy.get(url)).toBe(1);
    await clock.advance(2_000);
    expect(receivers.busy.get(url)).toBe(2);
    await clock.advance(2 * soonMs);
    expect(receivers.busy.get(url)).toBe(8);
  });
});

describe("a webhook that fails for days", () => {
  it("is disabled once after five days without success; its backlog is sent once it is enabled", async () => {
    const world = await webhookWorld();
    const { clock, receivers, desk } = world;
    let isUp = false;
    const { id } = await world.hook("a", () => (isUp ? {} : { after: Infinity }));
    await Promise.all([world.start(), world.start()]);
    const begun = clock.now();
    await world.tell();
    for (let hours = 0; hours < 7 * 24; hours += 6) {
      await world.tell(2);
      await world.pass(6 * hourMs);
      const { status } = await desk.webhooks.get(id);
      if (clock.now() - begun < 5 * dayMs) expect(status).toBe("enabled");
    }
    const disabled = await desk.webhooks.get(id);
    expect(disabled).toMatchObject({ status: "disabled", disabled_reason: "failing" });
    const failedMs = Date.parse(disabled.failing_since ?? "") - begun;
    expect(failedMs, "the first attempt timed out").toBeGreaterThan(0);
    expect(failedMs).toBeLessThan(hourMs);
    expect(await disabledEvents(world)).toHaveLength(1);
    const [tries, parked] = [
      receivers.seen.length,
      (await statuses(world)).filter((each) => each === "pending").length,
    ];
    expect(parked).toBeGreaterThan(5);
    await world.pass(dayMs);
    expect(receivers.seen).toHaveLength(tries);
    isUp = true;
    await desk.webhooks.update(id, { status: "enabled" });
    await clock.advance(minuteMs);
    expect(await statuses(world)).not.toContain("pending");
    expect(receivers.seen).toHaveLength(tries + parked);
    expect(receivers.overlaps).toEqual([]);
  });

  it("gets exactly five attempts of an event if all time out", async () => {
    const world = await webhookWorld();
    await world.hook("a", hangs);
    await world.start();
    await world.tell();
    for (let hours = 0; hours < 48; hours += 3) await world.pass(3 * hourMs);
    expect(world.receivers.seen).toHaveLength(5);
    expect(await statuses(world)).toEqual(["failed"]);
    expect((await world.attempts()).map(({ error }) => error)).toEqual(
      Array(5).fill("response_timeout"),
    );
  });
});
