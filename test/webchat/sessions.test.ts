import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { mail, mailboxes, webchatSessions } from "../../src/webchat/rows.ts";
import type { WebchatSession } from "../../src/webchat/sessions/session-types.ts";
import { call, jsonOf } from "../api/call.ts";
import { world } from "../support/engines/world.ts";
import { cases } from "../support/runs.ts";
import { overtaken, writesTo } from "../support/storage/groups.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { lightStorages, storages } from "../support/storage/storages.ts";

const hourMs = 3_600_000;

async function write(
  { api }: Pick<MessagingEngine, "api">,
  { id, token }: Pick<WebchatSession, "id" | "token">,
  body: object,
  headers: readonly string[] = [],
): Promise<Awaited<ReturnType<typeof call>>> {
  return call(api, {
    method: "POST",
    path: `/v1/webchat/sessions/${id}/messages`,
    ...(token === null ? {} : { key: token }),
    headers,
    body,
  });
}

async function take<T>(count: number, items: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of items) if (taken.push(item) === count) break;
  return taken;
}

const inMemory = cases(storages, ({ name }) => name === "memory");

describe.each(inMemory)("a chat in process on $name", ({ open }) => {
  it("is the same as over HTTP: messages, stream, deliveries and marks", async () => {
    const { clock, started } = world();
    const one = await started(open().connect());
    const session = await one.webchat.open({ name: "Ann" });
    const { id, contact_id: to } = session;
    const written = { body: "Hi", client_id: "first" };
    const message = await one.webchat.sendAsVisitor(id, written);
    expect(message).toMatchObject({ direction: "inbound", body: "Hi", author: "contact" });
    expect(jsonOf(await write(one, session, written))).toEqual(message);

    const stream = await one.webchat.stream(id);
    const replies: string[] = [];
    for (const body of ["1", "2", "3"]) {
      replies.push((await one.messages.send({ to, channel: "webchat", body })).id);
    }
    const streaming = take(3, stream);
    await clock.settle();
    const seen = await streaming;
    expect(seen).toMatchObject(
      replies.map((reply, i) => ({
        id: String(i + 1),
        message: { id: reply, direction: "outbound", body: String(i + 1), author: "api" },
      })),
    );
    const { body: text } = await call(one.api, {
      path: `/v1/webchat/sessions/${id}/stream?token=${session.token}`,
    });
    if (typeof text !== "object" || text === null || text instanceof Uint8Array) expect.fail();
    const [comment, greeting, state, ...chunks] = await take(6, text);
    expect([comment, greeting, state]).toEqual([
      ": \n\n",
      "retry: 2000\n\n",
      `event: state\ndata: ${JSON.stringify({ read_at: null, assignee: null, queued: false })}\n\n`,
    ]);
    expect(chunks.flatMap((chunk) => /^data: (.*)$/m.exec(chunk)?.[1] ?? [])).toEqual(
      seen.map((each) => JSON.stringify(each.message)),
    );

    const resumed = await one.webchat.stream(id, { last_event_id: "2" });
    expect(await take(1, resumed)).toEqual(seen.slice(2));
    await one.webchat.mark(id, { message_id: replies[0] ?? "", mark: "read" });
    const statuses = (await one.messages.list({ direction: "outbound" })).data;
    expect(statuses.map(({ status }) => status).toReversed()).toEqual([
      "read",
      "delivered",
      "sent",
    ]);
  });

  it("ends with its session, which other accounts cannot use", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect(), { webchat: { sessionHours: 1 } });
    const { account } = await one.accounts.create({ name: "other" });
    const { webchat: theirs } = one.account(account.id);
    const { id, contact_id: to, expires_at } = await one.webchat.open();
    const { id: message_id } = await one.messages.send({ to, channel: "webchat", body: "Hi" });
    const isRefused = async ({ webchat }: Pick<MessagingEngine, "webchat">): Promise<void> => {
      for (const use of [
        () => webchat.sendAsVisitor(id, { body: "Hi" }),
        () => webchat.mark(id, { message_id, mark: "read" }),
        () => webchat.stream(id),
        () => webchat.stream(id, { last_event_id: "1" }),
      ]) {
        await expect(use()).rejects.toMatchObject({ code: "not_found" });
      }
    };
    await isRefused({ webchat: theirs });
    const reading = take(1, await one.webchat.stream(id));
    await clock.advance(Date.parse(expires_at) - clock.now());
    expect(await reading).toEqual([]);
    await isRefused(one);
  });
});

