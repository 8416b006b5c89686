/** Which messages of an account go first: by category, and single ones before batched ones. */
import { describe, expect, it } from "vitest";
import type { MessagingEngine } from "../../src/engine.ts";
import type { EngineOptions } from "../../src/host/options/options.ts";
import type { Category } from "../../src/messages/types.ts";
import { accepted, carrier, type Carrier, type Script } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { longTest } from "../support/runs.ts";
import { lightStorages, storages, type StorageCase } from "../support/storage/storages.ts";

const person = "+15005551000";
const paced = "+15550000001";
const callMs = 1_000;

interface Mailing {
  readonly size: number;
  readonly body?: string;
  readonly category?: Category;
  readonly from?: string;
  readonly send_at?: string;
}

/** Sends a batch to new recipients. */
async function mail(
  { messages }: MessagingEngine,
  { size, body = "mailing", ...draft }: Mailing,
): Promise<void> {
  // Mailings with other texts have other recipients.
  const area = 200 + body.length;
  const { data } = await messages.batch({
    messages: Array.from({ length: size }, (_, n) => ({
      to: `+1${area}${2_000_000 + n}`,
      body,
      ...draft,
    })),
  });
  expect(data.every(({ ok }) => ok)).toBe(true);
}

interface Settings extends Partial<EngineOptions> {
  readonly script?: Script;
}

/** An engine that has not started, and a carrier that takes a second for each call. */
function begin({ open }: StorageCase, { script, ...settings }: Settings = {}) {
  const { clock, engine } = world();
  const line = carrier({
    send: (_, attempt) => clock.sleep(callMs).then(() => accepted(attempt)),
    ...script,
  });
  const one = engine(open().connect(), { transports: [line], ...settings });
  const callOf = (body: string): number =>
    line.calls.find(({ message }) => message.body === body)?.at ?? Infinity;
  return { clock, engine: one, line, callOf };
}

/** A started engine with a sender of one message per second. */
async function beginPaced(storage: StorageCase) {
  const made = begin(storage, { script: { send: (_, attempt) => accepted(attempt) } });
  await made.engine.senders.create({
    address: paced,
    channels: ["sms"],
    transport: "sandbox",
    messages_per_second: 1,
  });
  await made.engine.start();
  const send = (to: string, body: string, more: object = {}) =>
    made.engine.messages.send({ to, body, from: paced, ...more });
  return { ...made, send };
}

const bodies = ({ calls }: Carrier): string[] => calls.map(({ message }) => message.body);

describe.each(lightStorages)("beside a mailing of the same account, on $name", (storage) => {
  const size = storage.name === "memory" ? 1_000 : 150;

  it("a reply and a one-time code reach the carrier at once", async () => {
    const { clock, engine, line, callOf } = begin(storage, { laneConcurrency: 16 });
    await engine.start();
    const asked = await engine.messages.send({ to: person, body: "How can we help?" });
    await mail(engine, { size });
    await clock.advance(2_500);
    const at = clock.now();
    await engine.conversations.reply(asked.conversation_id, { body: "reply" });
    await engine.messages.send({ to: "+15005551001", body: "code" });
    await clock.settle();
    expect([callOf("reply"), callOf("code")]).toEqual([at, at]);
    expect(bodies(line).filter((body) => body === "mailing").length).toBeLessThan(size / 2);
  });

  it("single messages of a throttled sender go first, except for an eighth", async () => {
    const { clock, engine, line, send } = await beginPaced(storage);
    await mail(engine, { size: 10, from: paced });
    await clock.advance(2_500);
    expect(line.calls).toHaveLength(3);
    for (let n = 0; n < 8; n++) await send(`+1500555${5_000 + n}`, `code ${n}`);
    await clock.advance(9_000);
    const sent = bodies(line).slice(3);
    expect(sent.slice(0, 8).filter((body) => body === "mailing")).toHaveLength(1);
    expect(sent.filter((body) => body !== "mailing")).toEqual(
      Array.from({ length: 8 }, (_, n) => `code ${n}`),
    );
  });
});

describe.each(lightStorages)("a conversation with many marketing messages, on $name", (storage) => {
  it("goes first while a one-time code waits behind them", async () => {
    const { clock, engine, callOf, send } = await beginPaced(storage);
    await mail(engine, { size: 100, from: paced });
    for (let n = 0; n < 60; n++) await send(person, `offer ${n}`, { category: "marketing" });
    const at = clock.now();
    await send(person, "code");
    await clock.advance(80_000);
    expect(callOf("code") - at).toBeLessThan(75_000);
  });
});

const [memory = expect.fail("no storage")] = storages;

