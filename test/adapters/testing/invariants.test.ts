/**
 * What a broken law tells. Each law of the engine finds a bug that a storage plants: it loses or
 * changes writes of the engine.
 */
import { describe, expect, test } from "vitest";
import { MessagingEngine } from "../../../adapters/entry.ts";
import { memory } from "../../../adapters/storage/memory/index.ts";
import {
  invariants,
  scriptedCarrier,
  Violation,
  world,
  type CarrierCall,
  type Law,
  type WorldOptions,
} from "../../../adapters/testing/index.ts";
import { pagePromise } from "../../../src/operations/index.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { over } from "../../support/over.ts";
import { isEvent, isInsert, planted, sent, to, url, without } from "./planted.ts";

describe("a law", () => {
  test("that is broken is told with its name and the story of what it is about", async () => {
    const carrier = scriptedCarrier();
    const w = world({ storage: memory(), transports: [carrier] });
    await w.begin((engine) => engine.messages.send({ to, body: "Your order is ready." }), {
      as: "remind order 7",
    });
    await w.settle();
    const neverTextsAnybody = () => {
      const [call] = carrier.handedOver;
      return (
        call && { description: `${call.message.to} got a text`, about: [call.message.message_id] }
      );
    };
    await w.check(() => undefined);
    const violation = await w.check(neverTextsAnybody).catch((error: unknown) => error);
    expect(violation).toBeInstanceOf(Violation);
    expect(String(violation)).toMatch(
      /^Violation: neverTextsAnybody: \+15005550101 got a text\nWhat happened:\n(.*\n)* +0\.000 s {2}remind order 7, on engine 1\n(.*\n)*.*the carrier accepts msg…\w{5}, attempt 1, from engine 1/,
    );
    await expect(
      w.check(function oneText() {
        expect(carrier.handedOver).toHaveLength(2);
      }),
    ).rejects.toMatchObject({
      law: "oneText",
      message: expect.stringMatching(
        /^oneText: expected .* length of 2 but got 1\nWhat happened:\n(.*\n)*.*remind order 7: done/,
      ) as string,
      cause: expect.objectContaining({ name: "AssertionError" }) as Error,
    });
  });
});

test("a law that returns something else is refused", async () => {
  const w = world({ storage: memory(), transports: [scriptedCarrier()] });
  for (const [found, got] of [
    [true, "true"],
    [{ about: [] }, "an object"],
    // The law `() => expect(true).toBe(true)` has forgotten its braces.
    [expect(true).toBe(true), "an Assertion"],
  ] as const) {
    const law = (() => found) as unknown as Law;
    await expect(w.check(law)).rejects.toThrow(
      `check: law: result: expected nothing, a sentence or { description, about }, got ${got}`,
    );
  }
});

test("the laws hold in a world with webhooks, also after an erasure", async () => {
  const w = await sent();
  await w.check(...Object.values(invariants));
  const { data } = await w.engine().contacts.list();
  await w.run((engine) => engine.contacts.erase(data[0]?.id ?? ""));
  await w.settle();
  await w.check(...Object.values(invariants));
});

test.each<[what: string, forge: (calls: readonly CarrierCall[]) => readonly CarrierCall[]]>([
  ["another one of its conversation", (calls) => calls.toReversed()],
  [
    "one that waits for its retry",
    (calls) => [...calls, ...calls.slice(0, 1).map((call) => ({ ...call, number: 2 }))],
  ],
])("a message that overtakes %s is found", async (_, forge) => {
  const w = await sent();
  const forged = over(w, { calls: forge(w.calls) });
  expect((await invariants.conversationsInOrder(forged))?.description).toMatch(
    /^the carrier got msg_\w+ before msg_\w+, which comes first$/,
  );
});

