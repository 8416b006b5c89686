/**
 * How many round trips and rows it takes to erase, redact, merge and expire what many rows belong
 * to. Other commands wait for each transaction, so none may take a round trip for each row.
 */
import { describe, expect, it } from "vitest";
import { runs } from "../../src/agents/runs/rows.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { consumerEvents } from "../../src/events/consumers/rows.ts";
import type { EngineOptions } from "../../src/host/options/options.ts";
import { observations } from "../../src/observations/rows.ts";
import { idempotency } from "../../src/operations/execution/rows.ts";
import { standardHistoryChunks } from "../../src/operations/runtime.ts";
import type { Collection } from "../../src/ports/collection.ts";
import type { Write } from "../../src/ports/storage.ts";
import { mail } from "../../src/webchat/rows.ts";
import {
  deliveries,
  deliveryAttempts,
  webhookPatterns,
  webhooks,
  type WebhookRow,
} from "../../src/webhooks/rows.ts";
import { stopped, world } from "../support/engines/world.ts";
import { cases, longTest } from "../support/runs.ts";
import { counting } from "../support/storage/counting.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { embeddedStorages, lightStorages, storages } from "../support/storage/storages.ts";
import { receivers } from "../webhooks/receivers.ts";

const phone = "+15005550101";
const dayMs = 86_400_000;
/** Many rows, but not more than one transaction handles. */
const many = 24;
/** No transaction needs as many round trips as this. */
const few = 20;

type Counted = ReturnType<typeof opened>;

function opened({ open }: (typeof storages)[number], options: Partial<EngineOptions> = {}) {
  const { clock, engine, started } = world();
  const { counted, counts, reset } = counting(open().connect());
  const there = receivers(clock);
  const start = async (): Promise<MessagingEngine> => {
    const one = await started(counted, { http: { client: there.client }, ...options });
    return one;
  };
  const one = engine(counted, { http: { client: there.client }, ...options });
  const writesOf = (collection: Collection): number =>
    counts.writes.flat().filter((each) => each.collection === collection && each.kind !== "hold")
      .length;
  return { clock, storage: counted, one, start, counts, reset, writesOf };
}

/** Creates webhooks that subscribe to every event. */
async function subscribe(
  { one, storage }: Pick<Counted, "one" | "storage">,
  count: number,
  like: Partial<WebhookRow> = {},
): Promise<void> {
  await one.webhooks.create({ url: "https://hooks.example/first", events: ["*"] });
  const [first] = await rowsOf(storage, webhooks);
  if (first === undefined) throw new Error("the webhook is not stored");
  const { account_id, mode } = first;
  const ids = Array.from({ length: count - 1 }, (_, i) => `wh_${i}`);
  await storage.begin().commit(
    ids.flatMap((id, i) => [
      {
        kind: "insert" as const,
        collection: webhooks,
        row: {
          ...first,
          ...like,
          id,
          ordinal: i + 10,
          url: `https://hooks.example/${i}`,
          version: 1,
        },
      },
      {
        kind: "insert" as const,
        collection: webhookPatterns,
        row: { account_id, mode, pattern: "*", webhook_id: id, version: 1 },
      },
    ]),
  );
}

/** The event that tells the erasure has deliveries of its own, which are inserted. */
const isErased = ({ collection, kind }: Write): boolean =>
  collection === deliveries && kind === "update";

describe.each(lightStorages)("an erasure of a contact with many deliveries on $name", (storage) => {
  it("writes each delivery once, and does not read all of them in each transaction", async () => {
    const there = opened(storage);
    const { one, counts, reset } = there;
    await subscribe(there, 600);
    const { contact_id } = await one.sandbox.inbound({ from: phone, body: "Hello" });
    const { length } = await rowsOf(there.storage, deliveries);
    reset();
    await one.contacts.erase(contact_id);
    expect(counts.writes.flat().filter(isErased)).toHaveLength(length);
    // Each is read in at most two transactions, together with its webhook.
    expect(counts.rows).toBeLessThan(4 * length);
    const sizes = counts.writes.map((writes) => writes.filter(isErased).length);
    expect(Math.max(...sizes)).toBe(standardHistoryChunks.deliveries);
  });
});

const embedded = cases(embeddedStorages, ({ name }) => name === "SQLite");

