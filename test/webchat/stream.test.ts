import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { mailByNumber, webchatSessions } from "../../src/webchat/rows.ts";
import { call } from "../api/call.ts";
import { mountings, type Mounting } from "../api/servers.ts";
import { world } from "../support/engines/world.ts";
import { eventually } from "../support/eventually.ts";
import { over } from "../support/over.ts";
import { cases, longTest } from "../support/runs.ts";
import { storages } from "../support/storage/storages.ts";
import { telling } from "../support/storage/telling.ts";
import { openTab, shop, visitorOf, type Shop, type Tab, type Visitor } from "./world.ts";

/** A quiet stream reads the storage every 15 s. A notification must arrive well before. */
const soon = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 12_000, interval: 20 });

async function send(
  { engine }: Pick<Shop, "engine">,
  { session }: Visitor,
  body: string,
): Promise<string> {
  return (await engine.messages.send({ to: session.contact_id, channel: "webchat", body })).id;
}

/** A storage without notifications of other processes' commits. */
function withoutNotifications(): StoragePort {
  return over(memory(), { watch: () => () => {} });
}

/** What a stream begins with. */
const opening =
  ': \n\nretry: 2000\n\nevent: state\ndata: {"read_at":null,"assignee":null,"queued":false}\n\n';

const bodies = ({ told }: Tab): (string | null)[] => told.map(({ message }) => message.body);
const upTo = (n: number): string[] => Array.from({ length: n }, (_, i) => String(i + 1));

/** Reads the next `count` messages of a stream. */
async function read(
  url: string,
  headers: Readonly<Record<string, string>>,
  count: number,
): Promise<unknown[]> {
  const left = new AbortController();
  const { body } = await fetch(url, { headers, signal: left.signal });
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const data = (): unknown[] =>
    [...text.matchAll(/^id: .*\ndata: (.*)$/gm)].map(
      ([, json = ""]) => JSON.parse(json) as unknown,
    );
  while (reader !== undefined && data().length < count) {
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
  }
  left.abort();
  return data();
}

const rounds = [1, 2];
/** Each framework once in `npm test`. */
const few = new Set(["node:http", "Express", "Koa", "fetch under a path in Hono"]);
const mounts = cases(mountings, ({ name }) => few.has(name));

test("a browser gets each message once, in order, after each disconnect, with each mount", async () => {
  await Promise.all(mounts.map(disconnect));
});

async function disconnect(mounting: Mounting): Promise<void> {
  const there = await shop({}, { mounting });
  const visitor = visitorOf(there, await there.engine.webchat.open());
  const first = await send(there, visitor, "1");
  const tab = openTab(visitor);
  await eventually(() => expect(bodies(tab)).toEqual(upTo(1)));
  for (const round of rounds) {
    const goOnline = tab.goOffline();
    there.cut();
    await send(there, visitor, String(2 * round));
    await send(there, visitor, String(2 * round + 1));
    goOnline();
    await eventually(() =>
      expect([mounting.name, ...bodies(tab)]).toEqual([mounting.name, ...upTo(2 * round + 1)]),
    );
    expect(tab.opened()).toBe(round + 1);
  }
  const count = 2 * rounds.length + 1;
  expect(tab.told.map(({ id }) => id)).toEqual(upTo(count));
  // Its Last-Event-ID after the reconnect confirms all messages but the last two.
  const delivered = Array<string>(count - 2).fill("delivered");
  await eventually(async () => {
    const { data: listed } = await there.engine.messages.list({ limit: 100 });
    const statuses = listed.map(({ status }) => status).toReversed();
    expect(statuses).toEqual([...delivered, "sent", "sent"]);
  });
  const { data } = await there.engine.messages.timeline(first);
  expect(data.filter(({ type }) => type === "receipt")).toHaveLength(1);
}

