import { describe, expect, it } from "vitest";
import { simulated } from "../../adapters/testing/index.ts";
import { appendEvent } from "../../src/events/rows.ts";
import { schema } from "../../src/modules.ts";
import { silent } from "../../src/ports/logger.ts";
import type { StoragePort, Write } from "../../src/ports/storage.ts";
import { sampleData } from "../../src/sandbox/event-samples.ts";
import { Store } from "../../src/store/store.ts";
import { fanOut } from "../../src/webhooks/deliveries/fan-out.ts";
import { anyEventSchema, eventDefinitionOf } from "../../src/webhooks/event-catalog.ts";
import type { CreateWebhook } from "../../src/webhooks/input-types.ts";
import {
  deliveries,
  deliveryAttempts,
  webhookPatterns,
  webhooks,
} from "../../src/webhooks/rows.ts";
import { hosts } from "../adapters/transactions/hosts.ts";
import { world } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { all } from "../support/pages.ts";
import { beforeCommits, overtaken, writesTo } from "../support/storage/groups.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { lightStorages, storages } from "../support/storage/storages.ts";
import { isGenuine, receivers } from "./receivers.ts";
import { addWebhooks, changeDeliveries, failed, partsOf } from "./rows.ts";
import { openedOn } from "./world.ts";

const hook: CreateWebhook = { url: "https://hooks.example.com/in", events: ["*"] };

/** A storage that records all writes. */
function recordingWrites(storage: StoragePort): {
  readonly storage: StoragePort;
  readonly writes: Write[];
} {
  const writes: Write[] = [];
  const recorded = beforeCommits(storage, (committed) => void writes.push(...committed));
  return { storage: recorded, writes };
}

