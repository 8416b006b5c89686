import { describe, expect, it } from "vitest";
import type { MessagingEngine } from "../../src/engine.ts";
import type { WebchatSession } from "../../src/webchat/sessions/session-types.ts";
import type { WebchatMessagePage } from "../../src/webchat/types.ts";
import { call, jsonOf } from "../api/call.ts";
import { world } from "../support/engines/world.ts";
import { lightStorages, type StorageCase } from "../support/storage/storages.ts";

const origin = "https://shop.example";

async function begun(open: StorageCase["open"]) {
  const { clock, started } = world();
  const one = await started(open().connect(), { webchat: { origins: [origin] } });
  const session = await one.webchat.open({ name: "Ann" });
  const { contact_id: to } = session;
  const tell = async (body: string): Promise<string> => {
    const { id } = await one.messages.send({ to, channel: "webchat", body });
    await clock.settle();
    return id;
  };
  return { clock, one, session, tell };
}

const bodiesOf = async (one: MessagingEngine, id: string): Promise<(string | null)[]> =>
  (await one.webchat.messages(id)).data.map(({ body }) => body);

const read = ({ api }: MessagingEngine, { id, token }: WebchatSession, query = "") =>
  call(api, {
    path: `/v1/webchat/sessions/${id}/messages${query}`,
    headers: ["origin", origin],
    ...(token === null ? {} : { key: token }),
  });

