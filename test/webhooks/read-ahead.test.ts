/** The drain job reads ahead and sends before outcomes are recorded. Neither may be observable. */
import { describe, expect, it } from "vitest";
import { TidingsError } from "../../src/kernel/errors.ts";
import type { HttpClient } from "../../src/ports/http-client.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { deliveryAttempts } from "../../src/webhooks/rows.ts";
import { over } from "../support/over.ts";
import { beforeCommits } from "../support/storage/groups.ts";
import { isGenuine } from "./receivers.ts";
import { webhookWorld, type WebhookWorld } from "./world.ts";

const soonMs = 6_000;

/** A storage that calls `before` before it commits attempts. */
function recording(storage: StoragePort, before: () => Promise<unknown>): StoragePort {
  return beforeCommits(storage, async (writes) => {
    if (writes.some(({ collection }) => collection === deliveryAttempts)) await before();
  });
}

/** Gives a webhook a backlog, enables it, and resolves once 20 requests have arrived. */
async function drainBacklog(
  { desk, clock, receivers, tell }: WebhookWorld,
  id: string,
  count: number,
): Promise<void> {
  await desk.webhooks.update(id, { status: "paused" });
  await tell(count);
  await clock.advance(soonMs);
  receivers.seen.splice(0);
  await desk.webhooks.update(id, { status: "enabled" });
  await clock.advanceUntil(() => receivers.seen.length >= 20);
}

