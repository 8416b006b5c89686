import { createConnection } from "node:net";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { MessagingEngine } from "../../adapters/entry.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import { commit, event } from "../events/log.ts";
import { carrier } from "../support/engines/carrier.ts";
import { stopped, world } from "../support/engines/world.ts";
import { eventually } from "../support/eventually.ts";
import { over } from "../support/over.ts";
import { cases } from "../support/runs.ts";
import { storages } from "../support/storage/storages.ts";
import { telling } from "../support/storage/telling.ts";
import { call, jsonOf } from "./call.ts";
import { mountings, serve } from "./servers.ts";

const from = "+15005550001";

/** A client's event stream: its events, and whether it has ended. */
interface Followed {
  readonly told: string[];
  readonly isOver: () => boolean;
}

async function follow(engine: MessagingEngine, key: string): Promise<Followed> {
  const { status, body } = await call(engine.api, { path: "/v1/events/stream", key });
  if (status !== 200 || body === null || typeof body === "string" || body instanceof Uint8Array) {
    throw new Error(`no stream: ${status}`);
  }
  const told: string[] = [];
  let isOver = false;
  void (async () => {
    for await (const chunk of body) told.push(chunk);
    isOver = true;
  })();
  return { told, isOver: () => isOver };
}

async function tenant(
  engine: MessagingEngine,
): Promise<{ readonly account: AccountHandle; readonly id: string; readonly key: string }> {
  const { account, key } = await engine.accounts.create({
    name: "test",
    plan: { name: "fast", requests_per_second: 100_000 },
  });
  return { account: engine.account(account.id), id: key.id, key: key.secret };
}

describe.each(storages)("an event stream on $name", ({ open }) => {
  it("ends when its key is revoked, without later events", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { account, id, key } = await tenant(one);
    const stream = await follow(one, key);
    await account.sandbox.inbound({ from, body: "before" });
    await clock.settle();
    expect(stream.told.join("")).toContain("before");
    await account.apiKeys.revoke(id);
    await account.sandbox.inbound({ from, body: "private" });
    await clock.settle();
    expect(stream.isOver()).toBe(true);
    expect(stream.told.join("")).not.toContain("private");
    // The engine was never started, so it looks for due work for some seconds.
    await clock.advance(10_000);
    expect(clock.nextWakeAt).toBeUndefined();
  });

  it("ends when its key is revoked while a slow client takes earlier events", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { account, id, key } = await tenant(one);
    const { body } = await call(one.api, { path: "/v1/events/stream", key });
    if (body === null || typeof body === "string" || body instanceof Uint8Array) expect.fail();
    const chunks = body[Symbol.asyncIterator]();
    const first = chunks.next();
    await clock.settle();
    await account.sandbox.inbound({ from, body: "private" });
    expect((await first).done).toBe(false);
    await account.apiKeys.revoke(id);
    await clock.advance(1_000);
    expect((await chunks.next()).done).toBe(true);
    await stopped(one, clock);
  });

  it("ends within 15 seconds when another process revokes its key, and sends nothing after one second", async () => {
    const { clock, engine } = world();
    const ground = open();
    const [one, other] = [
      engine(over(ground.connect(), { watch: () => () => {} })),
      engine(ground.connect()),
    ];
    const { account, id, key } = await tenant(one);
    const stream = await follow(one, key);
    await clock.settle();
    await other.account(account.scope.account_id).apiKeys.revoke(id);
    await clock.advance(1_000);
    await account.sandbox.inbound({ from, body: "private" });
    await clock.advance(15_000);
    expect(stream.isOver()).toBe(true);
    expect(stream.told.join("")).not.toContain("private");
  });

  it("ends when its key expires", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { account } = await tenant(one);
    const expires_at = new Date(clock.now() + 60_000).toISOString();
    const { secret } = await account.apiKeys.create({ name: "short", expires_at });
    const stream = await follow(one, secret);
    await clock.advance(59_999);
    await account.sandbox.inbound({ from, body: "before" });
    await clock.settle();
    await clock.advance(1);
    await account.sandbox.inbound({ from, body: "private" });
    await clock.advance(15_000);
    expect(stream.isOver()).toBe(true);
    expect(stream.told.join("")).toContain("before");
    expect(stream.told.join("")).not.toContain("private");
  });

  it("ends when its rotated secret's grace time is over; the new secret's stream continues", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { account, id, key } = await tenant(one);
    const stream = await follow(one, key);
    const { secret } = await account.apiKeys.rotate(id, { grace_seconds: 60 });
    const next = await follow(one, secret);
    await clock.advance(59_000);
    expect(stream.isOver()).toBe(false);
    await clock.advance(16_000);
    expect([stream.isOver(), next.isOver()]).toEqual([true, false]);
  });

  it("gets another process's events at once, even if its engine is not started", async () => {
    const { clock, engine } = world();
    const ground = open();
    const { storage, tell } = telling(ground.connect());
    const [one, other] = [engine(storage), engine(ground.connect())];
    const { account, key } = await tenant(one);
    const stream = await follow(one, key);
    await clock.settle();
    await other.account(account.scope.account_id).sandbox.inbound({ from, body: "Hello" });
    tell();
    await clock.settle();
    expect(stream.told.join("")).toContain("Hello");
  });

  it.each([
    ["started", true],
    ["not started", false],
  ])("ends cleanly when its engine stops, while waiting or reading (%s)", async (_, starts) => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    if (starts) await one.start();
    const { account, key } = await tenant(one);
    const waiting = await follow(one, key);
    await clock.settle();
    await account.sandbox.inbound({ from, body: "Hello" });
    const reading = await follow(one, key);
    await stopped(one, clock);
    await clock.settle();
    expect([waiting.isOver(), reading.isOver()]).toEqual([true, true]);
    expect(clock.nextWakeAt).toBeUndefined();
  });

  it("ends cleanly when its storage is closed", async () => {
    const { clock, engine } = world();
    const storage = open().connect();
    let slow = false;
    const reader = over(storage.reader, {
      async range(range) {
        if (slow) await clock.sleep(1_000);
        return storage.reader.range(range);
      },
    });
    const one = engine(over(storage, { reader }));
    const { account, key } = await tenant(one);
    const stream = await follow(one, key);
    await clock.settle();
    slow = true;
    await account.sandbox.inbound({ from, body: "Hello" });
    await clock.settle();
    await one.stop();
    await clock.advance(5_000);
    expect(stream.isOver()).toBe(true);
  });
});