test("a message that goes to another carrier after it was not delivered overtakes nothing", async () => {
  const carrier = scriptedCarrier({
    script: ({ transport, message }) =>
      transport === "sandbox" && message.body === "Hello"
        ? {
            outcome: "accepted",
            receipts: [{ status: "undelivered", afterMs: 10_000, error: "unknown" }],
          }
        : undefined,
  });
  const routes = [{ transports: ["sandbox", "spare"], fallBackAfter: ["undelivered" as const] }];
  const w = await sent(memory(), {
    transports: [carrier, carrier.as("spare")],
    engine: (ports) => new MessagingEngine({ ...ports, routes }),
  });
  expect(carrier.calls.map(({ message, number }) => [message.body, number])).toEqual([
    ["Hello", 1],
    ["Good bye", 1],
    ["Hello", 2],
  ]);
  await w.check(invariants.conversationsInOrder);
});

test("a message that one carrier refuses and another sends is not overtaken", async () => {
  const refusing = scriptedCarrier({ script: [{ text: "Hello", attempts: ["throttled"] }] });
  const routes = [{ transports: ["sandbox", "spare"] }];
  const w = await sent(memory(), {
    transports: [refusing, scriptedCarrier({ name: "spare" })],
    engine: (ports) => new MessagingEngine({ ...ports, routes }),
  });
  expect(w.calls.map(({ message, transport }) => [message.body, transport])).toEqual([
    ["Hello", "sandbox"],
    ["Hello", "spare"],
    ["Good bye", "sandbox"],
  ]);
  await w.check(invariants.conversationsInOrder);
});

test("an event that is not written is found", async () => {
  const w = await sent(without("message.sent"));
  expect((await invariants.noGapInTheEvents(w))?.description).toMatch(
    /^msg_\w+ is delivered, but the log has no message\.sent of it$/,
  );
});

test.each(["undelivered", "expired", "failed"] as const)(
  "a message that is %s without an event is found",
  async (status) => {
    const attempts = {
      undelivered: { outcome: "accepted", receipts: [{ status: "undelivered" }] },
      expired: { outcome: "throttled", retryAfterMs: 3_600_000 },
      failed: "refused",
    } as const;
    const carrier = scriptedCarrier({ script: () => attempts[status] });
    const w = await sent(without("message.failed"), { transports: [carrier] });
    expect((await invariants.noGapInTheEvents(w))?.description).toMatch(
      new RegExp(`^msg_\\w+ is ${status}, but the log has no message\\.failed of it$`),
    );
  },
);

test("a canceled message without an event is found", async () => {
  const w = world({ storage: without("message.updated"), transports: [scriptedCarrier()] });
  await w.run(async ({ messages }) => {
    const { id } = await messages.send({ to, body: "Hello", send_at: "2026-01-02T00:00:00Z" });
    await messages.cancel(id);
  });
  expect((await invariants.noGapInTheEvents(w))?.description).toMatch(
    /^msg_\w+ is canceled, but the log has no message\.updated of it$/,
  );
});

test("an event is missed in an account that has sent nothing", async () => {
  const w = world({ storage: without("message.received"), transports: [scriptedCarrier()] });
  await w.run(async (engine) => {
    const { account } = await engine.accounts.create({ name: "Bakery" });
    await engine.account(account.id).sandbox.inbound({ from: to, body: "Hello" });
  });
  expect((await invariants.noGapInTheEvents(w))?.description).toMatch(
    /^msg_\w+ is received, but the log has no message\.received of it$/,
  );
});

test("a failure that is reported twice is found", async () => {
  const storage = planted((writes) =>
    writes.flatMap((write) =>
      isEvent("message.failed", write) && "row" in write
        ? [write, { ...write, row: { ...write.row, id: `evt_${"0".repeat(26)}` } }]
        : [write],
    ),
  );
  const w = world({ storage, transports: [scriptedCarrier({ script: () => "refused" })] });
  await w.run((engine) => engine.messages.send({ to, body: "Hello" }));
  await w.settle();
  expect((await invariants.everyEventOnce(w))?.description).toMatch(
    /^the log has message\.failed of msg_\w+ twice$/,
  );
});