describe("a webhook with deliveries that were read ahead", () => {
  it("gets nothing from the moment it is paused", async () => {
    const world = await webhookWorld();
    const { receivers, clock } = world;
    const engine = await world.start();
    let received = 0;
    const { id, url } = await world.hook("a");
    await drainBacklog(world, id, 200);
    // All requests happen within one millisecond.
    receivers.at(url, () => {
      if (receivers.seen.length !== 60) return { after: 0 };
      const paused = engine.account().webhooks.update(id, { status: "paused" });
      void paused.then(() => (received = receivers.seen.length));
      return { after: 0 };
    });
    await clock.advance(soonMs);
    expect(received).toBeLessThan(190);
    expect(receivers.seen).toHaveLength(received);
  });

  it("gets nothing after another process has paused it", async () => {
    const world = await webhookWorld();
    const { clock, storage } = world;
    // With slow commits, only the sending itself can notice the change.
    const slow = recording(storage, () => clock.sleep(100));
    await world.start({}, slow);
    const { id } = await world.hook("a");
    await drainBacklog(world, id, 200);
    await world.desk.webhooks.update(id, { status: "paused" });
    const paused = clock.now();
    await clock.advance(soonMs);
    expect(world.receivers.seen.filter(({ at }) => at > paused)).toEqual([]);
  });

  it("gets no request that is signed with a secret replaced before the last recorded outcome", async () => {
    // The number of promises between wake-up and read changes the interleaving.
    for (let promises = 0; promises < 4; promises++) {
      const world = await webhookWorld();
      const { clock, receivers, storage, desk } = world;
      const own = over(clock, {
        async sleep(ms, signal) {
          await clock.sleep(ms, signal);
          for (let i = 0; i < promises; i++) await Promise.resolve();
        },
      });
      let isSlow = false;
      const slow = recording(storage, async () => {
        if (isSlow) await clock.sleep(5_000);
      });
      await world.start({ clock: own }, slow);
      const { id } = await world.hook("a", () => ({}), { ordering: "fifo" });
      await desk.webhooks.update(id, { status: "paused" });
      await world.tell(3);
      await clock.advance(soonMs);
      await desk.webhooks.update(id, { status: "enabled" });
      await clock.advanceUntil(() => receivers.seen.length === 2);
      isSlow = true;
      await clock.advance(1_000);
      const { secret } = await desk.webhooks.rotateSecret(id, { grace_seconds: 0 });
      await clock.advance(soonMs);
      expect(receivers.seen.map((request) => isGenuine(request, secret))).toEqual([
        false,
        false,
        true,
      ]);
    }
  });

  it("keeps fifo order after a manual redelivery failed before the scheduled attempt", async () => {
    const world = await webhookWorld();
    const { clock, receivers, desk } = world;
    await world.start();
    const rest = { status: 503, headers: { "retry-after": "120" } };
    const { id } = await world.hook("a", (_, n) => [rest, { status: 500 }][n] ?? {}, {
      ordering: "fifo",
    });
    const events = await world.tell(2);
    await clock.advanceUntil(() => receivers.seen.length === 1);
    await clock.advance(1_000);
    const [first] = await world.deliveries();
    await desk.webhooks.redeliver(id, first?.id ?? "");
    await clock.advance(soonMs);
    expect(receivers.seen).toHaveLength(2);
    await clock.advance(200_000);
    expect(receivers.seen.map(({ id: event }) => events.indexOf(event))).toEqual([0, 0, 0, 1]);
  });

  it("gets a fifo redelivery after the events before its request and before those after it", async () => {
    const world = await webhookWorld();
    const { clock, receivers, desk } = world;
    await world.start();
    const { id } = await world.hook("a", () => ({ after: 20 }), { ordering: "fifo" });
    const events = await world.tell(4);
    await clock.advanceUntil(() => receivers.seen.length === 2);
    const [first] = await world.deliveries();
    await desk.webhooks.redeliver(id, first?.id ?? "");
    events.push(...(await world.tell(3)));
    await clock.advance(20_000);
    expect(receivers.seen.map(({ id: event }) => events.indexOf(event))).toEqual([
      0, 1, 2, 3, 0, 4, 5, 6,
    ]);
  });

  it("gets a redelivery once if it is requested again while it is under way", async () => {
    const world = await webhookWorld();
    const { clock, receivers, desk } = world;
    await world.start();
    const { id } = await world.hook("a", () => ({ after: 1_000 }));
    await world.tell(1);
    await clock.advance(5_000);
    const [first] = await world.deliveries();
    await desk.webhooks.redeliver(id, first?.id ?? "");
    await clock.advanceUntil(() => receivers.seen.length === 2);
    await clock.advance(500);
    await desk.webhooks.redeliver(id, first?.id ?? "");
    await clock.advance(20_000);
    expect(receivers.seen).toHaveLength(2);
  });

  it("gets nothing about a contact that another process erased, also if the clock was set back", async () => {
    const world = await webhookWorld();
    const { clock, receivers, desk } = world;
    await world.start();
    const { id } = await world.hook("a", () => ({ after: 1_000 }));
    await desk.webhooks.update(id, { status: "paused" });
    const said = Array.from({ length: 20 }, () =>
      desk.sandbox.inbound({ from: "+15550000001", body: "octopus" }),
    );
    const [first] = await Promise.all(said);
    await clock.advance(soonMs);
    await desk.webhooks.update(id, { status: "enabled" });
    await clock.advanceUntil(() => receivers.seen.length > 0);
    world.step(-3_600_000);
    await desk.contacts.erase(first?.contact_id ?? "");
    const received = receivers.seen.length;
    await clock.advance(60_000);
    expect(received).toBeLessThan(20);
    expect(receivers.seen.slice(received)).toEqual([]);
  });

  it("gets nothing about an erased contact", async () => {
    const world = await webhookWorld();
    const engine = await world.start();
    const { id } = await world.hook("a");
    const account = engine.account();
    await account.webhooks.update(id, { status: "paused" });
    const said = Array.from({ length: 60 }, () =>
      account.sandbox.inbound({ from: "+15550000001", body: "octopus" }),
    );
    const [first] = await Promise.all(said);
    await world.clock.advance(soonMs);
    await account.webhooks.update(id, { status: "enabled" });
    await world.clock.advanceUntil(() => world.receivers.seen.length > 8);
    await account.contacts.erase(first?.contact_id ?? "");
    const received = world.receivers.seen.length;
    await world.clock.advance(soonMs);
    expect(received).toBeLessThan(60);
    expect(world.receivers.seen.slice(received)).toEqual([]);
    expect((await world.deliveries()).map(({ body }) => body)).toEqual(Array(60).fill(null));
  });
});

describe("while recording outcomes is slow", () => {
  async function times(ordering: "none" | "fifo"): Promise<number[]> {
    const world = await webhookWorld();
    const { clock, receivers, storage } = world;
    await world.start(
      {},
      recording(storage, () => clock.sleep(100)),
    );
    const { id } = await world.hook("a", () => ({}), { ordering });
    await drainBacklog(world, id, 60);
    return receivers.seen.map(({ at }) => at);
  }

  it("further requests are sent", async () => {
    const seen = await times("none");
    expect((seen[19] ?? 0) - (seen[0] ?? 0)).toBeLessThan(100);
  });

  it("a new event is sent once, even if the job was ending and another engine could take over", async () => {
    const world = await webhookWorld();
    const { clock, receivers, storage } = world;
    await world.start(
      {},
      recording(storage, () => clock.sleep(3_000)),
    );
    await world.hook("a", (_, n) => (n === 0 ? {} : { after: 10_000 }));
    await world.tell();
    await clock.advanceUntil(() => receivers.seen.length === 1);
    await clock.advance(500);
    await world.tell();
    await clock.advance(2_600);
    await world.start();
    await clock.advance(30_000);
    expect(receivers.overlaps).toEqual([]);
    expect(receivers.seen).toHaveLength(2);
  });

  it("with fifo order, the next request waits until the previous outcome is recorded", async () => {
    const seen = await times("fifo");
    for (const [i, at] of seen.slice(1).entries()) {
      expect(at - (seen[i] ?? 0)).toBeGreaterThanOrEqual(100);
    }
  });
});