/** Two processes on one storage. */
async function shops(): Promise<readonly [Shop, Shop]> {
  const folder = mkdtempSync(join(tmpdir(), "tidings-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const connect = () => sqlite({ file: join(folder, "test.db") });
  return [await shop({}, { storage: connect() }), await shop({}, { storage: connect() })];
}

test("a visitor's stream continues in another process", async () => {
  const [one, other] = await shops();
  const session = await one.engine.webchat.open();
  const [here, there] = [visitorOf(one, session), visitorOf(other, session)];
  for (const body of upTo(3)) await send(one, here, body);
  const [first] = await read(`${here.url}/stream?token=${here.token}`, {}, 1);
  expect(first).toMatchObject({ body: "1" });
  const headers = { "Last-Event-ID": "1", authorization: `Bearer ${there.token}` };
  expect(await read(`${there.url}/stream`, headers, 2)).toMatchObject([
    { body: "2" },
    { body: "3" },
  ]);
  // A commit of the first process reaches the other's streams.
  const tab = openTab(there);
  await soon(() => expect(bodies(tab)).toEqual(upTo(3)));
  await send(one, here, "4");
  await soon(() => expect(bodies(tab)).toEqual(upTo(4)));
});

const inMemory = cases(storages, ({ name }) => name === "memory");

describe.each(inMemory)("the streams of other visitors on $name", ({ open }) => {
  test.each(["this process", "another process"])("cost a commit of %s no read", async (where) => {
    const { clock, engine } = world();
    const ground = open();
    const storage = ground.connect();
    const mailboxesRead: unknown[] = [];
    let sessionReads = 0;
    const reader = over(storage.reader, {
      get(lookups) {
        if (lookups.some(({ index }) => index.collection === webchatSessions)) sessionReads++;
        return storage.reader.get(lookups);
      },
      range(range) {
        if (range.index === mailByNumber) mailboxesRead.push(range.prefix.at(-1));
        return storage.reader.range(range);
      },
    });
    const { storage: own, tell } = telling(over(storage, { reader }));
    const one = engine(own);
    const sending = where === "this process" ? one : engine(ground.connect());
    await sending.start();
    const told: string[][] = [];
    const sessions = [];
    const left = new AbortController();
    for (let i = 0; i < 20; i++) {
      const session = await one.webchat.open();
      const stream = await one.webchat.stream(session.id, {}, { signal: left.signal });
      const own: string[] = [];
      sessions.push(session);
      told.push(own);
      void (async () => {
        for await (const { message } of stream) own.push(message.body ?? "");
      })();
    }
    await clock.settle();
    mailboxesRead.length = sessionReads = 0;
    const chosen = sessions[7] ?? expect.fail();
    await sending.messages.send({ to: chosen.contact_id, channel: "webchat", body: "Hello" });
    await clock.advance(1_000);
    if (where === "another process") tell();
    // One check finds the sessions that another process has removed. The stream reads its own when
    // the conversation begins and when the message arrives.
    await clock.advance(6_000);
    expect(told).toEqual(sessions.map((each) => (each === chosen ? ["Hello"] : [])));
    expect(new Set(mailboxesRead).size).toBe(1);
    expect(sessionReads).toBeLessThanOrEqual(3);
    left.abort();
    await clock.settle();
  });
});

test("a stream leaves nothing running when its engine stops after another process's commit", async () => {
  const { clock, started } = world();
  const { storage, tell } = telling(memory());
  const one = await started(storage);
  const session = await one.webchat.open();
  const stream = await one.webchat.stream(session.id);
  tell();
  await one.stop();
  await clock.settle();
  expect(clock.nextWakeAt).toBeUndefined();
  for await (const _ of stream) expect.fail("the engine has stopped");
});

longTest(
  "a stream survives a merge of its contact and ends with its erasure, in every process",
  async () => {
    const [one, other] = await shops();
    const [kept, merged] = [await one.engine.webchat.open(), await one.engine.webchat.open()];
    const [here, there] = [visitorOf(one, kept), visitorOf(other, merged)];
    const tabs = [openTab(here), openTab(there)] as const;
    await send(one, there, "before");
    await soon(() => expect(tabs.map(bodies)).toEqual([[], ["before"]]));
    await one.engine.contacts.merge(kept.contact_id, merged.contact_id);
    await send(one, here, "to both");
    await soon(() => expect(tabs.map(bodies)).toEqual([["to both"], ["before", "to both"]]));
    expect((await there.post("/messages", { body: "it's me" })).status).toBe(201);
    const { data } = await one.engine.conversations.list({
      contact_id: kept.contact_id,
      status: "open",
    });
    expect(data).toMatchObject([
      { message_count: 3, unread_count: 1, contact: { id: kept.contact_id } },
    ]);

    await one.engine.contacts.erase(kept.contact_id);
    // The session is deleted, so the browser does not reconnect.
    await soon(() => expect(tabs.map(({ source }) => source.readyState)).toEqual([2, 2]));
    expect((await there.post("/messages", { body: "still me" })).status).toBe(404);
  },
);

test("a stream sends texts unchanged", async () => {
  const there = await shop({}, { storage: withoutNotifications() });
  const visitor = visitorOf(there, await there.engine.webchat.open());
  const body = "<img src=x onerror=alert(1)>\nid: 99\n\ndata: forged\r\nevent: x \u2028 \u{1F600}";
  const tab = openTab(visitor);
  await send(there, visitor, body);
  await soon(() => expect(bodies(tab)).toEqual([body]));
  expect(tab.told[0]?.id).toBe("1");
});

test("a new session starts with new messages and records its browser's marks", async () => {
  const there = await shop();
  const before = visitorOf(there, await there.engine.webchat.open());
  await send(there, before, "old");
  await soon(async () =>
    expect(await read(`${before.url}/stream?token=${before.token}`, {}, 1)).toHaveLength(1),
  );
  const { contact_id } = before.session;
  const now = visitorOf(there, await there.engine.webchat.open({ contact_id }));
  const stranger = visitorOf(there, await there.engine.webchat.open());
  const tab = openTab(now);
  const message_id = await send(there, now, "new");
  await soon(() => expect(bodies(tab)).toEqual(["new"]));
  const statusOf = async (): Promise<string> =>
    (await there.engine.messages.get(message_id)).status;
  expect((await stranger.post("/marks", { message_id, mark: "read" })).status).toBe(404);
  expect((await now.post("/marks", { message_id, mark: "seen" })).status).toBe(422);
  expect(await statusOf()).toBe("sent");
  const events: string[] = [];
  there.engine.on("message.sent", ({ data }) => void events.push(data.status));
  for (const mark of ["delivered", "delivered", "read", "delivered", "read"]) {
    expect((await now.post("/marks", { message_id, mark })).status).toBe(204);
  }
  expect(await statusOf()).toBe("read");
  expect(events).toEqual(["delivered"]);
  const { data } = await there.engine.messages.timeline(message_id);
  expect(data.filter(({ type }) => type === "receipt")).toHaveLength(2);
});

test("a stream needs its token and a valid last event id, and ends when the engine stops", async () => {
  const there = await shop({}, { storage: withoutNotifications() });
  const visitor = visitorOf(there, await there.engine.webchat.open());
  const other = visitorOf(there, await there.engine.webchat.open());
  const statusOf = async (query: string): Promise<number> =>
    (await fetch(`${visitor.url}/stream${query}`)).status;
  expect(await statusOf("")).toBe(401);
  expect(await statusOf(`?token=${other.token}`)).toBe(401);
  expect(await statusOf(`?token=${visitor.token}&last_event_id=x`)).toBe(422);
  const last = await fetch(`${visitor.url}/stream?token=${visitor.token}`);
  const ended = last.text();
  await there.engine.stop({ deadlineMs: 1_000 });
  expect(await ended).toBe(opening);
});

test("a sixth stream of a visitor ends the oldest one", async () => {
  const there = await shop({}, { storage: withoutNotifications() });
  const visitor = visitorOf(there, await there.engine.webchat.open());
  const open = async (): Promise<ReadableStreamDefaultReader<string>> => {
    const { status, headers, body } = await fetch(`${visitor.url}/stream?token=${visitor.token}`);
    expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    const reader = (body ?? expect.fail("no body"))
      .pipeThrough(new TextDecoderStream())
      .getReader();
    onTestFinished(() => reader.cancel());
    return reader;
  };
  const first = await open();
  let begun = "";
  while (begun.length < opening.length) begun += (await first.read()).value ?? expect.fail("over");
  expect(begun).toBe(opening);
  const others = [await open(), await open(), await open(), await open()];
  const ended = first.read();
  others.push(await open());
  expect((await ended).done).toBe(true);
  await send(there, visitor, "hello");
  for (const each of others) {
    let text = "";
    while (!text.includes("hello")) text += (await each.read()).value ?? expect.fail("it ended");
  }
});

test("a visitor's unread streams are limited to ten until some are closed", async () => {
  const there = await shop();
  const visitor = visitorOf(there, await there.engine.webchat.open());
  const left = new AbortController();
  const path = `/v1/webchat/sessions/${visitor.session.id}/stream?token=${visitor.token}`;
  const open = async (): Promise<number> =>
    (await call(there.engine.api, { path, signal: left.signal })).status;
  const statuses = [];
  for (let i = 0; i < 11; i++) statuses.push(await open());
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 503]);
  left.abort();
  expect((await call(there.engine.api, { path })).status).toBe(200);
});

