/** What runs ahead: reading before sending, and sending before writing down. None of it may be seen. */
import { describe, expect, it } from "vitest";
import { deliveryAttempts } from "../../src/webhooks/rows.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import type { HttpClient } from "../../src/ports/http-client.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { over } from "../support/over.ts";
import { storages } from "../support/storages.ts";
import { isGenuine } from "./receivers.ts";
import { type WebhookWorld, webhookWorld } from "./world.ts";

const [memory] = storages;
if (memory === undefined) throw new Error("no storage");
const { open } = memory;

const soonMs = 6_000;

/** A storage that does something before it commits what came of requests. */
function recording(storage: StoragePort, before: () => Promise<unknown>): StoragePort {
  return over(storage, {
    begin(how) {
      const group = storage.begin(how);
      return over(group, {
        async commit(writes) {
          if (writes.some(({ collection }) => collection === deliveryAttempts)) await before();
          await group.commit(writes);
        },
      });
    },
  });
}

/** Has a webhook owe so many deliveries, and lets them out; answers when the first of them are through. */
async function owe(
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

describe("however much of it was read ahead", () => {
  it("a webhook gets nothing once it is paused, in that very moment", async () => {
    const world = await webhookWorld(open());
    const { receivers, clock } = world;
    const engine = await world.start();
    let heard = 0;
    const { id, url } = await world.hook("a");
    await owe(world, id, 200);
    // All of it in one millisecond.
    receivers.at(url, () => {
      if (receivers.seen.length !== 60) return { after: 0 };
      const paused = engine.account().webhooks.update(id, { status: "paused" });
      void paused.then(() => (heard = receivers.seen.length));
      return { after: 0 };
    });
    await clock.advance(soonMs);
    expect(heard).toBeLessThan(190);
    expect(receivers.seen).toHaveLength(heard);
  });

  it("a webhook gets nothing once another process has paused it", async () => {
    const world = await webhookWorld(open());
    const { clock, storage } = world;
    // While nothing is written here, nothing gives cause to look at the webhook but what is sent.
    const slow = recording(storage, () => clock.sleep(100));
    await world.start({}, slow);
    const { id } = await world.hook("a");
    await owe(world, id, 200);
    await world.desk.webhooks.update(id, { status: "paused" });
    const paused = clock.now();
    await clock.advance(soonMs);
    expect(world.receivers.seen.filter(({ at }) => at > paused)).toEqual([]);
  });

  it("a webhook gets nothing signed with the secret that it had before the last answer was on record", async () => {
    // How many promises a waking takes on its way decides what it meets.
    for (let promises = 0; promises < 4; promises++) {
      const world = await webhookWorld(open());
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
      expect(receivers.seen.map((request) => isGenuine(request, secret ?? ""))).toEqual([
        false,
        false,
        true,
      ]);
    }
  });

  it("a webhook that keeps order gets nothing before what failed by hand and is due by itself", async () => {
    const world = await webhookWorld(open());
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
    await clock.advance(200_000);
    expect(receivers.seen.map(({ id: event }) => events.indexOf(event))).toEqual([0, 0, 0, 1]);
  });

  it("a webhook gets no word of a contact that is erased", async () => {
    const world = await webhookWorld(open());
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
    const heard = world.receivers.seen.length;
    await world.clock.advance(soonMs);
    expect(heard).toBeLessThan(60);
    expect(world.receivers.seen.slice(heard)).toEqual([]);
    expect((await world.deliveries()).map(({ body }) => body)).toEqual(Array(60).fill(null));
  });
});

describe("while it takes long to write down what came of requests", () => {
  async function times(ordering: "none" | "fifo"): Promise<number[]> {
    const world = await webhookWorld(open());
    const { clock, receivers, storage } = world;
    await world.start(
      {},
      recording(storage, () => clock.sleep(100)),
    );
    const { id } = await world.hook("a", () => ({}), { ordering });
    await owe(world, id, 60);
    return receivers.seen.map(({ at }) => at);
  }

  it("requests go on", async () => {
    const seen = await times("none");
    expect((seen[19] ?? 0) - (seen[0] ?? 0)).toBeLessThan(100);
  });

  it("what happens meanwhile is sent once, though that was to be the end and another engine could take over", async () => {
    const world = await webhookWorld(open());
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

  it("the next one in order waits until what came of the one before is on record", async () => {
    const seen = await times("fifo");
    for (const [i, at] of seen.slice(1).entries()) {
      expect(at - (seen[i] ?? 0)).toBeGreaterThanOrEqual(100);
    }
  });
});

it("a webhook whose turn lapsed before it began is sent each event by one engine at a time", async () => {
  const world = await webhookWorld(open());
  const { clock, receivers } = world;
  let isLate = false;
  const paused = over(clock, {
    async sleep(ms, signal) {
      // It gets no time between its lease and its beginning, until the lease has lapsed.
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

it("what came of a request is on record when the storage was away for most of a minute since", async () => {
  const world = await webhookWorld(open());
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

it("a client that never comes back fails its attempt, and holds up no other", async () => {
  const world = await webhookWorld(open());
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