it("a webhook whose drain lost its lease before it began gets each event from one engine at a time", async () => {
  const world = await webhookWorld();
  const { clock, receivers } = world;
  let isLate = false;
  const paused = over(clock, {
    async sleep(ms, signal) {
      // The engine sleeps between lease and start until the lease has lapsed.
      await clock.sleep(isLate && ms === 5 ? 70_000 : ms, signal);
    },
  });
  await world.start({ clock: paused });
  await world.hook("a", () => ({ after: 12_000 }));
  isLate = true;
  await world.tell();
  await clock.advance(6_000);
  await world.start();
  await clock.advance(200_000);
  expect(receivers.overlaps).toEqual([]);
  expect(receivers.seen).toHaveLength(1);
});

it("a success that is recorded after the lease ended lets the next event of a fifo webhook go", async () => {
  const world = await webhookWorld();
  const { clock, receivers, storage } = world;
  const lateMs = 1_000_000;
  let isLate = true;
  await world.start(
    {},
    recording(storage, async () => {
      if (isLate) await clock.sleep(lateMs);
      isLate = false;
    }),
  );
  // The engine that takes over repeats the request, which fails now, and waits ever longer.
  await world.hook(
    "a",
    ({ id }, n) => (n > 0 && id === receivers.seen[0]?.id ? { status: 500 } : {}),
    { ordering: "fifo" },
  );
  await world.tell(2);
  await clock.advanceUntil(() => receivers.seen.length === 1);
  await world.start();
  await clock.advance(lateMs + 10_000);
  const [first, ...others] = receivers.seen.map(({ id }) => id);
  expect(others.slice(0, -1).every((id) => id === first)).toBe(true);
  expect(others.at(-1)).not.toBe(first);
});

it("a failure that is recorded after another engine repeated the attempt takes none of the five attempts", async () => {
  const world = await webhookWorld();
  const { clock, receivers, storage } = world;
  let isLate = true;
  await world.start(
    {},
    recording(storage, async () => {
      if (isLate) await clock.sleep(100_000);
      isLate = false;
    }),
  );
  await world.hook("a", () => ({ status: 500 }));
  await world.tell();
  await clock.advanceUntil(() => receivers.seen.length === 1);
  await world.start();
  await clock.advance(110_000);
  for (let hours = 0; hours < 24; hours++) await world.pass(3_600_000);
  expect(await world.deliveries()).toMatchObject([{ status: "failed", attempts: 6 }]);
});

it("a lost connection is not tried again once the deadline of the attempt has passed", async () => {
  const world = await webhookWorld();
  const { clock, receivers } = world;
  let sent = 0;
  const client: HttpClient = over(receivers.client, {
    async send() {
      sent++;
      await clock.sleep(15_000);
      const code = "kept_connection_lost";
      return { outcome: "failed", code, message: "", sent: true, address: null, partial: null };
    },
  });
  await world.start({ http: { client } });
  await world.hook("a");
  await world.tell();
  await clock.advance(30_000);
  expect(sent).toBe(1);
  expect(await world.attempts()).toMatchObject([{ error: "kept_connection_lost" }]);
});

it("an outcome is recorded after a storage outage of 40 seconds", async () => {
  const world = await webhookWorld();
  const { clock, receivers, storage } = world;
  let isAway = false;
  const line = recording(storage, async () => {
    if (isAway) throw new TidingsError("storage_unavailable", "The line is cut.");
  });
  await world.start({}, line);
  await world.hook("a", () => {
    isAway = true;
    return {};
  });
  await world.tell();
  await clock.advanceUntil(() => isAway);
  await clock.advance(40_000);
  isAway = false;
  await clock.advance(200_000);
  expect(receivers.seen).toHaveLength(1);
  expect(await world.attempts()).toHaveLength(1);
});

it("an HTTP client that never settles fails its attempt and blocks no other", async () => {
  const world = await webhookWorld();
  const { clock, receivers } = world;
  let isStuck = true;
  const client: HttpClient = over(receivers.client, {
    send: (request) => (isStuck ? new Promise(() => {}) : receivers.client.send(request)),
  });
  await world.start({ http: { client } });
  await world.hook("a");
  await world.tell(2);
  await clock.advance(70_000);
  isStuck = false;
  await clock.advance(200_000);
  expect((await world.attempts()).map(({ error }) => error)).toEqual([
    "response_timeout",
    null,
    "response_timeout",
    null,
  ]);
  expect((await world.deliveries()).map(({ status }) => status)).toEqual([
    "succeeded",
    "succeeded",
  ]);
});
