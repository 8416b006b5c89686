/** A webhook whose URL is changed. */
import { describe, expect, it } from "vitest";
import { delays } from "../../src/webhooks/sending/schedule.ts";
import { embeddedStorages } from "../support/storage/storages.ts";
import { webhookWorld, type WebhookWorld } from "./world.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Longer than the polling interval. */
const soonMs = 6_000;
const url = "https://b.example/hook";
const statuses = async ({ deliveries }: WebhookWorld) =>
  (await deliveries()).map(({ status }) => status);

describe.each(embeddedStorages)("a webhook on $name", ({ open }) => {
  it("with a new URL is not disabled by a 410 of the old one, and gets that delivery, too", async () => {
    const world = await webhookWorld(open());
    const { clock, receivers, desk } = world;
    const { id } = await world.hook("a", () => ({ status: 410, after: 10_000 }));
    await world.start();
    const [event] = await world.tell();
    await clock.advanceUntil(() => receivers.seen.length === 1);
    await desk.webhooks.update(id, { url });
    await clock.advance(80_000);
    expect(await desk.webhooks.get(id)).toMatchObject({ url, status: "enabled" });
    const { data } = await desk.events.list();
    expect(data.map(({ type }) => type)).not.toContain("webhook.disabled");
    expect(receivers.seen.slice(1)).toMatchObject([{ url, id: event }]);
    expect(await statuses(world)).toEqual(["succeeded"]);
  });

  it.each([
    ["none", "what does not wait for its own retry", [2, 3]],
    ["fifo", "all events in order", [1, 2, 3]],
  ] as const)(
    "with a new URL and %s order gets %s at once, although the old one asked for an hour's pause",
    async (ordering, _, expected) => {
      const world = await webhookWorld(open());
      const { clock, receivers, desk } = world;
      const refusal = { status: 503, headers: { "retry-after": "3600" } };
      const { id } = await world.hook("a", (_, n) => (n === 0 ? {} : refusal), { ordering });
      await world.start();
      const events = await world.tell();
      await clock.advance(soonMs);
      events.push(...(await world.tell()));
      await clock.advance(soonMs);
      events.push(...(await world.tell()));
      await desk.webhooks.update(id, { url });
      expect(await world.webhooks()).toMatchObject([
        { proven: false, streak: null, paused_until: null },
      ]);
      events.push(...(await world.tell()));
      await clock.advance(soonMs);
      expect(receivers.seen.slice(2)).toMatchObject(expected.map((n) => ({ url, id: events[n] })));
    },
  );

  it("with a new URL is not proven by a success of the old one", async () => {
    const world = await webhookWorld(open());
    const { clock, receivers, desk } = world;
    const { id } = await world.hook("a", () => ({ after: 10_000 }));
    await world.start();
    await world.tell();
    await clock.advanceUntil(() => receivers.seen.length === 1);
    await desk.webhooks.update(id, { url });
    await clock.advance(12_000);
    expect(await statuses(world)).toEqual(["succeeded"]);
    expect(await world.webhooks()).toMatchObject([{ proven: false, streak: null }]);
  });

  it.each([1, 3, 5])(
    "with fifo order gets all events at a new URL once attempt %i at the old one has failed",
    async (attempt) => {
      const world = await webhookWorld(open());
      const { clock, receivers, desk } = world;
      const { id } = await world.hook(
        "a",
        (_, n) => {
          if (n === attempt - 1) void desk.webhooks.update(id, { url });
          return { status: 500, after: 10_000 };
        },
        { ordering: "fifo" },
      );
      await world.start();
      const events = await world.tell(2);
      for (const delay of delays.slice(0, attempt - 1)) await world.pass(1.1 * delay + soonMs);
      await clock.advance(10_000 + soonMs);
      const [lastOld, ...fresh] = receivers.seen.slice(attempt - 1);
      expect(fresh).toMatchObject(events.map((event) => ({ url, id: event })));
      expect((fresh[0]?.at ?? Infinity) - (lastOld?.at ?? 0)).toBeLessThan(10_000 + soonMs);
      expect(await statuses(world)).toEqual(["succeeded", "succeeded"]);
    },
  );

  it("with fifo order gets one attempt more than five at most, also if its URL changes twice", async () => {
    const world = await webhookWorld(open());
    const { receivers, desk } = world;
    const { id } = await world.hook(
      "a",
      (_, n) => {
        if (n === delays.length) void desk.webhooks.update(id, { url });
        return { status: 500, after: 10_000 };
      },
      { ordering: "fifo" },
    );
    receivers.at(url, () => {
      void desk.webhooks.update(id, { url: "https://c.example/hook" });
      return { status: 500, after: 10_000 };
    });
    await world.start();
    await world.tell();
    for (const delay of delays) await world.pass(1.1 * delay + soonMs);
    await world.pass(dayMs);
    expect(receivers.seen.slice(delays.length).map((request) => request.url)).toEqual([
      "https://a.example/hook",
      url,
    ]);
    expect(await statuses(world)).toEqual(["failed"]);
  });

  it("with fifo order has the whole day for retries, also if a new URL ended a long wait", async () => {
    const world = await webhookWorld(open());
    const { clock, receivers, desk } = world;
    const busy = (hours: number) => ({
      status: 500,
      headers: { "retry-after": `${hours * 3_600}` },
    });
    const { id } = await world.hook("a", () => busy(24), { ordering: "fifo" });
    receivers.at(url, () => busy(2));
    await world.start();
    await world.tell();
    await clock.advance(soonMs);
    await desk.webhooks.update(id, { url });
    await world.pass(2 * hourMs - soonMs);
    expect(receivers.seen).toHaveLength(2);
    await world.pass(hourMs);
    expect(receivers.seen).toHaveLength(3);
  });
});
