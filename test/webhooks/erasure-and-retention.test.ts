/** Deliveries after erasure, redaction, the retention time and a reset of the sandbox. */
import { describe, expect, it } from "vitest";
import { events } from "../../src/events/rows.ts";
import { anyEventSchema } from "../../src/webhooks/event-catalog.ts";
import type { CreateWebhook } from "../../src/webhooks/input-types.ts";
import { deliveries, deliveryAttempts, webhooks } from "../../src/webhooks/rows.ts";
import { stopped } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { all, everyEvent } from "../support/pages.ts";
import { overtaken, writesTo } from "../support/storage/groups.ts";
import { rowsOf, tablesWith } from "../support/storage/rows.ts";
import { lightStorages } from "../support/storage/storages.ts";
import type { Behavior } from "./receivers.ts";
import { changeDeliveries } from "./rows.ts";
import { openedOn } from "./world.ts";

const hook: CreateWebhook = { url: "https://hooks.example.com/in", events: ["*"] };
const phone = "+4915112345678";
const dayMs = 86_400_000;

/** A receiver that returns the request's body, and in a header, too. */
const echo: Behavior = ({ body }) => ({
  body,
  headers: { "x-echo": Buffer.from(body).toString("latin1").slice(0, 500) },
});

describe.each(lightStorages)("the content of deliveries on $name", ({ open }) => {
  const opened = (options = {}) => openedOn(open(), options);

  it("is deleted with the contact, including responses; pending deliveries are canceled", async () => {
    const { clock, storage, there, one } = opened();
    there.at(hook.url, echo);
    await one.start();
    const { id: webhook } = await one.webhooks.create(hook);
    const { id: silent } = await one.webhooks.create({
      ...hook,
      url: "https://other.example.com/",
    });
    const { id: third } = await one.webhooks.create({ ...hook, url: "https://third.example.com/" });
    for (const each of [silent, third]) await one.webhooks.update(each, { status: "paused" });
    const { contact_id } = await one.sandbox.inbound({ from: phone, body: "octopus" });
    await one.contacts.update(contact_id, { name: "Zebulon" });
    const fired = { type: "contact.updated", contact_id } as const;
    await one.sandbox.event(fired, { idempotencyKey: "event" });
    await Promise.all(Array.from({ length: 60 }, () => one.sandbox.event(fired)));
    await clock.advance(2_000);
    for (const word of ["octopus", "zebulon", phone]) {
      const found = await tablesWith(storage, [word]);
      expect(found).toEqual(
        expect.arrayContaining([`deliveries: ${word}`, `delivery_attempts: ${word}`]),
      );
    }
    const before = await rowsOf(storage, deliveries);

    await one.contacts.erase(contact_id);

    expect(await tablesWith(storage, ["octopus", "zebulon", phone])).toEqual([]);
    const all = await rowsOf(storage, deliveries);
    const [left, ofErasure] = [all.slice(0, before.length), all.slice(before.length)];
    expect(left.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    // Each webhook is told of the erasure.
    expect(ofErasure.map(({ body }) => body?.includes("contact.erased"))).toEqual(
      Array(3).fill(true),
    );
    expect(
      new Set(
        left.map(
          ({ status, webhook_id }) => `${webhook_id === webhook ? "echo" : "paused"} ${status}`,
        ),
      ),
    ).toEqual(new Set(["echo succeeded", "paused canceled"]));
    expect(await rowsOf(storage, deliveryAttempts)).toHaveLength(before.length / 3);
    const first = left.find(({ webhook_id }) => webhook_id === webhook);
    expect(await one.webhooks.delivery(webhook, first?.id ?? "")).toMatchObject({
      body: null,
      attempts: [{ number: 1, status_code: 200, response_headers: {}, response_body: null }],
    });
    expect(await outcome(one.webhooks.redeliver(webhook, first?.id ?? ""))).toBe("conflict");
    expect(await outcome(one.sandbox.event(fired, { idempotencyKey: "event" }))).toBe("erased");
    expect(await outcome(one.sandbox.event(fired))).toBe("validation_failed");
    there.seen.splice(0);
    await one.webhooks.update(silent, { status: "enabled" });
    await one.webhooks.recover(silent, { since: "2000-01-01T00:00:00Z" });
    await clock.advance(60_000);
    expect(JSON.stringify(there.seen)).not.toMatch(/octopus|zebulon|4915112345678/i);
    for (const event of await everyEvent(one)) {
      expect(anyEventSchema.safeParse(event).error).toBeUndefined();
    }
  });

  it("is deleted with the contact, also if later events go to more webhooks than earlier ones", async () => {
    const { storage, one } = opened();
    for (const body of ["octopus", "octopus again", "and again"]) {
      await one.sandbox.inbound({ from: phone, body });
      for (const path of ["a", "b", "c"]) {
        const url = `https://hooks.example.com/${path}`;
        await one.webhooks.create({ url, events: ["message.received"] });
      }
    }
    const { contact_id } = await one.sandbox.inbound({ from: phone, body: "octopus" });
    expect(await rowsOf(storage, deliveries)).toHaveLength(3 + 6 + 9);
    await one.contacts.erase(contact_id);
    expect(await tablesWith(storage, ["octopus", phone])).toEqual([]);
  });

  it("of an erased contact does not block a webhook that becomes a fifo one meanwhile", async () => {
    const { clock, engine, ground, there, one } = opened();
    let isUp = false;
    there.at(hook.url, () => ({ status: isUp ? 204 : 503 }));
    await one.start();
    const { id: webhook } = await one.webhooks.create({ ...hook, events: ["message.received"] });
    const { contact_id } = await one.sandbox.inbound({ from: phone, body: "octopus" });
    // Two attempts have failed. The next one follows in ten minutes.
    await clock.advance(100_000);
    await one.sandbox.inbound({ from: "+4915187654321", body: "squid" });
    await clock.advance(1_000);
    const other = engine(
      overtaken(ground.connect(), writesTo(deliveries), async () => {
        await one.webhooks.update(webhook, { ordering: "fifo" });
        // The webhook now waits for the first delivery, which is about to be canceled.
        await clock.advance(500);
      }),
    );
    await other.contacts.erase(contact_id);
    isUp = true;
    there.seen.splice(0);
    await clock.advance(90_000);
    expect(there.seen.map(({ body }) => body.includes("squid"))).toEqual([true]);
  });

  it("is deleted with the contact, also during an attempt and before a manual redelivery", async () => {
    const { clock, storage, there, one } = opened();
    there.at(hook.url, (request, n) => ({ ...echo(request, n), status: 500, after: 5_000 }));
    await one.start();
    const { id: webhook } = await one.webhooks.create({ ...hook, events: ["contact.updated"] });
    const { id: contact_id } = await one.contacts.create({ phone, name: "Zebulon" });
    // An unproven webhook gets one request at a time.
    for (let i = 0; i < 2; i++) await one.sandbox.event({ type: "contact.updated", contact_id });
    await clock.advance(1_000);
    expect(there.seen).toHaveLength(1);
    for (const { id } of (await one.webhooks.deliveries(webhook)).data) {
      await one.webhooks.redeliver(webhook, id);
    }
    await one.contacts.erase(contact_id);
    await clock.advance(120_000);
    expect(there.seen).toHaveLength(1);
    expect(await tablesWith(storage, ["zebulon", phone])).toEqual([]);
    expect((await one.webhooks.deliveries(webhook)).data).toMatchObject([
      { status: "canceled", next_attempt_at: null },
      { status: "canceled", next_attempt_at: null },
    ]);
  });

  it("is redacted with its message, including responses, and is sent redacted from then on", async () => {
    const { clock, storage, there, one } = opened();
    there.at(hook.url, echo);
    await one.start();
    await one.webhooks.create({ ...hook, events: ["message.received"] });
    const { id: later } = await one.webhooks.create({
      url: "https://other.example.com/",
      events: ["message.received"],
    });
    await one.webhooks.update(later, { status: "paused" });
    const { id } = await one.sandbox.inbound({ from: phone, body: "octopus" });
    await one.sandbox.inbound({ from: phone, body: "tangerine" });
    await clock.advance(1_000);
    await one.messages.redact(id);
    expect(await tablesWith(storage, ["octopus"])).toEqual([]);
    expect(await tablesWith(storage, ["tangerine"])).toContain("delivery_attempts: tangerine");
    there.seen.splice(0);
    await one.webhooks.update(later, { status: "enabled" });
    await clock.advance(1_000);
    const told = there.seen.map(({ body }) => anyEventSchema.parse(JSON.parse(body)));
    const words = told.map(({ data }) => ("body" in data ? data.body : undefined));
    expect(new Set(words)).toEqual(new Set(["", "tangerine"]));
  });

  it("of an erased contact does not block a fifo webhook", async () => {
    const { clock, there, one } = opened();
    there.at(hook.url, (_, n) => (n === 0 ? { status: 500 } : {}));
    await one.start();
    await one.webhooks.create({ ...hook, events: ["message.received"], ordering: "fifo" });
    const { contact_id } = await one.sandbox.inbound({ from: phone, body: "octopus" });
    await one.sandbox.inbound({ from: "+4915112345679", body: "tangerine" });
    await clock.advance(1_000);
    expect(there.seen).toHaveLength(1);
    await one.contacts.erase(contact_id);
    await clock.advance(1_000);
    expect(there.seen.map(({ body }) => body.includes("tangerine"))).toEqual([false, true]);
  });

  it("is redacted in a response that arrives after the redaction", async () => {
    const { clock, storage, there, one } = opened();
    there.at(hook.url, (request, n) => ({ ...echo(request, n), after: 5_000 }));
    await one.start();
    await one.webhooks.create({ ...hook, events: ["message.received"] });
    const { id } = await one.sandbox.inbound({ from: phone, body: "octopus" });
    await clock.advance(1_000);
    expect(there.seen).toHaveLength(1);
    await one.messages.redact(id);
    await clock.advance(10_000);
    expect(await rowsOf(storage, deliveryAttempts)).toMatchObject([
      { status_code: 200, response_body: null },
    ]);
    expect(await tablesWith(storage, ["octopus"])).toEqual([]);
  });

  it("is kept for the retention time of events, and no event is deleted before its deliveries", async () => {
    const { clock, started, ground, storage, there, one } = opened({ eventRetentionDays: 2 });
    there.at(hook.url, echo);
    const { id } = await one.webhooks.create(hook);
    await Promise.all(
      Array.from({ length: 230 }, () => one.sandbox.event({ type: "message.sent" })),
    );
    await clock.advance(dayMs);
    const young = await one.sandbox.event({ type: "contact.created" });
    const rows = await rowsOf(storage, deliveries);
    // As if another engine's clock had been ahead.
    const [stays] = rows;
    await changeDeliveries(storage, [stays?.id ?? ""], {
      created_at: clock.now(),
      status: "canceled",
      next_attempt_at: null,
    });
    await changeDeliveries(
      storage,
      rows.slice(1, 50).map((row) => row.id),
      { status: "failed", next_attempt_at: null },
    );
    await one.webhooks.update(id, { status: "paused" });
    await clock.advance(dayMs + 1);
    const two = await started(ground.connect(), { eventRetentionDays: 2 });
    await clock.settle();
    const left = await all((page) => one.webhooks.deliveries(id, page));
    const expected = new Set([stays?.event_id, young.id]);
    expect(new Set(left.map(({ event_id }) => event_id))).toEqual(expected);
    expect(new Set((await rowsOf(storage, events)).map((event) => event.id))).toEqual(expected);
    await stopped(two, clock);
    await started(ground.connect(), { eventRetentionDays: 1 });
    await clock.settle();
    expect(await rowsOf(storage, deliveries)).toEqual([]);
    expect(await rowsOf(storage, events)).toEqual([]);
  });

  it("is deleted by a reset of the sandbox; webhooks stay and get later events", async () => {
    const { clock, storage, there, one } = opened();
    await one.start();
    const { account } = await one.accounts.create({ name: "neighbour" });
    const neighbour = one.account(account.id);
    await neighbour.webhooks.create({ ...hook, url: "https://neighbour.example.com/" });
    await neighbour.sandbox.event({ type: "message.sent" });
    const { secret: _, ...webhook } = await one.webhooks.create(hook);
    await Promise.all(
      Array.from({ length: 230 }, () => one.sandbox.event({ type: "message.sent" })),
    );
    await clock.advance(1_000);
    await one.sandbox.reset();
    expect((await one.webhooks.list()).data).toEqual([webhook]);
    expect((await one.webhooks.deliveries(webhook.id)).data).toEqual([]);
    expect(await rowsOf(storage, deliveries)).toHaveLength(1);
    expect(await rowsOf(storage, deliveryAttempts)).toHaveLength(1);
    expect(await rowsOf(storage, webhooks)).toHaveLength(2);
    there.seen.splice(0);
    const event = await one.sandbox.event({ type: "contact.created" });
    await clock.advance(1_000);
    expect(there.seen.map(({ id }) => id)).toEqual([event.id]);
  });
});