it.each(embedded)(
  "a visitor's mailbox is removed with its messages, not in one transaction, on $name",
  async (storage) => {
    const { one, start, clock, counts, reset, storage: stored } = opened(storage);
    const { contact_id } = await one.webchat.open();
    const texts = Array.from({ length: standardHistoryChunks.rows + 10 }, (_, i) => `Text ${i}`);
    for (const body of texts) {
      await one.messages.send({ to: contact_id, channel: "webchat", body });
    }
    await start();
    await clock.advanceUntil(async () => (await rowsOf(stored, mail)).length === texts.length);
    reset();
    await one.contacts.erase(contact_id);
    const removed = counts.writes.map((writes) => writes.filter(isOf(mail)).length);
    expect(removed.filter((count) => count > 0)).toEqual([standardHistoryChunks.rows, 10]);
    expect(await rowsOf(stored, mail)).toEqual([]);
  },
);

it.each(embedded)(
  "a number that a contact gives up is forgotten in few reads of its stored responses, on $name",
  async (storage) => {
    const { one, counts, reset, storage: stored, writesOf } = opened(storage);
    const { id } = await one.contacts.create({ phone });
    await one.contacts.setConsent(id, "text", { status: "opted_out" });
    const refused = one.messages.send({ to: phone, body: "Hi" }, { idempotencyKey: "key" });
    await expect(refused).rejects.toMatchObject({ code: "recipient_opted_out" });
    const shown = (await rowsOf(stored, idempotency)).find(({ key }) => key === "key");
    const rows = Array.from({ length: 2_999 }, (_, i) => ({ ...shown, key: `key-${i}` }));
    const insertions = rows.map(
      (row) => ({ kind: "insert", collection: idempotency, row }) as const,
    );
    await stored.begin().commit(insertions);
    reset();
    await one.contacts.update(id, { phone: "+15005550102" });
    expect(writesOf(idempotency)).toBe(3_000);
    expect(counts.rows).toBeLessThan(3 * 3_000);
  },
);

const postgres = storages.filter(({ name }) => name === "PostgreSQL");

