/** A user's tests with a world of engines. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { sqlite } from "../../../adapters/storage/sqlite/index.ts";
import {
  scriptedCarrier,
  scriptedModel,
  scriptedReceiver,
  world,
  type Fault,
  type MetFault,
  type ScriptedCarrier,
  type World,
  type WorldOptions,
} from "../../../adapters/testing/index.ts";
import { sandbox } from "../../../adapters/transport/sandbox/index.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { over } from "../../support/over.ts";
import { isLong } from "../../support/runs.ts";

const to = "+15005550101";
const body = "Your order is ready.";

const storages: readonly { readonly name: string; readonly open: () => StoragePort }[] = [
  { name: "memory", open: memory },
  {
    name: "SQLite",
    open() {
      const folder = mkdtempSync(join(tmpdir(), "tidings-world-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      return sqlite({ file: join(folder, "test.db") });
    },
  },
];

describe.each(storages)("on $name", ({ name, open }) => {
  function shop(options: Partial<WorldOptions> = {}): { carrier: ScriptedCarrier; shop: World } {
    const carrier = scriptedCarrier();
    const made = world({ storage: open(), transports: [carrier], ...options });
    onTestFinished(() => made[Symbol.asyncDispose]());
    return { carrier, shop: made };
  }

  test("a message is sent, and its receipt makes it delivered", async () => {
    const { carrier, shop: w } = shop();
    const { id } = await w.run((engine) => engine.messages.send({ to, body }));
    await w.settle();
    expect(carrier.handedOver).toMatchObject([{ message: { message_id: id, to, body } }]);
    expect((await w.engine().messages.get(id)).status).toBe("delivered");
  });

  test("a call whose process crashes throws, and the error names the way out", async () => {
    const { shop: w } = shop();
    w.inject("crashBeforeCommit");
    await expect(w.run((engine) => engine.messages.send({ to, body }))).rejects.toThrow(
      "The outcome of the call is unknown: engine 1 ended before it answered. `begin` returns that instead of throwing.",
    );
  });

  test("an observer learns which call each fault happened to, and what it would have written", async () => {
    const met: MetFault[] = [];
    const { shop: w } = shop({ observe: { onFault: (each) => met.push(each) } });
    await w.settle();
    w.inject("commitFailsBefore");
    await w.begin((engine) => engine.messages.send({ to, body }));
    w.inject("sendFailsAfter");
    await w.begin((engine) => engine.messages.send({ to, body }));
    await w.advance(60_000);
    const [commit, send] = met;
    expect(commit).toMatchObject({
      fault: "commitFailsBefore",
      engine: "engine 1",
      call: "commit",
    });
    expect(commit?.collections).toContain("messages");
    expect(commit?.writes.map(({ collection }) => collection.name)).toContain("messages");
    expect(send).toEqual({
      fault: "sendFailsAfter",
      engine: "engine 1",
      call: "send",
      collections: [],
      writes: [],
    });
  });

  test("a fault can be aimed at the commits that write a collection", async () => {
    const met: MetFault[] = [];
    const { shop: w } = shop({ observe: { onFault: (each) => met.push(each) } });
    w.inject("commitFailsBefore", { where: ({ collections }) => collections.includes("notes") });
    const { conversation_id } = await w.run((engine) => engine.messages.send({ to, body }));
    await w.advance(60_000);
    expect(met).toEqual([]);
    const note = w.run((engine) => engine.conversations.addNote(conversation_id, { body }));
    await expect(note).rejects.toMatchObject({ code: "storage_unavailable" });
    expect(met.map(({ collections }) => collections.includes("notes"))).toEqual([true]);
  });

  test("two injections of one fault happen each at the call that it names", async () => {
    const { carrier, shop: w } = shop();
    await w.settle();
    w.inject("sendFailsBefore", { after: 2 });
    w.inject("sendFailsBefore");
    const sent: boolean[] = [];
    for (let i = 0; i < 4; i++) {
      const before = carrier.calls.length;
      await w.begin((engine) => engine.messages.send({ to: `+1500555010${i}`, body }));
      await w.advance(500);
      sent.push(carrier.calls.length > before);
    }
    expect(sent).toEqual([false, true, false, true]);
  });

  test("a text that comes while no engine runs is delivered to the next one, hours later", async () => {
    const { carrier, shop: w } = shop();
    await w.run((engine) => engine.messages.send({ to, body }));
    await w.settle();
    const [{ message } = expect.fail("nothing was sent")] = carrier.handedOver;
    w.crash("engine 1");
    carrier.text({ from: to, to: message.from, body: "Thanks" });
    await w.advance(2 * 3_600_000);
    expect(carrier.undelivered).toBe(1);
    w.restart("engine 1");
    await w.settle();
    const { data } = await w.run((engine) => engine.messages.list());
    expect(data.filter(({ direction }) => direction === "inbound")).toMatchObject([
      { body: "Thanks" },
    ]);
  });

  test("a process that crashes after the carrier has the message does not send it again", async () => {
    const { carrier, shop: w } = shop({ engines: 2 });
    // A started engine calls the carrier as soon as it has committed the message.
    for (let i = 0; i < 4; i++) await w.run((engine) => engine.messages.list());
    w.inject("crashAfterSend");
    const { id } = await w.run((engine) => engine.messages.send({ to, body }));
    await w.settle();
    expect(carrier.calls).toHaveLength(1);
    expect((await w.engine().messages.get(id)).status).toBe("delivered");
    expect(w.story.tell()).toMatch(/engine \d crashes before it gets the carrier's answer/);
  });

  test("a lost commit answer is told as unknown, and its key tells what became of it", async () => {
    const { carrier, shop: w } = shop();
    await w.run((engine) => engine.messages.list());
    w.inject("commitFailsAfter");
    const send = () =>
      w.begin((engine) => engine.messages.send({ to, body }, { idempotencyKey: "order-7" }));
    const first = send();
    await w.advance(1_000);
    expect(await first).toMatchObject({ outcome: "unknown" });
    const again = send();
    await w.advance(1_000);
    expect(await again).toMatchObject({ outcome: "done" });
    await w.settle();
    expect(carrier.handedOver).toHaveLength(1);
  });

  test("a lost connection is back on time, even if the clock is set back meanwhile", async () => {
    const { shop: w } = shop();
    await w.run((engine) => engine.messages.list());
    w.inject("connectionLost");
    const send = () => w.begin((engine) => engine.messages.send({ to, body }));
    const lost = send();
    await w.advance(1);
    expect(await lost).toMatchObject({ outcome: "unknown" });
    w.clock.step(-3_600_000);
    await w.advance(30_000);
    const sent = send();
    await w.advance(1_000);
    expect(await sent).toMatchObject({ outcome: "done" });
    await w.settle({ withinMs: 600_000 });
  });

  test("a call with an invalid option of the engine is refused", async () => {
    const { shop: w } = shop();
    const mode = "test" as "sandbox";
    const call = w.begin((engine) => engine.account(undefined, { mode }).messages.list());
    await w.advance(1_000);
    expect(await call).toMatchObject({ outcome: "refused", error: { code: "invalid_option" } });
  });

  test("a crashed engine answers nothing, and its work goes on after the restart", async () => {
    const { carrier, shop: w } = shop();
    await w.run((engine) => engine.messages.list());
    const engine = w.engine();
    const send_at = "2026-01-01T00:05:00Z";
    const { id } = await w.run(() => engine.messages.send({ to, body, send_at }));
    w.crash("engine 1");
    let answered = false;
    void engine.messages.get(id).finally(() => (answered = true));
    await w.advance(600_000);
    expect([answered, carrier.calls.length]).toEqual([false, 0]);
    expect(() => w.engine()).toThrow("engine is down. Call restart() or settle() first.");
    w.restart("engine 1");
    await w.settle();
    expect(carrier.handedOver).toHaveLength(1);
  });

  test("a call waits for the restart if its engine crashes before it can begin", async () => {
    const { shop: w } = shop();
    const call = w.begin((engine) => engine.messages.send({ to, body }));
    w.crash("engine 1", { forMs: 5_000 });
    await w.advance(10_000);
    expect(await call).toMatchObject({ outcome: "done" });
  });

  test("an engine that is cut off from the carrier hands its messages over later", async () => {
    const { carrier, shop: w } = shop();
    w.partition("engine 1", "carrier");
    await w.run((engine) => engine.messages.send({ to, body }));
    await w.advance(5_000);
    expect(carrier.calls).toEqual([]);
    w.heal("engine 1");
    await w.settle();
    expect(carrier.handedOver).toHaveLength(1);
  });

  test("an engine that is cut off from the storage fails, and another one goes on", async () => {
    const { carrier, shop: w } = shop({ engines: 2 });
    await w.run((engine) => engine.messages.list(), { engine: "engine 1" });
    w.partition("engine 1", "storage");
    const send = (engine: string) => w.run((each) => each.messages.send({ to, body }), { engine });
    await expect(send("engine 1")).rejects.toMatchObject({ code: "storage_unavailable" });
    await send("engine 2");
    await w.settle();
    expect(carrier.handedOver.map(({ engine }) => engine)).toEqual(["engine 2"]);
  });

  test.runIf(isLong || name === "SQLite")(
    "the same seed gives the same story, another seed another one",
    async () => {
      const digest = async (seed: number): Promise<string> => {
        const { shop: w } = shop({ seed, engines: 2, faults: "any" });
        for (let i = 0; i < 5; i++) {
          void w.begin((engine) => engine.messages.send({ to, body: `Message ${i}` }));
          await w.advance(w.dice.between(0, 2_000));
        }
        await w.settle();
        return w.story.digest();
      };
      const first = await digest(7);
      expect(await digest(7)).toBe(first);
      expect(await digest(8)).not.toBe(first);
    },
  );
});

describe("a scripted carrier", () => {
  async function send(
    carrier: ScriptedCarrier,
    texts: readonly string[],
  ): Promise<{ w: World; statuses: readonly string[] }> {
    const w = world({ storage: memory(), transports: [carrier] });
    const sent = await Promise.all(
      texts.map((text, i) => w.engine().messages.send({ to: `+1500555020${i}`, body: text })),
    );
    await w.settle();
    const messages = await Promise.all(sent.map(({ id }) => w.engine().messages.get(id)));
    return { w, statuses: messages.map(({ status }) => status) };
  }

  test("does what its rules say, by number and by text, attempt by attempt", async () => {
    const carrier = scriptedCarrier({
      script: [
        { to: "+15005550200", attempts: ["refused"] },
        { text: "twice", attempts: [{ outcome: "throttled", retryAfterMs: 9_000 }, "accepted"] },
        { text: /^lost/i, attempts: ["answer_lost"] },
        {
          attempts: [{ outcome: "accepted", receipts: [{ status: "undelivered" }] }],
        },
      ],
    });
    const { statuses } = await send(carrier, ["Hello", "Try this twice", "Lost", "Else"]);
    expect(statuses).toEqual(["failed", "delivered", "delivered", "undelivered"]);
    const [first, second] = carrier.calls.filter(({ message }) => /twice/.test(message.body));
    expect([first?.outcome, second?.outcome]).toEqual(["throttled", "accepted"]);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(9_000);
    expect(carrier.handedOver).toHaveLength(3);
  });

  test("delivers receipts in the scripted order, and the status follows the evidence", async () => {
    const receipts = [
      { status: "delivered", arrivesAfterMs: 100 },
      { status: "sent", afterMs: 500, arrivesAfterMs: 20_000 },
      { status: "delivered", names: "attempt", arrivesAfterMs: 30_000 },
    ] as const;
    const carrier = scriptedCarrier({ script: () => ({ outcome: "accepted", receipts }) });
    const { statuses } = await send(carrier, ["Hello"]);
    expect(statuses).toEqual(["delivered"]);
    const issued = carrier.calls[0]?.receipts ?? [];
    expect(issued.map(({ receipt }) => receipt.status)).toEqual(["delivered", "sent", "delivered"]);
    expect(issued.every(({ acknowledged }) => acknowledged)).toBe(true);
  });

  test("texts an engine that is up, and tries again while none is", async () => {
    const carrier = scriptedCarrier();
    const { w } = await send(carrier, ["Hello"]);
    const [call] = carrier.handedOver;
    const { from = "", to: phone = "" } = call?.message ?? {};
    w.crash("engine 1");
    carrier.text({ from: phone, to: from, body: "STOP" });
    await w.advance(60_000);
    expect(carrier.undelivered).toBe(1);
    await w.settle();
    expect(carrier.undelivered).toBe(0);
    const refused = await w.begin((engine) => engine.messages.send({ to: phone, body: "Hello" }));
    expect(refused).toMatchObject({ outcome: "refused", error: { code: "recipient_opted_out" } });
  });

  test("does nothing while no engine runs, and delivers everything after the restart", async () => {
    const carrier = scriptedCarrier();
    const { w } = await send(carrier, ["Hello"]);
    const { from = "", to: phone = "" } = carrier.handedOver[0]?.message ?? {};
    w.crash("engine 1");
    for (const text of ["one", "two"]) carrier.text({ from: phone, to: from, body: text });
    await w.advance(60_000);
    const sleep = vi.spyOn(w.clock, "sleep");
    await w.advance(7 * 86_400_000);
    expect(sleep).not.toHaveBeenCalled();
    expect(carrier.undelivered).toBe(2);
    w.restart("engine 1");
    await w.settle();
    expect(carrier.undelivered).toBe(0);
  });

  test("reaches an engine that is no longer cut off", async () => {
    const carrier = scriptedCarrier();
    const { w } = await send(carrier, ["Hello"]);
    const { from = "", to: phone = "" } = carrier.handedOver[0]?.message ?? {};
    w.partition("engine 1", "carrier");
    carrier.text({ from: phone, to: from, body: "one" });
    await w.advance(60_000);
    expect(carrier.undelivered).toBe(1);
    w.heal("engine 1");
    await w.advance(1_000);
    expect(carrier.undelivered).toBe(0);
  });

  test("has each text on one line of the story, without the middle of a long one", async () => {
    const { w } = await send(scriptedCarrier(), ["one\ntwo", `${"a".repeat(159)}€`]);
    const lines = w.story.tell().split("\n");
    expect(lines.filter((line) => line.includes("the carrier accepts"))).toEqual([
      expect.stringMatching(/: "one\\ntwo" to \+15005550200$/),
      expect.stringMatching(/: "a{30}…a{9}€" \(160 characters\) to \+15005550201$/),
    ]);
  });

  test("works as the transport of an engine without a world", async () => {
    const carrier = scriptedCarrier({ receipts: "none" });
    const w = world({ storage: memory(), transports: [() => carrier] });
    await w.run((engine) => engine.messages.send({ to, body }));
    await w.settle();
    expect(carrier.handedOver).toHaveLength(1);
  });

  test("refuses to be part of two worlds", () => {
    const carrier = scriptedCarrier();
    const make = () => world({ storage: memory(), transports: [carrier] });
    make();
    expect(make).toThrow(
      "This scripted carrier is part of another world. Make one for each world.",
    );
  });
});

test("a world refuses a storage whose reads take real time", () => {
  const storage = memory();
  const slow = over(storage, { capabilities: { ...storage.capabilities, synchronous: false } });
  expect(() => world({ storage: slow, transports: [scriptedCarrier()] })).toThrow(
    "world: storage: expected a storage that reads synchronously: memory() or sqlite({ file })",
  );
});

test.each([NaN, Infinity, Date.UTC(2026, 10, 30), -(2 ** 60)])(
  "a world refuses the seed %d, with which its engines could draw the same ids",
  (seed) => {
    expect(() => world({ storage: memory(), transports: [scriptedCarrier()], seed })).toThrow(
      /^world: seed: expected a number from -900000000000 to 900000000000, got /,
    );
  },
);

test("a world refuses faults and transports that do not exist", () => {
  const make = (options: object) => () =>
    world({ storage: memory(), transports: [scriptedCarrier()], ...options });
  expect(make({ faults: { crashAfterSnd: 1 } })).toThrow(
    'world: faults.crashAfterSnd: unknown option. Did you mean "crashAfterSend"?',
  );
  expect(make({ faults: { crashAfterSend: 2 } })).toThrow(
    "world: faults.crashAfterSend: expected a rate from 0 to 1, got 2",
  );
  expect(make({ faults: "all" })).toThrow('world: faults: expected the word "any", or an object');
  expect(make({ transports: [sandbox()] })).toThrow(
    "world: transports.0: expected what scriptedCarrier() returns, or a function that makes a transport, got an object",
  );
  expect(make({ transports: [] })).toThrow(
    "world: transports: expected a list of at least one scriptedCarrier(), got a list of 0",
  );
  const w = world({ storage: memory(), transports: [scriptedCarrier()] });
  expect(() => w.inject("crashAfterSends" as Fault)).toThrow(
    'inject: fault: expected the name of a fault, got "crashAfterSends". Did you mean "crashAfterSend"?',
  );
});

test("scripts name the rule and the outcome that are wrong", () => {
  const carrier = (script: unknown) => () => scriptedCarrier({ script: script as [] });
  expect(carrier([{ attempts: ["refused"] }, { attempts: ["accepted", "refuse"] }])).toThrow(
    'scriptedCarrier: script.1.attempts.1: expected an outcome: "accepted", "answer_lost", ' +
      '"refused", "throttled", got "refuse". Did you mean "refused"?',
  );
  expect(carrier([{ attempts: [] }])).toThrow(
    "scriptedCarrier: script.0.attempts: expected a list of what happens first, second and so on, got a list of 0",
  );
  expect(carrier([{ form: to, attempts: ["refused"] }])).toThrow(
    "scriptedCarrier: script.0.form: unknown option. Known options: to, text, attempts",
  );
  expect(carrier({ attempts: ["refused"] })).toThrow(
    "scriptedCarrier: script: expected a list of rules or a function, got an object",
  );
  const receiver = (script: unknown) => () => scriptedReceiver({ script: script as [] });
  expect(receiver([{ event: "message.*", attempts: [500, "hangs", "hang"] }])).toThrow(
    "scriptedReceiver: script.0.attempts.2: expected an outcome",
  );
  const model = (script: unknown) => () => scriptedModel({ script: script as [] });
  expect(model([{ text: "Hello", answers: ["Hi", { outcome: "fail" }] }])).toThrow(
    "scriptedModel: script.0.answers.1: expected an outcome",
  );
});