/** Opens a stream that nobody reads. Returns the status of its response. */
async function opened(engine: MessagingEngine, key: string, signal: AbortSignal): Promise<number> {
  return (await call(engine.api, { path: "/v1/events/stream", key, signal })).status;
}

test("a visitor's stream gets each message of another process at once", async () => {
  const { clock, engine } = world();
  const storage = memory();
  let tell = (): void => {};
  const watch = (listener: () => void): (() => void) => {
    tell = listener;
    return () => {};
  };
  const [one, other] = [engine(over(storage, { watch })), engine(storage)];
  await other.start();
  const { id, contact_id: to } = await one.webchat.open();
  const told: unknown[] = [];
  const stream = await one.webchat.stream(id);
  void (async () => {
    for await (const { message } of stream) told.push(message.body);
  })();
  for (const body of ["Hello", "Again", "And again"]) {
    await other.messages.send({ to, channel: "webchat", body });
    await clock.advance(500);
    tell();
    await clock.settle();
    expect(told.at(-1)).toBe(body);
  }
});

test("an event stream begins at once, since some servers send its head with the first chunk", async () => {
  const { clock, engine } = world();
  const one = engine(memory());
  const { key } = await tenant(one);
  const stream = await follow(one, key);
  await clock.settle();
  expect(stream.told).toEqual([": \n\n"]);
});

test("an API key may have 100 open streams, and an account 1,000", async () => {
  const { engine } = world();
  const one = engine(memory());
  const { account, key } = await tenant(one);
  const first = new AbortController();
  const others = new AbortController();
  expect(await opened(one, key, first.signal)).toBe(200);
  for (let i = 1; i < 100; i++) expect(await opened(one, key, others.signal)).toBe(200);
  const refused = await call(one.api, { path: "/v1/events/stream", key });
  expect([refused.status, jsonOf(refused)]).toMatchObject([
    429,
    { code: "too_many_streams", detail: expect.stringContaining("100") as string },
  ]);
  first.abort();
  expect(await opened(one, key, others.signal)).toBe(200);

  for (let i = 1; i < 10; i++) {
    const { secret } = await account.apiKeys.create({ name: `${i}`, scopes: ["events:read"] });
    for (let j = 0; j < 100; j++) await opened(one, secret, others.signal);
  }
  const { secret } = await account.apiKeys.create({ name: "last", scopes: ["events:read"] });
  expect(await opened(one, secret, others.signal)).toBe(429);
  const stranger = await tenant(one);
  expect(await opened(one, stranger.key, others.signal)).toBe(200);
  others.abort();
  expect(await opened(one, secret, new AbortController().signal)).toBe(200);
});

/** Reads a stream over a plain socket. The client takes no bytes until `resume` is called. */
function slowClient(port: number, path: string, key: string) {
  const socket = createConnection(port, "127.0.0.1");
  const ids: string[] = [];
  let isOpen = false;
  let isClosed = false;
  let unfinished = "";
  // A stream is many megabytes long, so each line is read once.
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (unfinished + chunk).split(/\r?\n/);
    unfinished = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "HTTP/1.1 200 OK") isOpen = true;
      if (line.startsWith("id: ")) ids.push(line.slice("id: ".length));
    }
  });
  socket.on("close", () => (isClosed = true)).on("error", () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  onTestFinished(() => void socket.destroy());
  return { socket, ids, isOpen: () => isOpen, isClosed: () => isClosed };
}

const mounted = mountings.filter(({ name }) => /^(node:http|Express|Koa|fetch)$/.test(name));

test.each(cases(mounted, ({ name }) => name === "node:http"))(
  "a client that takes nothing is cut off, and resumes after its last event ($name)",
  async ({ prefix, listener }) => {
    const storage = memory();
    const engine = new MessagingEngine({ storage, transports: [carrier()] });
    onTestFinished(() => engine.stop());
    const { account, key } = await tenant(engine);
    await using running = await serve({ prefix, listener }, engine);
    const { port } = running;
    const client = slowClient(port, `${prefix}/v1/events/stream`, key);
    await eventually(() => expect(client.isOpen()).toBe(true));
    client.socket.pause();
    // More than the buffers of the sockets take, and then more events than may wait.
    const data = { text: "x".repeat(20_000) };
    const rows = Array.from({ length: 2_500 }, () => ({
      ...event(account.scope, "message.sent"),
      created_at: Date.now(),
      data,
    }));
    for (let i = 0; i < rows.length; i += 100) {
      await commit(storage, rows.slice(i, i + 100));
      await new Promise(setImmediate);
    }
    client.socket.resume();
    await eventually(() => expect(client.isClosed()).toBe(true));
    const taken = client.ids;

    const rest = slowClient(port, `${prefix}/v1/events/stream?last_event_id=${taken.at(-1)}`, key);
    const all = rows.map(({ id }) => id);
    await eventually(() => expect(rest.ids.at(-1)).toBe(all.at(-1)));
    expect([...taken, ...rest.ids]).toEqual(all);
    expect(taken.length).toBeLessThan(all.length);
  },
);