test("streams that are refused in great number log one line a minute, and no error", async () => {
  const { clock, engine, log } = world();
  const one = engine(memory());
  const { id, token } = await one.webchat.open();
  const left = new AbortController();
  const path = `/v1/webchat/sessions/${id}/stream?token=${token}`;
  const refuse = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) {
      expect((await call(one.api, { path, signal: left.signal })).status).toBe(503);
    }
  };
  for (let i = 0; i < 10; i++) await call(one.api, { path, signal: left.signal });
  await refuse(6);
  await clock.advance(60_000);
  await refuse(1);
  expect(log.filter(({ level }) => level !== "debug")).toMatchObject([
    { level: "warn", facts: { requests: 1, reasons: [expect.stringContaining("this visitor")] } },
    { level: "warn", facts: { requests: 6 } },
  ]);
  left.abort();
});

describe("idle streams of visitors", () => {
  const idle = async () => {
    const { clock, engine } = world();
    const storage = withoutNotifications();
    const counts = { sessions: 0, mailboxes: 0 };
    const reader = over(storage.reader, {
      get(lookups) {
        if (lookups.some(({ index }) => index.collection === webchatSessions)) counts.sessions++;
        return storage.reader.get(lookups);
      },
      range(range) {
        if (range.index === mailByNumber) counts.mailboxes++;
        return storage.reader.range(range);
      },
    });
    const one = engine(over(storage, { reader }));
    const sessions = [];
    const ended = new Set<number>();
    for (let i = 0; i < 20; i++) {
      const session = await one.webchat.open();
      const stream = await one.webchat.stream(session.id);
      sessions.push(session);
      void (async () => {
        for await (const _ of stream) expect.fail("nothing was sent");
        ended.add(i);
      })();
    }
    await clock.settle();
    counts.sessions = counts.mailboxes = 0;
    return { clock, counts, sessions, ended, other: engine(storage) };
  };

  test("read no mailboxes, and their sessions together", async () => {
    const { clock, counts, ended } = await idle();
    await clock.advance(150_000);
    expect(counts.mailboxes).toBe(0);
    expect(counts.sessions).toBeLessThanOrEqual(11);
    expect(ended.size).toBe(0);
  });

  test("end with each session that another process removes, also without a notification", async () => {
    const { clock, sessions, ended, other } = await idle();
    for (const i of [3, 7]) {
      await other.contacts.erase(sessions[i]?.contact_id ?? expect.fail());
      await clock.advance(30_000);
      expect([...ended].at(-1)).toBe(i);
    }
    expect(ended.size).toBe(2);
  });

  test("end when their session expires", async () => {
    const { clock, sessions, ended } = await idle();
    const end = Date.parse(sessions[19]?.expires_at ?? expect.fail());
    // Each stream would look a thousand times before its last minutes.
    clock.step(end - 300_000 - clock.now());
    await clock.advance(240_000);
    expect(ended.size).toBe(0);
    await clock.advanceTo(end);
    expect(ended.size).toBe(20);
  });
});