test("an event that streams leave out is found", async () => {
  const w = await sent();
  const { data } = await w.engine().events.list();
  const second = data.at(-2)?.id ?? "";
  const engine = w.engine();
  const account: typeof engine.account = (...given) => {
    const handle = engine.account(...given);
    const { events } = handle;
    const stream: typeof events.stream = async (...input) => {
      const all = await events.stream(...input);
      return (async function* some() {
        for await (const event of all) if (event.id !== second) yield event;
      })();
    };
    return over(handle, { events: over(events, { stream }) });
  };
  const gapped = over(w, {
    run: (code, options) => w.run(() => code(over(engine, { account })), options),
  });
  expect((await invariants.noGapInTheEvents(gapped))?.description).toBe(
    `a stream has ${data.at(-3)?.id} in the place of ${second}`,
  );
});

test("an event without a delivery for a webhook that wants it is found", async () => {
  let deliveries = 0;
  const w = await sent(
    planted((writes) =>
      writes.filter((write) => !isInsert("deliveries", write) || ++deliveries !== 3),
    ),
  );
  expect((await invariants.everyEventToItsWebhooks(w))?.description).toMatch(
    /^wh_\w+ has no delivery of evt_\w+$/,
  );
});

test("engines whose clocks differ are not blamed for events before a webhook", async () => {
  const w = world({ storage: memory(), transports: [scriptedCarrier()], engines: 2 });
  w.skewClock("engine 2", 3_000);
  await w.run((engine) => engine.messages.send({ to, body: "Hello" }), { engine: "engine 2" });
  await w.advance(500);
  await w.run((engine) => engine.webhooks.create({ url, events: ["*"] }), { engine: "engine 1" });
  await w.settle();
  await w.check(invariants.everyEventToItsWebhooks);
});

test.each([
  ["nowhere", []],
  ["at another URL only", [url]],
])("a delivery that succeeded but arrived %s is found", async (_, arrivedAt) => {
  const w = await sent();
  const other = await w.run((engine) =>
    engine.webhooks.create({ url: `${url}/other`, events: ["*"] }),
  );
  w.receiver.trust(other);
  await w.advance(1_000);
  await w.run((engine) => engine.messages.send({ to, body: "Hello again" }));
  await w.settle();
  const received = w.receiver.received.filter((each) => arrivedAt.includes(each.url));
  const forged = over(w, { receiver: over(w.receiver, { received }) });
  expect((await invariants.everyEventToItsWebhooks(forged))?.description).toMatch(
    /^the delivery of evt_\w+ to wh_\w+ succeeded, though nobody took it$/,
  );
});

test.each<[where: string, faults: WorldOptions["faults"]]>([
  ["without faults", {}],
  ["whose faults delay no commit", { carrierThrottles: 0.5, crashBeforePost: 0.1 }],
])(
  "a delivery that is posted again after it succeeded is found in a world %s",
  async (_, faults) => {
    const automatic = planted((writes) =>
      writes.map((write) =>
        "row" in write && write.collection.name === "delivery_attempts"
          ? { ...write, row: { ...write.row, manual: false } }
          : write,
      ),
    );
    const w = await sent(automatic, { faults });
    const [hook] = (await w.engine().webhooks.list()).data;
    const [made] = (await w.engine().webhooks.deliveries(hook?.id ?? "")).data;
    await w.run((engine) => engine.webhooks.redeliver(hook?.id ?? "", made?.id ?? ""));
    await w.settle();
    expect((await invariants.everyEventToItsWebhooks(w))?.description).toMatch(
      /was posted again in attempt 2, though an earlier one succeeded$/,
    );
  },
);