describe.each(lightStorages)("webchat sessions on $name", ({ open }) => {
  it("create a contact for a new visitor and receive its messages unchanged, including markup", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const session = await one.webchat.open({ name: '<b>Ann</b> & "Bob"' });
    expect(session).toMatchObject({
      inbox: "sandbox",
      contact_id: expect.stringMatching(/^ct_/) as unknown,
    });
    const body = "<script>alert('x')</script>\r\nSet-Cookie: a=b\u2028\u0007 \u{1F600}";
    const answer = await write(one, session, { body });
    expect(answer.status).toBe(201);
    expect(jsonOf(answer)).toMatchObject({
      direction: "inbound",
      body,
      author: "contact",
      media: [],
    });
    expect(Object.keys(jsonOf(answer)).toSorted()).toEqual([
      "author",
      "author_name",
      "body",
      "created_at",
      "direction",
      "id",
      "media",
      "placed_at",
    ]);
    const message = await one.messages.get(String(jsonOf(answer)["id"]));
    expect(message).toMatchObject({
      channel: "webchat",
      body,
      contact_id: session.contact_id,
      to: "sandbox",
    });
    const { data } = await one.events.list({ type: "message.received" });
    expect(data[0]?.data).toMatchObject({
      contact: { name: '<b>Ann</b> & "Bob"', phone: null },
      body,
      channel: "webchat",
    });
    const { identities } = await one.contacts.get(session.contact_id);
    expect(identities).toEqual([{ medium: "webchat", address: message.from }]);
  });

  it("continue a known contact's conversation, and reject an unknown contact", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const { contact_id } = await one.sandbox.inbound({ from: "+15005550101", body: "hello" });
    const first = await one.webchat.open({ contact_id });
    const second = await one.webchat.open({ contact_id });
    expect([first.contact_id, second.contact_id]).toEqual([contact_id, contact_id]);
    const said = [await write(one, first, { body: "a" }), await write(one, second, { body: "b" })];
    const messages = await Promise.all(
      said.map((answer) => one.messages.get(String(jsonOf(answer)["id"]))),
    );
    expect(new Set(messages.map(({ conversation_id }) => conversation_id)).size).toBe(1);
    expect(messages.map((message) => message.contact_id)).toEqual([contact_id, contact_id]);
    const refusal = { code: "validation_failed", errors: [{ pointer: "/contact_id" }] };
    await expect(
      one.webchat.open({ contact_id: "ct_01JZZZZZZZZZZZZZZZZZZZZZZZ" }),
    ).rejects.toMatchObject(refusal);
    await expect(one.webchat.open({ contact_id, name: "Ann" })).rejects.toMatchObject({
      errors: [{ pointer: "/name" }],
    });
    await expect(one.webchat.open({ inbox: "+15005559999" })).rejects.toMatchObject({
      code: "no_sender",
      errors: [{ pointer: "/inbox" }],
    });
    await expect(
      one.account(undefined, { mode: "live" }).webchat.open({ contact_id }),
    ).rejects.toMatchObject({
      code: "no_sender",
      message:
        "This account has no webchat inbox in live mode. Create a sender with the channel and the " +
        "transport webchat.",
    });
  });

  it("give a known contact one webchat address, with one event", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const { contact_id } = await one.sandbox.inbound({ from: "+15005550101", body: "hello" });
    await one.webchat.open({ contact_id });
    await one.webchat.open({ contact_id });
    const { identities } = await one.contacts.get(contact_id);
    expect(identities.map(({ medium }) => medium).toSorted()).toEqual(["text", "webchat"]);
    const { data } = await one.events.list({ type: "contact.updated" });
    expect(data).toMatchObject([{ data: { contact: { id: contact_id, identities } } }]);
  });

  it("work in live mode with an inbox of the host application", async () => {
    const { engine } = world();
    const live = engine(open().connect()).account(undefined, { mode: "live" });
    await live.senders.create({ address: "shop", channels: ["webchat"], transport: "webchat" });
    expect(await live.webchat.open()).toMatchObject({ inbox: "shop" });
  });

  it("show the token once, and reject missing, foreign and expired tokens", async () => {
    const { engine, clock } = world();
    const storage = open().connect();
    const one = engine(storage);
    const [session, other] = [
      await one.webchat.open({}, { idempotencyKey: "k" }),
      await one.webchat.open(),
    ];
    expect(await one.webchat.open({}, { idempotencyKey: "k" })).toEqual({
      ...session,
      token: null,
      return_key: null,
    });
    const { secret } = await one.apiKeys.create({ name: "key" });
    const body = { body: "hi" };
    const codeOf = async (id: string, token: string | null): Promise<unknown> =>
      jsonOf(await write(one, { id: id as WebchatSession["id"], token }, body))["code"];
    expect(await codeOf(session.id, null)).toBe("missing_visitor_token");
    expect(await codeOf(session.id, secret)).toBe("invalid_visitor_token");
    expect(await codeOf(session.id, other.token)).toBe("invalid_visitor_token");
    expect(await codeOf("wcs_01JZZZZZZZZZZZZZZZZZZZZZZZ", other.token)).toBe(
      "invalid_visitor_token",
    );
    expect(await codeOf("__proto__", other.token)).toBe("invalid_visitor_token");
    const asKey = await call(one.api, { path: "/v1/messages", key: session.token ?? "" });
    expect(jsonOf(asKey)).toMatchObject({ status: 401, code: "invalid_api_key" });
    const twice = await call(one.api, {
      method: "POST",
      path: `/v1/webchat/sessions/${session.id}/messages?token=${session.token}&token=${session.token}`,
      body,
    });
    expect(jsonOf(twice)).toMatchObject({ status: 401, code: "invalid_visitor_token" });

    await clock.advance(24 * hourMs - 1);
    expect((await write(one, session, body)).status).toBe(201);
    await clock.advance(1);
    const over = await write(one, session, body);
    expect(jsonOf(over)).toMatchObject({ status: 401, code: "expired_visitor_token" });
    expect(over.headers["WWW-Authenticate"]).toBe('Bearer error="invalid_token"');
    await one.start();
    await clock.advance(600_001);
    expect(await rowsOf(storage, webchatSessions)).toEqual([]);
  });

  it("end with their streams when they expire", async () => {
    const { engine, clock } = world();
    const one = engine(open().connect(), { webchat: { sessionHours: 1 } });
    const { id, token } = await one.webchat.open();
    const path = `/v1/webchat/sessions/${id}/stream?token=${token}`;
    await clock.advance(7_000);
    const { body } = await call(one.api, { path });
    if (typeof body === "string" || body === null) return expect.fail("no stream");
    let isOver = false;
    const chunks: unknown[] = [];
    const read = (async () => {
      for await (const chunk of body) chunks.push(chunk);
      isOver = true;
    })();
    await clock.advance(hourMs - 7_001);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await clock.settle();
    expect(isOver).toBe(true);
    await read;
    // The beginning, and a heartbeat every 15 seconds.
    expect(chunks).toHaveLength(3 + 239);
    expect(jsonOf(await call(one.api, { path }))).toMatchObject({
      status: 401,
      code: "expired_visitor_token",
    });
  });

  it("deduplicate messages by client id and idempotency key, per session", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const [session, other] = [await one.webchat.open(), await one.webchat.open()];
    const first = await write(one, session, { body: "once", client_id: "1" });
    expect(jsonOf(await write(one, session, { body: "once", client_id: "1" }))["id"]).toBe(
      jsonOf(first)["id"],
    );
    expect(jsonOf(await write(one, other, { body: "once", client_id: "1" }))["id"]).not.toBe(
      jsonOf(first)["id"],
    );
    const key = ["Idempotency-Key", "k"];
    const said = await write(one, session, { body: "a" }, key);
    const again = await write(one, session, { body: "a" }, key);
    expect([again.body, again.headers["Idempotent-Replayed"]]).toEqual([said.body, "true"]);
    expect((await write(one, other, { body: "other" }, key)).status).toBe(201);
    await expect(
      one.messages.send({ to: "+15005550001", body: "x" }, { idempotencyKey: "k" }),
    ).resolves.toBeDefined();
    // The stored response is redacted, too.
    await one.messages.redact(String(jsonOf(said)["id"]));
    expect(jsonOf(await write(one, session, { body: "a" }, key))).toMatchObject({
      status: 410,
      code: "erased",
    });
  });

  it("reject more than 20 messages in ten seconds with Retry-After", async () => {
    const { engine, clock } = world();
    const one = engine(open().connect());
    const [session, other] = [await one.webchat.open(), await one.webchat.open()];
    for (let i = 0; i < 20; i++) {
      expect((await write(one, session, { body: String(i) })).status).toBe(201);
      await clock.advance(100);
    }
    const refused = await write(one, session, { body: "20" });
    expect(jsonOf(refused)).toMatchObject({ status: 429, code: "rate_limited", retryable: true });
    expect(refused.headers["Retry-After"]).toBe("8");
    expect((await write(one, other, { body: "20" })).status).toBe(201);
    await clock.advance(8_000);
    expect((await write(one, session, { body: "20" })).status).toBe(201);
  });

  it("count a visitor's messages exactly across two engines at once", async () => {
    const { engine, clock } = world();
    const ground = open();
    const engines = [engine(ground.connect()), engine(ground.connect())] as const;
    const [one, other] = engines;
    const session = await one.webchat.open();
    let isOver = false;
    const all = Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        write(i % 2 === 0 ? one : other, session, { body: String(i) }),
      ),
    ).finally(() => (isOver = true));
    await clock.advanceUntil(() => isOver, 9_000);
    const statuses = Map.groupBy(await all, ({ status }) => status);
    expect([statuses.get(201)?.length, statuses.get(429)?.length]).toEqual([20, 20]);
    const { data } = await one.conversations.list();
    expect(data).toMatchObject([{ message_count: 20, unread_count: 20 }]);
  });

  it("end when the contact is erased or the inbox is removed", async () => {
    const { engine, clock } = world();
    const storage = open().connect();
    const one = engine(storage);
    const { contact_id } = await one.sandbox.inbound({ from: "+15005550101", body: "hello" });
    const sessions = [];
    for (let i = 0; i < 5; i++) sessions.push(await one.webchat.open({ contact_id }));
    await one.start();
    for (let i = 0; i < 5; i++) {
      await one.messages.send({ to: contact_id, channel: "webchat", body: String(i) });
    }
    await clock.advanceUntil(async () => (await rowsOf(storage, mail)).length === 5);
    const [session] = sessions;
    if (session === undefined) return;
    expect((await write(one, session, { body: "here" })).status).toBe(201);
    await one.contacts.erase(contact_id);
    expect([
      await rowsOf(storage, webchatSessions),
      await rowsOf(storage, mail),
      await rowsOf(storage, mailboxes),
    ]).toEqual([[], [], []]);
    expect(jsonOf(await write(one, session, { body: "gone" }))).toMatchObject({
      status: 404,
      code: "not_found",
    });

    const inbox = (await one.senders.list()).data.find(({ transport }) => transport === "webchat");
    const last = await one.webchat.open();
    await one.senders.remove(inbox?.id ?? "");
    expect(jsonOf(await write(one, last, { body: "hi" }))).toMatchObject({
      status: 404,
      code: "not_found",
    });
  });
});

it("two sessions that are opened at once for a contact share one address", async () => {
  const { engine } = world();
  const storage = memory();
  const other = engine(storage);
  const { contact_id } = await other.sandbox.inbound({ from: "+15005550101", body: "hello" });
  const open = () => other.webchat.open({ contact_id });
  const one = engine(overtaken(storage, writesTo(webchatSessions), open));
  await one.webchat.open({ contact_id });
  const addresses = (await rowsOf(storage, webchatSessions)).map(({ address }) => address);
  expect([addresses.length, new Set(addresses).size]).toEqual([2, 1]);
});
