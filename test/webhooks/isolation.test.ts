import { describe, expect, it } from "vitest";
import { TidingsError } from "../../src/kernel/errors.ts";
import { webhooks } from "../../src/webhooks/rows.ts";
import { over } from "../support/over.ts";
import { isLong, longTest } from "../support/runs.ts";
import { beforeCommits } from "../support/storage/groups.ts";
import type { Behavior } from "./receivers.ts";
import { webhookWorld, type WebhookWorld } from "./world.ts";

const hangs: Behavior = () => ({ after: Infinity });
const soonMs = 6_000;

/** The time between each event and its request. */
function latencies(
  { receivers }: WebhookWorld,
  to: string,
  told: ReadonlyMap<string, number>,
): number[] {
  return receivers.seen
    .filter(({ url, id }) => url === `https://${to}.example/hook` && told.has(id))
    .map(({ id, at }) => at - (told.get(id) ?? 0));
}

async function tellEach(
  world: WebhookWorld,
  count: number,
  everyMs: number,
): Promise<Map<string, number>> {
  const told = new Map<string, number>();
  for (let i = 0; i < count; i++) {
    const [id = ""] = await world.tell();
    told.set(id, world.clock.now());
    await world.clock.advance(everyMs);
  }
  return told;
}

describe("a healthy webhook", () => {
  it("is not delayed by hundreds that never answer", async () => {
    const world = await webhookWorld();
    await world.hook("healthy");
    await world.crowd(isLong ? 990 : 300, hangs);
    await world.start();
    await tellEach(world, 1, 10_000);
    const waits = latencies(world, "healthy", await tellEach(world, 3, 500));
    expect(waits).toHaveLength(3);
    expect(Math.max(...waits)).toBeLessThanOrEqual(10);
    // A new webhook has to prove itself first, among all those that never answer.
    await world.hook("new");
    const since = world.clock.now();
    await world.tell();
    await world.clock.advanceUntil(() =>
      world.receivers.seen.some(({ url }) => url === "https://new.example/hook"),
    );
    expect(world.clock.now() - since).toBeLessThan(60_000);
    await world.clock.advance(100);
    const later = latencies(world, "new", await tellEach(world, 2, 500));
    expect(later).toHaveLength(2);
    expect(Math.max(...later)).toBeLessThanOrEqual(10);
  });

  it("waits at most two seconds when hundreds of proven webhooks start to hang", async () => {
    const world = await webhookWorld();
    let areDown = false;
    await world.hook("healthy");
    await world.crowd(isLong ? 600 : 300, () => (areDown ? { after: Infinity } : {}));
    await world.start();
    await tellEach(world, 1, 8_000);
    areDown = true;
    const waits = latencies(world, "healthy", await tellEach(world, 6, 1_000));
    expect(waits).toHaveLength(6);
    expect(Math.max(...waits)).toBeLessThanOrEqual(2_000);
    expect(waits.slice(3).every((wait) => wait <= 10)).toBe(true);
  });

  longTest(
    "waits at most two seconds for hanging ones, also if the clock is set back",
    async () => {
      const world = await webhookWorld();
      let areDown = false;
      await world.hook("healthy");
      await world.crowd(600, () => (areDown ? { after: Infinity } : {}));
      await world.start();
      await tellEach(world, 1, 8_000);
      areDown = true;
      await tellEach(world, 1, 500);
      world.step(-3_600_000);
      const waits = latencies(world, "healthy", await tellEach(world, 6, 1_000));
      expect(waits).toHaveLength(6);
      expect(Math.max(...waits)).toBeLessThanOrEqual(2_000);
    },
  );

  it("is not delayed by time-outs: hanging requests are spread over time", async () => {
    const world = await webhookWorld();
    await world.hook("healthy");
    await world.crowd(300, hangs);
    await world.start();
    await tellEach(world, 1, 150_000);
    const began = world.receivers.seen.map(({ at }) => at).toSorted((a, b) => a - b);
    expect(began.length).toBeGreaterThan(600);
    const together = began.map(
      (at, i) => began.slice(i).findLastIndex((other) => other < at + 50) + 1,
    );
    expect(Math.max(...together)).toBeLessThanOrEqual(12);
  });

  it("is called within a second when it is new, among hanging ones, on a slow storage", async () => {
    const world = await webhookWorld();
    const { clock, storage, receivers } = world;
    let isSlow = false;
    const slowCommits = beforeCommits(storage, async () => {
      if (isSlow) await clock.sleep(4);
    });
    const slowly = over(slowCommits, {
      reader: over(storage.reader, {
        async range(range) {
          if (isSlow) await clock.sleep(3);
          return storage.reader.range(range);
        },
      }),
    });
    await world.hook("new", hangs);
    await world.crowd(29, hangs);
    await world.start({}, slowly);
    isSlow = true;
    await clock.advance(soonMs);
    const since = clock.now();
    await world.tell();
    await clock.advance(1_000);
    expect(receivers.seen.filter(({ at }) => at >= since)).toHaveLength(30);
  });

  it("is called when the event is committed, if no other new webhook has just been called", async () => {
    const world = await webhookWorld();
    const { clock, receivers } = world;
    await world.start();
    await world.hook("new");
    await world.tell();
    await clock.settle();
    expect(receivers.seen.map(({ at }) => at)).toEqual([clock.now()]);
  });

  it("does not delay a stop of the engine, even if hundreds wait for their start", async () => {
    const world = await webhookWorld();
    const { clock, receivers } = world;
    await world.hook("new");
    await world.crowd(300, () => ({ after: 0 }));
    const one = await world.start();
    await world.tell();
    await clock.advanceUntil(() => receivers.seen.length >= 3);
    let isOver = false;
    void one.stop().then(() => (isOver = true));
    // A virtual clock may stand still, so the stop must wait for no time.
    await clock.settle();
    expect(isOver).toBe(true);
  });

  it("is not delayed by a webhook with a backlog of hundreds", async () => {
    const world = await webhookWorld();
    const { clock, desk, receivers } = world;
    const busy = await world.hook("busy", () => ({ after: 100 }));
    await desk.webhooks.update(busy.id, { status: "paused" });
    const waiting = isLong ? 400 : 200;
    await world.tell(waiting);
    await world.hook("healthy");
    await Promise.all([world.start(), world.start()]);
    await clock.advance(soonMs);
    await desk.webhooks.update(busy.id, { status: "enabled" });
    await clock.advance(1_000);
    expect(receivers.busy.get(busy.url)).toBe(8);
    const waits = latencies(world, "healthy", await tellEach(world, 3, 200));
    expect(Math.max(...waits)).toBeLessThanOrEqual(10);
    await clock.advanceUntil(async () =>
      (await world.deliveries()).every(({ status }) => status === "succeeded"),
    );
    expect(receivers.seen).toHaveLength(waiting + 3 + 3);
    expect([receivers.busiest.get(busy.url), receivers.overlaps]).toEqual([8, []]);
  });
});

