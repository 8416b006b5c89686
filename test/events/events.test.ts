import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { eventTypes, type EventType } from "../../src/events/types.ts";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import type { Scope } from "../../src/kernel/ids.ts";
import { type Event } from "../../src/webhooks/event-catalog.ts";
import { call } from "../api/call.ts";
import { accepted, busy, carrier, refused } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { everyEvent } from "../support/pages.ts";
import { runsOn } from "../support/runs.ts";
import { failingCommits } from "../support/storage/groups.ts";
import { lightStorages } from "../support/storage/storages.ts";
import { thrownBy } from "../support/thrown-by.ts";

const hello = { to: "+15005550001", body: "Hello" };
const never = new AbortController().signal;

/** Records the events of a handler, in order. */
function listen(engine: MessagingEngine): { event: Event; scope: Scope }[] {
  const heard: { event: Event; scope: Scope }[] = [];
  for (const type of eventTypes) {
    engine.on(type, (event, { account }) => heard.push({ event, scope: account.scope }));
  }
  return heard;
}

/** An account with a high rate limit, and an API key. */
async function tenant(
  engine: MessagingEngine,
): Promise<{ readonly account: AccountHandle; readonly key: string }> {
  const plan = { name: "test", requests_per_second: 100_000 };
  const { account, key } = await engine.accounts.create({ name: "test", plan });
  return { account: engine.account(account.id), key: key.secret };
}

interface Following {
  readonly status: number;
  readonly chunks: AsyncIterator<string>;
}

async function follow(
  engine: MessagingEngine,
  key: string,
  last?: string,
  signal = never,
  query = "",
): Promise<Following> {
  const headers = last === undefined ? [] : ["Last-Event-ID", last];
  const { status, body } = await call(engine.api, {
    path: `/v1/events/stream${query}`,
    key,
    headers,
    signal,
  });
  if (body === null || typeof body === "string" || body instanceof Uint8Array) {
    throw new Error(`no stream: ${String(body)}`);
  }
  return { status, chunks: body[Symbol.asyncIterator]() };
}

/** The next `count` events of a stream, without heartbeats. */
async function take({ chunks }: Following, count: number): Promise<Event[]> {
  const taken: Event[] = [];
  while (taken.length < count) {
    const next = await chunks.next();
    if (next.done === true) throw new Error("the stream ended");
    const data = next.value.split("\n").find((line) => line.startsWith("data: "));
    if (data !== undefined) taken.push(JSON.parse(data.slice("data: ".length)) as Event);
  }
  return taken;
}