describe.each(lightStorages)("a visitor's history on $name", ({ open }) => {
  it("has both directions newest first, each message once, across pages and sessions", async () => {
    const { one, session, tell } = await begun(open);
    const said: string[] = [];
    for (let i = 0; i < 4; i++) {
      await one.webchat.sendAsVisitor(session.id, { body: `in ${i}` });
      await tell(`out ${i}`);
      said.unshift(`out ${i}`, `in ${i}`);
    }
    expect(await bodiesOf(one, session.id)).toEqual(said.flatMap((_, i) => said[i] ?? []));
    const { contact_id } = session;
    const later = await one.webchat.open({ contact_id });
    const paged: unknown[] = [];
    for (let cursor = ""; ;) {
      const answer = await read(one, later, `?limit=3${cursor}`);
      expect(answer.headers["Access-Control-Allow-Origin"]).toBe(origin);
      const { data, next_cursor } = jsonOf(answer) as {
        data: { body: string; metadata?: object }[];
        next_cursor: string | null;
      };
      for (const each of data) {
        expect(Object.keys(each).toSorted()).toEqual(
          "author author_name body created_at direction id media placed_at".split(" "),
        );
        paged.push(each.body);
      }
      if (next_cursor === null) break;
      cursor = `&cursor=${encodeURIComponent(next_cursor)}`;
    }
    expect(paged).toEqual(said);
  });

  it("shows the newest messages first, however many texts the contact has got since", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const { id: contact_id } = await one.contacts.create({ phone: "+15005550001" });
    const session = await one.webchat.open({ contact_id });
    await one.webchat.sendAsVisitor(session.id, { body: "Hello" });
    const messages = Array.from({ length: 550 }, () => ({ to: contact_id, body: "Fresh bread" }));
    for (let mailing = 0; mailing < 2; mailing++) await one.messages.batch({ messages });
    expect(await bodiesOf(one, session.id)).toEqual(["Hello"]);
  });

  it("is continued by a stream from its place without a gap or a repetition", async () => {
    const { one, session, tell } = await begun(open);
    expect((await one.webchat.messages(session.id)).last_event_id).toBe(null);
    await tell("before");
    const { data, last_event_id } = await one.webchat.messages(session.id);
    expect(data.map(({ body }) => body)).toEqual(["before"]);
    await tell("after");
    const stream = await one.webchat.stream(session.id, {
      last_event_id: last_event_id ?? expect.fail("no place"),
    });
    for await (const { message } of stream) {
      expect(message.body).toBe("after");
      break;
    }
  });

  it("shows nothing that never reached the visitor, and no other channel", async () => {
    const { clock, one, session, tell } = await begun(open);
    const { id, contact_id: to } = session;
    await one.contacts.update(to, { phone: "+15005551001" });
    await one.messages.send({ to, body: "by text" });
    await one.sandbox.inbound({ from: "+15005551001", body: "by text too" });
    await tell("sent");
    const send_at = new Date(clock.now() + 60_000).toISOString();
    await one.messages.send({ to, channel: "webchat", body: "scheduled", send_at });
    const canceled = { to, channel: "webchat", body: "canceled", send_at } as const;
    await one.messages.cancel((await one.messages.send(canceled)).id);
    expect(await bodiesOf(one, id)).toEqual(["sent"]);
    await clock.advance(60_000);
    expect(await bodiesOf(one, id)).toEqual(["scheduled", "sent"]);
  });

  it("shows to each browser of a merged contact the messages that reached another one, whatever their status", async () => {
    const { one, session, tell } = await begun(open);
    for (const status of ["sent", "delivered", "read"] as const) {
      const message_id = await tell(status);
      if (status !== "sent") await one.webchat.mark(session.id, { message_id, mark: status });
      expect((await one.messages.get(message_id)).status).toBe(status);
    }
    const other = await one.webchat.open();
    await one.contacts.merge(other.contact_id, session.contact_id);
    expect(await bodiesOf(one, other.id)).toEqual(["read", "delivered", "sent"]);
  });

  it("follows a merge, a redaction and an erasure", async () => {
    const { one, session, tell } = await begun(open);
    const secret = await tell("secret");
    await one.messages.redact(secret);
    const [redacted] = (await one.webchat.messages(session.id)).data;
    expect(redacted).toMatchObject({ id: secret, body: null, media: [] });

    const other = await one.webchat.open();
    await one.webchat.sendAsVisitor(other.id, { body: "from the other browser" });
    await one.contacts.merge(session.contact_id, other.contact_id);
    const both = ["from the other browser", null];
    expect(await bodiesOf(one, session.id)).toEqual(both);
    expect(await bodiesOf(one, other.id)).toEqual(both);

    await one.contacts.erase(session.contact_id);
    await expect(one.webchat.messages(session.id)).rejects.toMatchObject({ code: "not_found" });
    expect((await read(one, other)).status).toBe(404);
  });

  it("is paged through though the contact is merged into another one meanwhile", async () => {
    const { one, session, tell } = await begun(open);
    const said: string[] = [];
    for (let i = 0; i < 5; i++) said.unshift(await tell(`out ${i}`));
    const idsOf = (page: WebchatMessagePage): string[] => page.data.map(({ id }) => id);
    const first = await one.webchat.messages(session.id, { limit: 2 });
    const { id: survivor } = await one.contacts.create({ name: "Ann Lee" });
    await one.contacts.merge(survivor, session.contact_id);
    const cursor = first.next_cursor ?? expect.fail("there is no second page");
    const rest = await one.webchat.messages(session.id, { cursor });
    expect([...idsOf(first), ...idsOf(rest)]).toEqual(said);
  });

  it("needs the token of its own session, which has not expired", async () => {
    const { clock, one, session } = await begun(open);
    const other = await one.webchat.open();
    const statusWith = async (of: WebchatSession): Promise<number> => (await read(one, of)).status;
    expect(await statusWith(session)).toBe(200);
    expect(await statusWith({ ...session, token: other.token })).toBe(401);
    expect(await statusWith({ ...session, token: null })).toBe(401);
    const { account } = await one.accounts.create({ name: "other" });
    const theirs = one.account(account.id).webchat.messages(session.id);
    await expect(theirs).rejects.toMatchObject({ code: "not_found" });
    clock.step(Date.parse(session.expires_at) - clock.now());
    expect(await statusWith(session)).toBe(401);
    await expect(one.webchat.messages(session.id)).rejects.toMatchObject({ code: "not_found" });
  });
});
