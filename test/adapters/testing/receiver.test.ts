/** A user's tests of webhooks with a scripted receiver. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { MessagingEngine } from "../../../adapters/entry.ts";
import { memory } from "../../../adapters/storage/memory/index.ts";
import {
  scriptedCarrier,
  scriptedReceiver,
  simulated,
  world,
  type ScriptedReceiverOptions,
  type World,
  type WorldOptions,
} from "../../../adapters/testing/index.ts";
import { runs } from "../../support/runs.ts";

const to = "+15005550101";
const url = "https://shop.example/hooks";

/** A world with a webhook to `url`, whose secret the receiver knows. */
async function shop(
  script: ScriptedReceiverOptions["script"] = [],
  options: Partial<WorldOptions<undefined>> = {},
): Promise<World> {
  const receiver = scriptedReceiver({ script });
  const transports = [scriptedCarrier()] as const;
  const w = world({ storage: memory(), transports, receiver, ...options });
  receiver.trust(
    await w.run((engine) => engine.webhooks.create({ url, events: ["message.sent"] })),
  );
  return w;
}

const send = (w: World): Promise<unknown> =>
  w.run((engine) => engine.messages.send({ to, body: "Hello" }));

/** Seconds between the requests that engines made. */
const gaps = ({ receiver: { requests } }: World): number[] =>
  requests.slice(1).map(({ at }, i) => Math.round((at - (requests[i]?.at ?? 0)) / 1_000));

test("an event arrives once, signed with the webhook's secret and with its headers", async () => {
  const w = await shop();
  await send(w);
  await w.settle();
  expect(w.receiver.received).toMatchObject([
    {
      url,
      event: { type: "message.sent", data: { to } },
      headers: { "content-type": "application/json", "user-agent": "tidings" },
      signature: "valid",
      number: 1,
      outcome: "answered",
      status: 200,
    },
  ]);
  expect(w.receiver.requests).toHaveLength(1);
});

test("a signature by another secret is invalid, and an unknown secret proves nothing", async () => {
  const w = await shop();
  const other = await w.run((engine) =>
    engine.webhooks.create({ url: `${url}/2`, events: ["message.sent"] }),
  );
  const { data } = await w.run((engine) => engine.webhooks.list());
  const first = data.find((each) => each.url === url)?.id ?? "";
  await w.run((engine) => engine.webhooks.rotateSecret(first, { grace_seconds: 0 }));
  await send(w);
  await w.advance(10_000);
  const seen = w.receiver.requests.map((request) => [
    request.url,
    request.signature,
    request.status,
  ]);
  expect(Object.fromEntries(seen.map(([at, ...rest]) => [at, rest]))).toEqual({
    [url]: ["invalid", 401],
    [other.url]: ["unknown", 200],
  });
});

test("rules decide by URL, by event and by attempt, and the engine keeps its schedule", async () => {
  const w = await shop([
    { url: "https://other.example/", attempts: [410] },
    { event: "contact.*", attempts: [410] },
    {
      event: "message.*",
      attempts: [500, { outcome: "answered", status: 429, retryAfterSeconds: 1_200 }, 204],
    },
  ]);
  await send(w);
  await w.settle();
  expect(w.receiver.requests.map(({ status }) => status)).toEqual([500, 429, 204]);
  const [first = 0, second = 0] = gaps(w);
  expect(first).toBeGreaterThanOrEqual(60);
  expect(second).toBeGreaterThanOrEqual(1_200);
  expect(w.receiver.received).toHaveLength(1);
});

test("a response can have headers, such as a date to wait for", async () => {
  const w = await shop(({ number, at }) => {
    const headers = { "retry-after": new Date(at + 3_600_000).toUTCString() };
    return number === 1 ? { outcome: "answered", status: 503, headers } : 200;
  });
  await send(w);
  await w.settle();
  expect(w.receiver.requests.map(({ status }) => status)).toEqual([503, 200]);
  expect(gaps(w)[0]).toBeGreaterThanOrEqual(3_599);
});