describe.each(lightStorages)("deliveries on $name", ({ open }) => {
  const opened = () => openedOn(open());

  it("are written only for subscribed webhooks; 1,000 others cause no writes", async () => {
    const { clock, engine } = world();
    const { storage, writes } = recordingWrites(open().connect());
    const one = engine(storage, { http: { client: receivers(clock).client } });
    const { id: first } = await one.webhooks.create({
      ...hook,
      events: ["message.*", "message.sent", "contact.*"],
    });
    const [like] = await rowsOf(storage, webhooks);
    if (like !== undefined) await addWebhooks(storage, like, 998);
    const { id: last } = await one.webhooks.create({ ...hook, events: ["message.sent"] });
    const others = (await rowsOf(storage, webhooks)).filter(
      ({ id }) => id !== first && id !== last,
    );
    expect(others).toHaveLength(998);
    const { account_id, mode } = one.account().scope;
    const patterns = others.map(({ id: webhook_id }) => ({
      account_id,
      mode,
      webhook_id,
      pattern: "contact.*",
    }));
    await storage.begin().commit(
      patterns.map((row) => ({
        kind: "insert",
        collection: webhookPatterns,
        row: { ...row, version: 1 },
      })),
    );
    writes.splice(0);
    await one.sandbox.event({ type: "message.sent" });
    const counts = Map.groupBy(writes, ({ collection, kind }) => `${kind} ${collection.name}`);
    expect([...counts].map(([what, { length }]) => `${length} ${what}`).toSorted()).toEqual([
      "1 insert events",
      "2 insert deliveries",
    ]);
    expect(
      (await rowsOf(storage, deliveries)).map(({ webhook_id }) => webhook_id).toSorted(),
    ).toEqual([first, last].toSorted());
  });

  it("hold the event byte for byte, and are visible only in their account and mode", async () => {
    const { one } = opened();
    const { account } = await one.accounts.create({ name: "neighbour" });
    const foreign = [one.account(account.id), one.account(undefined, { mode: "live" })];
    for (const each of foreign) await each.webhooks.create(hook);
    const { id } = await one.webhooks.create(hook);
    const event = await one.sandbox.event({ type: "message.sent" });
    const [made] = (await one.webhooks.deliveries(id)).data;
    const shown = await one.webhooks.delivery(id, made?.id ?? "");
    expect(shown).toMatchObject({
      event_id: event.id,
      event_type: event.type,
      status: "pending",
      attempt_count: 0,
    });
    expect(shown).toMatchObject({
      body: JSON.stringify(event),
      attempts: [],
      created_at: event.created_at,
    });
    for (const each of foreign) {
      const [own] = (await each.webhooks.list()).data;
      expect((await each.webhooks.deliveries(own?.id ?? "")).data).toEqual([]);
      expect(await outcome(each.webhooks.delivery(own?.id ?? "", shown.id))).toBe("not_found");
    }
  });

  it("are not made for an event that a transaction rolls back", async () => {
    const { one, storage } = opened();
    const { id } = await one.webhooks.create(hook);
    const { clock, random } = simulated({ seed: 99, start: Date.UTC(2026, 5, 1) });
    const store = new Store({
      port: storage,
      schema,
      projection: fanOut,
      clock,
      random,
      logger: silent,
    });
    const { scope } = one.account();
    const told = (type: "message.sent" | "contact.created") => ({
      type,
      data: sampleData(type, { now: clock.now() }),
    });
    await store.commit(scope, async (tx) => {
      const work = tx.attempt(async (within) => {
        const { type, data } = told("message.sent");
        appendEvent(within, eventDefinitionOf(type), data, {});
        throw new RangeError("taken back");
      });
      await work.catch(() => {});
      const { type, data } = told("contact.created");
      appendEvent(tx, eventDefinitionOf(type), data, {});
    });
    await expect(
      store.commit(scope, async (tx) => {
        const { type, data } = told("message.sent");
        appendEvent(tx, eventDefinitionOf(type), data, {});
        throw new RangeError("all of it");
      }),
    ).rejects.toThrow("all of it");
    expect((await one.webhooks.deliveries(id)).data.map(({ event_type }) => event_type)).toEqual([
      "contact.created",
    ]);
  });

  it("are listed newest first, by status and type, without repeats or gaps across pages", async () => {
    const { clock, storage, one } = opened();
    const { id } = await one.webhooks.create(hook);
    for (let i = 0; i < 12; i++) {
      await one.sandbox.event({ type: i % 3 === 0 ? "contact.created" : "message.sent" });
      await clock.advance(1);
    }
    const ids = (await rowsOf(storage, deliveries)).map((row) => row.id).toSorted();
    await changeDeliveries(storage, ids.slice(0, 4), failed);
    await changeDeliveries(storage, ids.slice(4, 7), {
      status: "succeeded",
      next_attempt_at: null,
      attempts: 1,
    });
    const listed = async (filters: Parameters<typeof one.webhooks.deliveries>[1], limit = 2) =>
      (await all((page) => one.webhooks.deliveries(id, { ...filters, ...page }), limit)).map(
        (each) => each.id,
      );
    const newest = ids.toReversed();
    expect(await listed({})).toEqual(newest);
    expect(await listed({ status: "failed" })).toEqual(newest.slice(8));
    expect(await listed({ status: "succeeded" })).toEqual(newest.slice(5, 8));
    expect(await listed({ status: "pending" })).toEqual(newest.slice(0, 5));
    expect(await listed({ status: "parked" })).toEqual([]);
    expect(await listed({ event_type: "contact.created" })).toEqual([
      ids[9],
      ids[6],
      ids[3],
      ids[0],
    ]);
    expect(await listed({ event_type: "contact.created", status: "failed" })).toEqual([
      ids[3],
      ids[0],
    ]);
    await one.webhooks.update(id, { status: "paused" });
    expect(await listed({ status: "pending" })).toEqual([]);
    expect(await listed({ status: "parked" })).toEqual(newest.slice(0, 5));
    const { next_cursor } = await one.webhooks.deliveries(id, { limit: 1 });
    const other = one.webhooks.deliveries(id, {
      limit: 1,
      status: "failed",
      cursor: next_cursor ?? "",
    });
    expect(await outcome(other)).toBe("invalid_cursor");
  });

  it("of a test go once to that webhook only, in every status, with a sample event", async () => {
    const { clock, there, one } = opened();
    await one.start();
    await one.webhooks.create({ ...hook, url: "https://other.example.com/" });
    const { id, secret } = await one.webhooks.create({
      ...hook,
      events: ["contact.opted_out", "contact.created"],
    });
    await one.webhooks.update(id, { status: "paused" });
    const tested = await one.webhooks.test(id);
    expect(tested).toMatchObject({
      event_type: "contact.created",
      attempt_count: 0,
      next_attempt_at: tested.created_at,
    });
    await one.webhooks.test(id, { type: "webhook.disabled" });
    await clock.advance(1_000);
    expect(there.seen.map(({ url }) => url)).toEqual([hook.url, hook.url]);
    const events = there.seen.map(({ body }) => anyEventSchema.parse(JSON.parse(body)));
    expect(events.map(({ type }) => type).toSorted()).toEqual([
      "contact.created",
      "webhook.disabled",
    ]);
    expect(there.seen.every((each) => isGenuine(each, secret))).toBe(true);
    expect(await one.webhooks.delivery(id, tested.id)).toMatchObject({
      status: "succeeded",
      next_attempt_at: null,
      attempts: [{ number: 1, manual: true, status_code: 200 }],
    });
    expect((await one.events.list()).data).toEqual([]);
    there.at(hook.url, () => ({ status: 500 }));
    const { id: lost } = await one.webhooks.test(id);
    await clock.advance(120_000);
    expect(there.seen).toHaveLength(3);
    expect(await one.webhooks.delivery(id, lost)).toMatchObject({
      status: "failed",
      next_attempt_at: null,
    });
  });

  it("are redelivered with the same id and bytes, in every status", async () => {
    const { clock, there, one } = opened();
    await one.start();
    const { id } = await one.webhooks.create(hook);
    await one.sandbox.event({ type: "message.sent" });
    await clock.advance(1_000);
    const [made] = (await one.webhooks.deliveries(id)).data;
    const delivery = made?.id ?? "";
    await one.webhooks.update(id, { status: "paused" });
    const asked = await one.webhooks.redeliver(id, delivery);
    expect(asked).toMatchObject({
      id: delivery,
      status: "succeeded",
      next_attempt_at: new Date(clock.now()).toISOString(),
    });
    // The redelivery is already pending.
    expect(await one.webhooks.redeliver(id, delivery)).toEqual(asked);
    await clock.advance(1_000);
    expect(there.seen).toHaveLength(2);
    const [first, again] = there.seen;
    expect([again?.id, again?.body]).toEqual([first?.id, first?.body]);
    expect((await one.webhooks.delivery(id, delivery)).attempts).toMatchObject([
      { number: 1, manual: false },
      { number: 2, manual: true },
    ]);
  });

  it("show their latest five attempts in lists", async () => {
    const { clock, there, one } = opened();
    there.at(hook.url, (_, n) => ({ status: n % 2 === 0 ? 200 : 500, body: `answer ${n}` }));
    await one.start();
    const { id } = await one.webhooks.create(hook);
    await one.sandbox.event({ type: "message.sent" });
    await one.sandbox.event({ type: "message.sent" });
    const [first = expect.fail("no delivery")] = (await one.webhooks.deliveries(id)).data;
    expect(first.attempts).toEqual([]);
    for (let made = 0; made < 7; made++) {
      await clock.advance(1_000);
      await one.webhooks.redeliver(id, first.id);
    }
    await clock.advance(1_000);
    const { data } = await one.webhooks.deliveries(id);
    expect(data.map(({ attempts }) => attempts.map(({ number }) => number))).toEqual([
      [4, 5, 6, 7, 8],
      [1],
    ]);
    for (const { id: each, attempts } of data) {
      expect(attempts).toEqual((await one.webhooks.delivery(id, each)).attempts.slice(-5));
    }
  });

  it("are listed in short pages when their responses are long, and all of them", async () => {
    const { clock, storage, there, one } = opened();
    there.at(hook.url, () => ({ status: 200, body: "x".repeat(16_384) }));
    await one.start();
    const { id } = await one.webhooks.create(hook);
    for (let made = 0; made < 45; made++) await one.sandbox.event({ type: "message.sent" });
    await clock.advance(10_000);
    const first = await rowsOf(storage, deliveryAttempts);
    expect(first).toHaveLength(45);
    const later = first.flatMap((row) => [2, 3, 4, 5].map((number) => ({ ...row, number })));
    await storage
      .begin()
      .commit(later.map((row) => ({ kind: "insert", collection: deliveryAttempts, row })));
    const made = first.map(({ delivery_id }) => delivery_id);
    await changeDeliveries(storage, made, { attempts: 5 });

    const page = await one.webhooks.deliveries(id, { limit: 100 });
    expect(JSON.stringify(page).length).toBeLessThan(3_500_000);
    expect(page.data.length).toBeGreaterThan(20);
    const rest = await one.webhooks.deliveries(id, { limit: 100, cursor: page.next_cursor });
    expect(rest.has_more).toBe(false);
    const listed = [...page.data, ...rest.data];
    expect(listed.map((each) => each.id)).toEqual(made.toSorted().toReversed());
    for (const { attempts } of listed) expect(attempts).toHaveLength(5);
  });

  it.each(["redelivered", "tested"])(
    "of a webhook that is removed while it is %s are gone, and the request finds no webhook",
    async (what) => {
      const { clock, engine, storage, http } = opened();
      const other = engine(storage, { http });
      const { id } = await other.webhooks.create(hook);
      await other.sandbox.event({ type: "message.sent" });
      const [delivery] = await rowsOf(storage, deliveries);
      const isAsked = writesTo(deliveries, what === "tested" ? "insert" : "update");
      const one = engine(
        overtaken(storage, isAsked, () => other.webhooks.remove(id)),
        { http },
      );
      const asked =
        what === "tested" ? one.webhooks.test(id) : one.webhooks.redeliver(id, delivery?.id ?? "");
      expect(await outcome(asked)).toBe("not_found");
      await other.start();
      await clock.advance(1_000);
      expect(await rowsOf(storage, deliveries)).toEqual([]);
    },
  );

  it("are not redelivered after 100 attempts, or through another webhook", async () => {
    const { storage, one } = opened();
    const { id } = await one.webhooks.create(hook);
    const { id: other } = await one.webhooks.create(hook);
    await one.sandbox.event({ type: "message.sent" });
    const [made] = (await one.webhooks.deliveries(id)).data;
    const delivery = made?.id ?? "";
    expect(await outcome(one.webhooks.redeliver(other, delivery))).toBe("not_found");
    expect(await outcome(one.webhooks.delivery(other, delivery))).toBe("not_found");
    await changeDeliveries(storage, [delivery], { ...failed, attempts: 99 });
    expect(await outcome(one.webhooks.redeliver(id, delivery))).toBe("done");
    await changeDeliveries(storage, [delivery], { ...failed, attempts: 100, manual_at: null });
    expect(await outcome(one.webhooks.redeliver(id, delivery))).toBe("conflict");
  });
});