it("a failing webhook is not delayed further after a short storage outage", async () => {
  const world = await webhookWorld();
  const { receivers, storage } = world;
  let isAway = false;
  const reader = over(storage.reader, {
    get(lookups) {
      const isCut = isAway && lookups.some(({ index }) => index.collection === webhooks);
      isAway &&= !isCut;
      return isCut
        ? Promise.reject(new TidingsError("storage_unavailable", "The line is cut."))
        : storage.reader.get(lookups);
    },
  });
  await world.start({}, over(storage, { reader }));
  await world.hook("failing", () => ({ status: 500 }));
  await tellEach(world, 8, soonMs);
  isAway = true;
  await tellEach(world, 1, 2 * soonMs);
  expect(isAway).toBe(false);
  expect(new Set(receivers.seen.map(({ id }) => id)).size).toBe(9);
});

it("a webhook is left to an engine with an HTTP client by one without, which logs no error", async () => {
  const world = await webhookWorld();
  await world.hook("a");
  const events = await world.tell(2);
  await world.start({ http: undefined });
  await world.pass(60_000);
  const errors = world.log.filter(({ level }) => level === "error");
  expect([world.receivers.seen, errors]).toEqual([[], []]);
  await world.start();
  await world.pass(100);
  expect(world.receivers.seen.map(({ id }) => id)).toEqual(events);
});