describe("the messages of one account", () => {
  it("take turns: a mailing gets an eighth while single messages never stop", async () => {
    const { clock, engine, line } = begin(memory, { laneConcurrency: 4 });
    await mail(engine, { size: 100 });
    await engine.start();
    // Twice as many as the engine can hand over.
    for (let second = 0; second < 16; second++) {
      await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          engine.messages.send({ to: `+1500555${2_000 + second * 8 + n}`, body: "single" }),
        ),
      );
      await clock.advance(callMs);
    }
    // The mailing was alone at first.
    const sent = bodies(line).slice(4);
    const mailed = sent.filter((body) => body === "mailing").length;
    expect(mailed).toBeGreaterThanOrEqual(Math.floor(sent.length / 8));
    expect(mailed).toBeLessThanOrEqual(Math.ceil(sent.length / 8));
  });

  longTest("find free slots beside a mailing, however many single ones are under way", async () => {
    const { clock, engine, line, callOf } = begin(memory, { laneConcurrency: 16 });
    await engine.start();
    await mail(engine, { size: 1_000 });
    const waits: number[] = [];
    for (let n = 0; n < 50; n++) {
      const at = clock.now();
      await engine.messages.send({ to: `+1500555${2_000 + n}`, body: `single ${n}` });
      // Up to five are under way at once.
      await clock.advance(callMs / 5);
      // When the first ones come, the mailing has all slots but two, and keeps them for a second.
      if (n >= 20) waits.push(callOf(`single ${n}`) - at);
    }
    expect(waits).toEqual(waits.map(() => 0));
    expect(bodies(line).filter((body) => body === "mailing").length).toBeGreaterThan(80);
  });

  it("of a mailing leave as soon as single ones make room", async () => {
    const isMailing = ({ body }: { readonly body: string }): boolean => body === "mailing";
    const { clock, engine, line } = begin(memory, {
      laneConcurrency: 16,
      script: {
        send: (message, attempt) =>
          clock.sleep(isMailing(message) ? 60_000 : callMs).then(() => accepted(attempt)),
      },
    });
    await engine.start();
    const singles = Array.from({ length: 8 }, (_, n) =>
      engine.messages.send({ to: `+1500555${2_000 + n}`, body: "single" }),
    );
    await Promise.all(singles);
    await mail(engine, { size: 20 });
    await clock.advance(callMs / 2);
    const mailed = (): number => bodies(line).filter((body) => body === "mailing").length;
    // An eighth of the slots stays free.
    expect(mailed()).toBe(6);
    await clock.advance(callMs / 2);
    expect(mailed()).toBe(14);
  });

  it("leave in the order of their classes, and those of one class in order of acceptance", async () => {
    const { clock, engine, line } = begin(memory, { laneConcurrency: 1 });
    await mail(engine, { size: 1, body: "marketing batch", category: "marketing" });
    await mail(engine, { size: 1, body: "batch" });
    for (const [n, body] of ["marketing 1", "marketing 2"].entries()) {
      await engine.messages.send({ to: `+1500555300${n}`, body, category: "marketing" });
    }
    for (const [n, body] of ["single 1", "single 2"].entries()) {
      await engine.messages.send({ to: `+1500555400${n}`, body });
    }
    await engine.start();
    await clock.advance(10 * callMs);
    expect(bodies(line)).toEqual([
      "single 1",
      "single 2",
      "batch",
      "marketing 1",
      "marketing 2",
      "marketing batch",
    ]);
  });

  it("keep the order of a conversation: an urgent message pulls the earlier ones forward", async () => {
    const { clock, engine, line } = begin(memory, { laneConcurrency: 1 });
    const offer = { body: "offer", category: "marketing" } as const;
    await mail(engine, { size: 20, category: "marketing" });
    await engine.messages.batch({ messages: [{ to: person, ...offer }] });
    await engine.start();
    await clock.advance(callMs / 2);
    await engine.messages.send({ to: person, body: "code" });
    await clock.advance(3 * callMs);
    expect(bodies(line)).toEqual(["mailing", "offer", "code", "mailing"]);
  });

  it("lose their better class when the urgent message of their conversation has left", async () => {
    const { clock, engine, line, send } = await beginPaced(memory);
    await mail(engine, { size: 3, from: paced, category: "marketing" });
    await clock.advance(500);
    await send(person, "code");
    await send(person, "offer", { category: "marketing", ttl_seconds: 86_400 });
    // It expires after the offer, so in one class it would go after it.
    await send("+15005551001", "later code", { ttl_seconds: 90_000 });
    await clock.advance(10_000);
    expect(bodies(line)).toEqual(["mailing", "code", "later code", "offer", "mailing", "mailing"]);
  });

  it("of a scheduled batch let others go first when they are due", async () => {
    const { clock, engine, line, callOf } = begin(memory, { laneConcurrency: 1 });
    await engine.start();
    const send_at = new Date(clock.now() + 60_000).toISOString();
    await mail(engine, { size: 100, send_at });
    await engine.messages.send({ to: "+15005551001", body: "reminder", send_at });
    await clock.advance(60_500);
    expect(bodies(line)).toEqual(["reminder"]);
    await clock.advance(callMs);
    await engine.messages.send({ to: person, body: "code" });
    await clock.advance(callMs);
    expect(bodies(line)).toEqual(["reminder", "mailing", "code"]);
    expect(callOf("code")).toBe(callOf("mailing") + callMs);
  });

  it("find a free slot for a one-time code while a mailing waits for a carrier that hangs", async () => {
    const script = { send: () => new Promise<never>(() => {}) };
    const { clock, engine, line, callOf } = begin(memory, { laneConcurrency: 8, script });
    await engine.start();
    await mail(engine, { size: 20 });
    await clock.advance(1_000);
    expect(bodies(line)).toHaveLength(7);
    await engine.messages.send({ to: person, body: "code" });
    const at = clock.now();
    await clock.settle();
    expect(callOf("code")).toBe(at);
  });
});