test("CORS allows only configured origins, and only on visitors' routes", async () => {
  const there = await shop({ webchat: { origins: ["https://shop.example"] } });
  const visitor = visitorOf(there, await there.engine.webchat.open());
  const preflight = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization",
  };
  const asked = async (path: string, origin: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${there.base}${path}`, { ...init, headers: { origin, ...(init.headers as object) } });
  const path = `/v1/webchat/sessions/${visitor.session.id}/messages`;
  const options = { method: "OPTIONS", headers: preflight };
  const allowed = await asked(path, "https://shop.example", options);
  expect(allowed.status).toBe(204);
  expect(Object.fromEntries(allowed.headers)).toMatchObject({
    "access-control-allow-origin": "https://shop.example",
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key, Last-Event-ID",
    vary: "Origin",
  });
  expect(allowed.headers.get("access-control-allow-credentials")).toBeNull();
  const origins = async (
    where: string,
    origin: string,
    init?: RequestInit,
  ): Promise<string | null> =>
    (await asked(where, origin, init)).headers.get("access-control-allow-origin");
  expect(await origins(path, "https://evil.example", options)).toBeNull();
  expect(await origins(path, "https://shop.example.evil.example", options)).toBeNull();
  // Errors can be read too.
  expect(await origins(path, "https://shop.example", { method: "POST" })).toBe(
    "https://shop.example",
  );
  for (const wrong of [`${path}?filter=${"x".repeat(9_000)}`, path.replace("wcs_", "%zz")]) {
    expect((await asked(wrong, "https://shop.example")).status).toBe(400);
    expect((await asked(wrong, "https://shop.example", options)).status).toBe(204);
    expect(await origins(wrong, "https://shop.example")).toBe("https://shop.example");
  }
  for (const keys of ["/v1/messages", "/v1/webchat/sessions"]) {
    expect(await origins(keys, "https://shop.example", options)).toBeNull();
    expect(await origins(keys, "https://shop.example", { method: "POST" })).toBeNull();
  }
  const none = await shop();
  const answer = await fetch(`${none.base}${path}`, {
    ...options,
    headers: { ...preflight, origin: "https://shop.example" },
  });
  expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([204, null]);
});