describe("an unknown event type", () => {
  it.each([
    ["message.delivered", 'Use "message.sent": it is published when a message is delivered.'],
    ["message.read", 'Use "message.updated": it is published at each change of the status'],
    ["message.recieved", 'Did you mean "message.received"?'],
    ["messageReceived", 'Did you mean "message.received"?'],
    ["contact.optedOut", 'Did you mean "contact.opted_out"?'],
    ["*", "The event types are message.received, message.sent, "],
  ])("%s is refused by on, off and consume, with what to use instead", (given, advice) => {
    const engine = world().engine(memory());
    const type = given as EventType;
    const handler = (): void => {};
    const expected = `expected an event type, got "${given}". ${advice}`;
    expect(() => engine.on(type, handler)).toThrow(`on: type: ${expected}`);
    expect(() => engine.off(type, handler)).toThrow(`off: type: ${expected}`);
    expect(() => engine.consume("c", [type], handler)).toThrow(`consume: types.0: ${expected}`);
  });

  it("is told apart from a handler in place of the types", () => {
    const engine = world().engine(memory());
    const handler = (() => {}) as unknown as EventType[];
    expect(() => engine.consume("c", handler, async () => {})).toThrow(
      /^consume: types: expected a list of event types, got a function$/,
    );
    expect(() => engine.consume("c", [], async () => {})).toThrow(
      /^consume: types: expected a list of event types with at least one entry, got a list of 0$/,
    );
  });

  it.each([
    ["message.delivered", '. Use "message.sent": it is published when a message is delivered.'],
    ["message.recieved", '. Did you mean "message.received"?'],
  ])(
    "%s is refused by webhooks and the sandbox, with what to use instead",
    async (given, advice) => {
      const engine = world().engine(memory());
      const type = given as EventType;
      const url = "https://hooks.example/in";
      const message = `must be an event type, got "${given}"${advice}`;
      await expect(engine.sandbox.event({ type })).rejects.toMatchObject({
        errors: [{ pointer: "/type", message }],
      });
      await expect(engine.webhooks.create({ url, events: [type] })).rejects.toMatchObject({
        errors: [
          {
            pointer: "/events/0",
            message: `must be an event type or a pattern, got "${given}"${advice}`,
          },
        ],
      });
    },
  );

  describe("that is no string", () => {
    // `String` throws for it, and JSON can hold it.
    const given = { toString: 1 };
    const type = given as unknown as EventType;
    const url = "https://hooks.example/in";

    it("is refused in process like another wrong type", async () => {
      const engine = world().engine(memory());
      expect(thrownBy(() => engine.on(type, () => {}))).toMatchObject({
        code: "invalid_option",
        message: expect.stringMatching(/^on: type: expected an event type, got an object\. The /),
      });
      const message: unknown = expect.stringMatching(/^must be an event type/);
      await expect(engine.webhooks.create({ url, events: [type] })).rejects.toMatchObject({
        errors: [{ pointer: "/events/0", message }],
      });
      await expect(engine.events.list({ type })).rejects.toMatchObject({
        errors: [{ pointer: "/type", message }],
      });
    });

    it("is refused over HTTP as a wrong field", async () => {
      const engine = world().engine(memory());
      const { key } = await tenant(engine);
      const body = { url, events: [given] };
      const path = "/v1/webhooks";
      const { status } = await call(engine.api, { method: "POST", path, key, body });
      expect(status).toBe(422);
    });
  });

  it("is refused with the code invalid_option, as is a handler that is no function", () => {
    const engine = world().engine(memory());
    const on = (...given: unknown[]) => thrownBy(() => Reflect.apply(engine.on, engine, given));
    expect(on("message.delivered", () => {})).toMatchObject({
      code: "invalid_option",
      errors: [{ pointer: "/type", code: "invalid" }],
    });
    expect(on("message.sent")).toMatchObject({
      code: "invalid_option",
      message: "on: handler: expected a function, got undefined",
    });
  });
});