test("an engine that stores its success after another one took over is not blamed", async () => {
  const w = world({ storage: memory(), transports: [scriptedCarrier()], engines: 2 });
  const [first, second] = ["engine 1", "engine 2"] as const;
  const create = { url, events: ["conversation.created" as const] };
  w.receiver.trust(await w.run((engine) => engine.webhooks.create(create)));
  const stopped = w.stop(second);
  await w.advance(1_000);
  await stopped;
  await w.run((engine) => engine.messages.send({ to, body: "Hello" }), { engine: first });
  await w.advance(50);
  expect(w.receiver.requests).toMatchObject([{ engine: first, number: 1 }]);
  w.partition(first, "storage");
  w.restart(second);
  await w.advance(10_000);
  await w.settle();
  expect(w.receiver.received).toHaveLength(2);
  await w.check(invariants.everyEventToItsWebhooks);
});

test("a change of a message's status without an event is found", async () => {
  const storage = planted((writes) =>
    writes.filter(
      (write) =>
        !isEvent("message.updated", write) ||
        !("row" in write) ||
        !JSON.stringify(write.row["data"]).includes('"delivered"'),
    ),
  );
  expect((await invariants.noGapInTheEvents(await sent(storage)))?.description).toMatch(
    /^msg_\w+ is delivered, but its last event says sent$/,
  );
});

test("a second delivery of an event to a webhook is found", async () => {
  const w = await sent();
  const engine = w.engine();
  const account: typeof engine.account = (...given) => {
    const handle = engine.account(...given);
    const deliveries: typeof handle.webhooks.deliveries = (webhook, filters) =>
      pagePromise(async (cursor) => {
        const found = await handle.webhooks.deliveries(webhook, { ...filters, cursor });
        return { ...found, data: [...found.data, ...found.data.slice(0, 1)] };
      });
    return over(handle, { webhooks: over(handle.webhooks, { deliveries }) });
  };
  const forged = over(w, { engine: () => over(engine, { account }) });
  expect((await invariants.everyEventToItsWebhooks(forged))?.description).toMatch(
    /^wh_\w+ has two deliveries of evt_\w+$/,
  );
});

const withoutJobs = (kind: string): StoragePort<undefined> =>
  planted((writes) =>
    writes.filter(
      (write) =>
        write.collection.name !== "jobs" || !("row" in write) || write.row["kind"] !== kind,
    ),
  );

test.each([
  ["release", /^msg_\w+ stays scheduled, and no job will change that$/],
  ["deliver", /^the delivery of evt_\w+ to wh_\w+ stays pending, and no job will change that$/],
])("work without its job %s is found, though the world settles", async (kind, finding) => {
  const w = await sent(withoutJobs(kind));
  const send_at = new Date(w.clock.now() + 60_000).toISOString();
  await w.run((engine) => engine.messages.send({ to, body: "Later", send_at }));
  await w.settle();
  expect((await invariants.nothingLeftToDo(w))?.description).toMatch(finding);
});

test("a message that nobody sends after a crash is found, though the world settles", async () => {
  const w = world({ storage: withoutJobs("send"), transports: [scriptedCarrier()] });
  await w.run((engine) => engine.senders.list());
  w.inject("crashAfterCommit");
  await w.begin((engine) => engine.messages.send({ to, body: "Hello" }));
  await w.settle();
  expect((await invariants.nothingLeftToDo(w))?.description).toMatch(
    /^msg_\w+ stays (queued|sending), and no job will change that$/,
  );
});

test("a run of an agent that does not end is found, though the world settles", async () => {
  const storage = planted((writes) =>
    writes.filter(
      (write) =>
        write.collection.name !== "runs" || !("row" in write) || write.row["status"] === "running",
    ),
  );
  const w = world({ storage, transports: [scriptedCarrier()] });
  await w.run((engine) => engine.agents.create({ name: "Ada", channels: ["sms"] }));
  await w.run((engine) => engine.sandbox.inbound({ from: to, body: "Hello" }));
  await w.settle();
  expect((await invariants.nothingLeftToDo(w))?.description).toMatch(
    /^run_\w+ stays running, and no job will change that$/,
  );
});