describe.each(hosts)("events in a host application's transaction on $name", ({ open }) => {
  it("are delivered after its commit, and leave no delivery after a rollback", async () => {
    const host = await open();
    const { clock, engine } = world();
    const there = receivers(clock);
    const one = engine(host.connect(), { http: { client: there.client } });
    const { id } = await one.webhooks.create(hook);
    await one.start();
    const types = async () =>
      (await one.webhooks.deliveries(id)).data.map(({ event_type }) => event_type);
    const lost = one.transaction(async (tx) => {
      await one.sandbox.event({ type: "message.sent" }, { tx });
      throw new RangeError("sold out");
    });
    await expect(lost).rejects.toThrow("sold out");
    await one.transaction((tx) => one.sandbox.event({ type: "contact.created" }, { tx }));
    expect(await types()).toEqual(["contact.created"]);
    await clock.advance(1_000);
    expect(there.seen).toHaveLength(1);
  });
});

describe("an event whose transaction commits after its webhook was deleted", () => {
  it("leaves no delivery permanently", async () => {
    const { name, open } = storages.find((each) => each.name === "PostgreSQL") ?? expect.fail();
    expect(name).toBe("PostgreSQL");
    const { clock, engine } = world();
    const ground = open();
    const storage = ground.connect();
    const one = engine(storage, { http: { client: receivers(clock).client } });
    const other = engine(ground.connect());
    const { id } = await one.webhooks.create(hook);
    await one.start();
    await one.transaction(async (tx) => {
      await one.sandbox.event({ type: "message.sent" }, { tx });
      await other.webhooks.remove(id);
      await clock.advance(10_000);
    });
    expect(await partsOf(storage, id)).toMatchObject({ deliveries: 1 });
    await clock.advance(10_000);
    expect(await partsOf(storage, id)).toEqual({
      patterns: [],
      deliveries: 0,
      attempts: 0,
      jobs: [],
    });
  });
});