describe.each(lightStorages)("events on $name", ({ name, open }) => {
  const script = carrier({
    send: ({ body }, attempt) =>
      body === "refuse"
        ? refused
        : body === "busy" && attempt.number < 3
          ? busy()
          : accepted(attempt),
  });

  it("reach handlers unchanged, with account and mode, in log order if no commits overlap", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect(), { transports: [script] });
    const heard = listen(one);
    const { account } = await tenant(one);
    await one.start();
    for (const handle of [one.account(), account]) {
      for (const body of ["Hello", "refuse", "busy"]) {
        await handle.messages.send({ ...hello, body });
        // On PostgreSQL, the hand-over could commit at the same time as the next command.
        await clock.settle();
      }
      await handle.sandbox.inbound({ from: hello.to, body: "Hi" });
    }
    await clock.advance(60_000);
    for (const { events, scope } of [one.account(), account]) {
      const own = heard.filter((each) => each.scope.account_id === scope.account_id);
      expect(own.map(({ event }) => event)).toEqual(await everyEvent({ events }));
      expect(own.every((each) => each.scope.mode === "sandbox")).toBe(true);
      expect(own.length).toBeGreaterThan(8);
    }
  });

  it("reach handlers after the commit, in order; every engine can read what they describe", async () => {
    const { clock, engine } = world();
    const ground = open();
    const [one, other] = [engine(ground.connect()), engine(ground.connect())];
    const heard = listen(one);
    const finding: Promise<unknown>[] = [];
    one.on("message.received", ({ id, data }) => {
      const find = async (): Promise<unknown> => [
        (await other.events.get(id)).id,
        (await other.messages.get(data.message_id)).body,
      ];
      finding.push(find());
    });
    await Promise.all(["a", "b", "c"].map((body) => one.sandbox.inbound({ from: hello.to, body })));
    await clock.settle();
    const log = await everyEvent(one);
    expect(heard.map(({ event }) => event)).toEqual(log);
    const received = log.filter(
      (event): event is Event<"message.received"> => event.type === "message.received",
    );
    expect(await Promise.all(finding)).toEqual(received.map(({ id, data }) => [id, data.body]));
    expect(received.map(({ data }) => data.body).toSorted()).toEqual(["a", "b", "c"]);
  });

  it.each(["none", "k"])(
    "of a rolled-back transaction never reach handlers (key: %s)",
    async (key) => {
      const { clock, engine } = world();
      const storage = open().connect();
      let full = false;
      const one = engine(failingCommits(storage, () => full));
      const heard = listen(one);
      const options = key === "none" ? {} : { idempotencyKey: key };
      // The command creates the contact before it fails for lack of a sender.
      await expect(
        one.messages.send({ ...hello, from: "+15551230000" }, options),
      ).rejects.toMatchObject({
        code: "no_sender",
      });
      full = true;
      await expect(one.messages.send(hello)).rejects.toMatchObject({ code: "storage_unavailable" });
      await clock.settle();
      expect(heard).toEqual([]);
      full = false;
      await one.messages.send(hello);
      expect(heard.map(({ event }) => event.type)).toEqual([
        "contact.created",
        "conversation.created",
      ]);
    },
  );

  it("reach every handler even if others throw or reject; the command is not affected", async () => {
    const { clock, engine, log } = world();
    const one = engine(open().connect());
    const heard: string[] = [];
    one
      .on("message.received", () => {
        throw new Error("a bug of the host");
      })
      .on("message.received", () => Promise.reject(new Error("another one")))
      .on("message.received", ({ data }) => void heard.push(data.body));
    expect((await one.sandbox.inbound({ from: hello.to, body: "Hi" })).status).toBe("received");
    await clock.settle();
    expect(heard).toEqual(["Hi"]);
    expect(log.filter(({ level }) => level === "error")).toHaveLength(2);
  });

  it("do not reach a removed handler, and reach a handler once that was added twice", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const heard: string[] = [];
    const handler = ({ data }: Event<"message.received">): void => void heard.push(data.body);
    one.on("message.received", handler).on("message.received", handler);
    await one.sandbox.inbound({ from: hello.to, body: "1" });
    one.off("message.received", handler).off("message.received", handler);
    await one.sandbox.inbound({ from: hello.to, body: "2" });
    one.on("message.received", handler);
    await one.sandbox.inbound({ from: hello.to, body: "3" });
    expect(heard).toEqual(["1", "3"]);
  });

  it("reach a handler that another handler adds from the next event on", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const heard: string[] = [];
    one.on("message.received", ({ data: { body } }) => {
      one.on("message.received", ({ data }) => void heard.push(`${data.body} after ${body}`));
    });
    for (const body of ["1", "2"]) await one.sandbox.inbound({ from: hello.to, body });
    expect(heard).toEqual(["2 after 1"]);
  });

  it("a stream that is repeatedly cut and resumed yields the whole log without repeats", async () => {
    const { clock, started } = world();
    const one = await started(open().connect(), { transports: [script] });
    const { account, key } = await tenant(one);
    const { account: noise } = await tenant(one);
    await account.messages.send(hello);
    await clock.settle();
    const [first] = await everyEvent(account);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ sends: fc.nat(4), takes: fc.nat(12), aborts: fc.boolean() }), {
          minLength: 1,
          maxLength: 6,
        }),
        async (cuts) => {
          const had = [first?.id ?? ""];
          for (const { sends, takes, aborts } of cuts) {
            for (let n = 0; n < sends; n++) {
              await account.sandbox.inbound({ from: `+1500555${1_000 + n}`, body: String(n) });
              await noise.sandbox.inbound({ from: hello.to, body: "noise" });
            }
            const log = await everyEvent(account);
            const left = log.length - log.findIndex(({ id }) => id === had.at(-1)) - 1;
            const leaving = new AbortController();
            const stream = await follow(one, key, had.at(-1), leaving.signal);
            had.push(...(await take(stream, Math.min(takes, left))).map(({ id }) => id));
            if (aborts) leaving.abort();
            await stream.chunks.return?.();
          }
          const log = await everyEvent(account);
          const rest = await follow(one, key, had.at(-1));
          had.push(...(await take(rest, log.length - had.length)).map(({ id }) => id));
          expect(had).toEqual(log.map(({ id }) => id));
        },
      ),
      { numRuns: runsOn(name, { memory: 25, SQLite: 10, PostgreSQL: 4 }) },
    );
  });

  it("streams start with new events, continue live, and each yields all in order", async () => {
    const { clock, started } = world();
    const ground = open();
    const one = await started(ground.connect(), { transports: [script] });
    const { account, key } = await tenant(one);
    await account.messages.send(hello);
    await clock.settle();
    const before = (await everyEvent(account)).length;
    const streams = await Promise.all([1, 2, 3].map(() => follow(one, key)));
    const only = await follow(one, key, undefined, never, "?types=message.failed,message.sent");
    const taking = streams.map((stream) => take(stream, 8));
    const failed = take(only, 1);
    await clock.advance(1);
    for (const body of ["Hello", "refuse", "busy"]) {
      await account.messages.send({ ...hello, body });
      await clock.advance(10_000);
    }
    const log = (await everyEvent(account)).slice(before);
    for (const taken of await Promise.all(taking)) expect(taken).toEqual(log.slice(0, 8));
    expect((await failed).map(({ type }) => type)).toEqual(["message.failed"]);
  });

  it("a stream ends when its reader leaves, also while waiting, and sends heartbeats", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { key } = await tenant(one);
    const leaving = new AbortController();
    const { chunks } = await follow(one, key, undefined, leaving.signal);
    const quiet = chunks.next();
    await clock.advance(15_000);
    expect((await quiet).value).toMatch(/^:/);
    const waiting = chunks.next();
    await clock.settle();
    leaving.abort();
    await clock.settle();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(clock.nextWakeAt).toBeUndefined();
  });

  it("a stream reads at most two pages ahead of a slow reader", async () => {
    const { clock, engine } = world();
    const storage = open().connect();
    let rows = 0;
    const reader = over(storage.reader, {
      async range(range) {
        const found = await storage.reader.range(range);
        rows += found.length;
        return found;
      },
    });
    const one = engine(over(storage, { reader }));
    const { account, key } = await tenant(one);
    await account.sandbox.inbound({ from: hello.to, body: "first" });
    const [first] = await everyEvent(account);
    for (let n = 0; n < 1_000; n++) {
      void account.sandbox.event({ type: "message.sent" });
    }
    await clock.settle();
    rows = 0;
    const stream = await follow(one, key, first?.id);
    await take(stream, 1);
    await clock.settle();
    expect(rows).toBeLessThan(350);
    await take(stream, 500);
    await clock.settle();
    expect(rows).toBeLessThan(1_000);
  });

  it("that are unknown or of another account cannot be resumed from", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const [mine, other] = [await tenant(one), await tenant(one)];
    await other.account.sandbox.inbound({ from: hello.to, body: "Hi" });
    const [theirs] = await everyEvent(other.account);
    const answers = await Promise.all(
      ["evt_00000000000000000000000000", theirs?.id ?? ""].map((id) =>
        call(one.api, {
          path: "/v1/events/stream",
          key: mine.key,
          headers: ["Last-Event-ID", id],
          signal: never,
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([422, 422]);
    await expect(mine.account.events.get(theirs?.id ?? "")).rejects.toMatchObject({
      code: "not_found",
    });
    expect((await other.account.events.get(theirs?.id ?? "")).type).toBe("contact.created");
  });
});