test("a lost response, a late one and none at all: the event comes again, and counts as taken", async () => {
  const late = { outcome: "answered", afterMs: 20_000 } as const;
  const w = await shop(({ number }) => (["answer_lost", late, "hangs"] as const)[number - 1]);
  await send(w);
  await w.settle();
  const { requests, received } = w.receiver;
  expect(requests.map(({ outcome, status }) => [outcome, status])).toEqual([
    ["answer_lost", 200],
    ["answer_lost", 200],
    ["hangs", null],
    ["answered", 200],
  ]);
  const took = requests.map(({ at, ended_at }) => (ended_at ?? 0) - at);
  expect(took.slice(1)).toEqual([15_000, 15_000, 100]);
  expect(new Set(received.map(({ event, body }) => `${event.id} ${body}`)).size).toBe(1);
  expect(received).toHaveLength(3);
});

test("nobody gets more than a receiver that is gone for good", async () => {
  const w = await shop([{ attempts: [410] }]);
  await send(w);
  await send(w);
  await w.settle();
  expect(w.receiver.requests.length).toBeLessThanOrEqual(2);
  const { data } = await w.engine().webhooks.list();
  expect(data).toMatchObject([{ status: "disabled", disabled_reason: "gone" }]);
});

test("an engine without the internet posts later, and another one posts meanwhile", async () => {
  const w = await shop();
  w.partition("engine 1", "internet");
  await send(w);
  await w.advance(5_000);
  expect(w.receiver.requests.map(({ outcome }) => outcome)).toEqual(["unreachable"]);
  w.heal("engine 1");
  await w.settle();
  expect(w.receiver.requests.map(({ outcome }) => outcome)).toEqual(["unreachable", "answered"]);
});

test("a process that crashes after a receiver has an event posts the event again", async () => {
  const w = await shop([], { engines: 2 });
  w.inject("crashAfterPost");
  await send(w);
  await w.advance(5_000);
  await w.settle();
  const [first, second] = w.receiver.received;
  expect(first).toMatchObject({ outcome: "answer_lost", abandoned: true });
  expect(second).toMatchObject({ outcome: "answered", abandoned: false, signature: "valid" });
  expect(second?.event).toEqual(first?.event);
  expect(w.story.tell({ about: [first?.event.id ?? ""] })).toMatch(
    /https:\/\/shop\.example\/hooks answers 200 for message\.sent evt…\w{5}, request 1, from engine \d\n(.*\n)*.*crashes before it gets the response to evt…/,
  );
});

test("whatever the seed does to requests, every event arrives, and no seed has two stories", async () => {
  const history = async (seed: number): Promise<string> => {
    const w = await shop([], { seed, engines: 2 });
    for (const fault of ["receiverHangs", "postFailsAfter", "crashBeforePost"] as const) {
      w.inject(fault, { after: w.dice.between(0, 3) });
    }
    for (let i = 0; i < 3; i++) {
      void w.begin((engine) => engine.messages.send({ to, body: `Message ${i}` }));
      await w.advance(w.dice.between(0, 3_000));
    }
    await w.settle();
    const arrived = new Set(w.receiver.received.map(({ event }) => event.id));
    const { data } = await w.engine().events.list({ type: "message.sent" });
    expect(arrived).toEqual(new Set(data.map(({ id }) => id)));
    return w.story.digest();
  };
  expect(await history(7)).toBe(await history(7));
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => void (await history(seed))),
    { numRuns: runs(10) },
  );
});

test("an engine without a world posts to a receiver, too, and can stop while the receiver answers", async () => {
  const { clock, random } = simulated();
  const receiver = scriptedReceiver();
  const http = { client: receiver.client(clock) };
  const transports = [scriptedCarrier()];
  const engine = new MessagingEngine({ storage: memory(), transports, clock, random, http });
  await engine.start();
  receiver.trust(await engine.webhooks.create({ url, events: ["*"] }));
  await engine.messages.send({ to, body: "Hello" });
  await clock.advanceUntil(() => receiver.requests.length === 6);
  await clock.run(() => engine.stop());
  expect(receiver.received).toHaveLength(6);
  expect(receiver.received.map(({ event, signature }) => [event.type, signature])).toContainEqual([
    "message.sent",
    "valid",
  ]);
});

test("a receiver is part of one world only", () => {
  const receiver = scriptedReceiver();
  const make = () => world({ storage: memory(), transports: [scriptedCarrier()], receiver });
  make();
  expect(make).toThrow("This scripted receiver is part of another world. Make one for each world.");
});