describe.each(postgres)("on $name, no transaction takes a round trip for each", (storage) => {
  it("delivery of an erased contact", async () => {
    const there = opened(storage);
    await subscribe(there, many, { ordering: "fifo" });
    const { contact_id } = await there.one.sandbox.inbound({ from: phone, body: "Hello" });
    there.reset();
    await there.one.contacts.erase(contact_id);
    expect(there.counts.mostReads).toBeLessThan(few);
    // All events of the contact fit into one transaction.
    expect(there.counts.writes.filter((writes) => writes.some(isErased))).toHaveLength(1);
  });

  it("attempt to deliver the events of an erased contact", async () => {
    const there = opened(storage);
    await subscribe(there, many);
    const { contact_id } = await there.one.sandbox.inbound({ from: phone, body: "Hello" });
    await there.start();
    await there.clock.advance(5_000);
    const { length } = await rowsOf(there.storage, deliveryAttempts);
    expect(length).toBeGreaterThanOrEqual(many);
    there.reset();
    await there.one.contacts.erase(contact_id);
    expect(there.counts.mostReads).toBeLessThan(few);
    expect(there.writesOf(deliveryAttempts)).toBe(length);
  });

  it("conversation and observation of an erased contact", async () => {
    const there = opened(storage);
    const contact_id = await withConversations(there, many);
    await withObservations(there, contact_id, many);
    there.reset();
    await there.one.contacts.erase(contact_id);
    expect(there.counts.mostReads).toBeLessThan(few);
  });

  longTest("contact that was merged before", async () => {
    const there = opened(storage);
    const { id: other } = await there.one.contacts.create({ name: "Other" });
    for (let i = 0; i < many; i++) {
      const { id } = await there.one.contacts.create({ name: `Contact ${i}`, labels: ["old"] });
      await there.one.contacts.merge(other, id);
    }
    const { id } = await there.one.contacts.create({ name: "Survivor" });
    there.reset();
    await there.one.contacts.merge(id, other);
    expect(there.counts.mostReads).toBeLessThan(few);
    there.reset();
    await there.one.contacts.erase(id);
    expect(there.counts.mostReads).toBeLessThan(few);
  });

  longTest("delivery of a redacted message", async () => {
    const there = opened(storage);
    await subscribe(there, many);
    const { id } = await there.one.sandbox.inbound({ from: phone, body: "Hello" });
    await there.start();
    await there.clock.advance(5_000);
    there.reset();
    await there.one.messages.redact(id);
    // Each delivery loses the text, and each webhook gets one for the event of the redaction.
    expect(there.writesOf(deliveries)).toBe(many + many);
    expect(there.writesOf(deliveryAttempts)).toBe(many);
    expect(there.counts.mostReads).toBeLessThan(few);
  });

  longTest("run that may quote a redacted message, and each run that has expired", async () => {
    const there = opened(storage, { agents: { model: () => ({ text: "Hello" }) } });
    const one = await there.start();
    await one.agents.create({ name: "Ada", channels: ["sms"], instructions: "Answer." });
    const { id } = await one.sandbox.inbound({ from: phone, body: "Hello" });
    for (let i = 0; i < many; i++) {
      await there.clock.advance(5_000);
      await one.sandbox.inbound({ from: phone, body: `Hello ${i}` });
    }
    await there.clock.advance(5_000);
    there.reset();
    await one.messages.redact(id);
    expect(there.counts.mostReads).toBeLessThan(few);
    expect(there.writesOf(runs)).toBeGreaterThan(10);

    await stopped(one, there.clock);
    there.clock.step(400 * dayMs);
    there.reset();
    await there.start();
    await there.clock.advance(60_000);
    expect(there.writesOf(runs)).toBeGreaterThan(few);
    expect(there.counts.mostReads).toBeLessThan(few);
  });

  longTest("idempotency key and observation that has expired", async () => {
    const there = opened(storage);
    const one = await there.start();
    const { contact_id } = await one.sandbox.inbound({ from: phone, body: "Hello" });
    for (let i = 0; i < many; i++) {
      await one.messages.send({ to: phone, body: `Text ${i}` }, { idempotencyKey: `key-${i}` });
    }
    await withObservations(there, contact_id, many);
    await there.clock.advance(60_000);
    await stopped(one, there.clock);
    there.clock.step(2 * dayMs);
    there.reset();
    await there.start();
    await there.clock.advance(60_000);
    expect(there.writesOf(idempotency)).toBeGreaterThanOrEqual(many);
    expect(there.writesOf(observations)).toBe(many);
    expect(there.counts.mostReads).toBeLessThan(few);
  });

  longTest("conversation whose events wait for a removed consumer", async () => {
    const there = opened(storage);
    const one = await there.start();
    const refuse = (): never => {
      throw new Error("not now");
    };
    const consumer = one.consume("notes", ["message.received"], refuse, { from: "beginning" });
    for (let i = 0; i < many; i++) {
      await one.sandbox.inbound({ from: `+1500555${1000 + i}`, body: "Hello" });
    }
    await there.clock.advance(10_000);
    await consumer.stop();
    there.reset();
    await one.removeConsumer("notes");
    expect(there.writesOf(consumerEvents)).toBe(many);
    expect(there.counts.mostReads).toBeLessThan(few);
  });
});

const isOf =
  (collection: Collection) =>
  (write: Write): boolean =>
    write.collection === collection;

/** Creates a contact with closed conversations. Returns its id. */
async function withConversations({ one, clock }: Counted, count: number): Promise<string> {
  let contact_id = "";
  for (let i = 0; i < count; i++) {
    const sent = await one.sandbox.inbound({ from: phone, body: `Message ${i}` });
    await one.conversations.update(sent.conversation_id, { status: "closed" });
    await one.conversations.setLabels(sent.conversation_id, ["old"]);
    // So that the next message does not open it again.
    clock.step(30 * dayMs);
    ({ contact_id } = sent);
  }
  return contact_id;
}

async function withObservations({ one, clock }: Counted, contact: string, count: number) {
  const expires_at = new Date(clock.now() + dayMs).toISOString();
  for (let i = 0; i < count; i++) {
    const noticed = { content: `Likes dish ${i}.`, kind: "diet", expires_at };
    await one.contacts.addObservation(contact, noticed, { idempotencyKey: `observation-${i}` });
  }
}
