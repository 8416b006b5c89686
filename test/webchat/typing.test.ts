import fc from "fast-check";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { call, jsonOf } from "../api/call.ts";
import { world, type World } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { runs } from "../support/runs.ts";
import { beforeCommits } from "../support/storage/groups.ts";

/** Connects a storage to the signals of others, as PostgreSQL does for processes. */
function wired(storage: StoragePort, members: Set<(text: string) => void>): StoragePort {
  return over(storage, {
    signals(listener) {
      members.add(listener);
      return {
        send(text) {
          for (const each of members) if (each !== listener) each(text);
        },
        leave: () => void members.delete(listener),
      };
    },
  });
}

/** Reads a stream to its end, at the end of the test at the latest. */
function reading<T>(open: (options: { signal: AbortSignal }) => Promise<AsyncIterable<T>>) {
  const left = new AbortController();
  onTestFinished(() => left.abort());
  const told: T[] = [];
  const opened = open({ signal: left.signal }).then((stream) => {
    void (async () => {
      for await (const each of stream) told.push(each);
    })();
  });
  return { told, opened, leave: () => left.abort() };
}

/** A visitor with a conversation. */
async function guest({ clock }: World, engine: MessagingEngine) {
  const session = await engine.webchat.open();
  await engine.webchat.sendAsVisitor(session.id, { body: "Hi" });
  await clock.settle();
  const { data } = await engine.conversations.list({ contact_id: session.contact_id });
  const [conversation = expect.fail("no conversation")] = data;
  return { ...session, conversation_id: conversation.id };
}

describe("typing", () => {
  const who = fc.constantFrom("visitor", "ann", "bob", "program");
  const step = fc.record({
    who,
    to: fc.constantFrom(0, 1),
    by: fc.constantFrom(0, 1),
    wait: fc.constantFrom(0, 400, 999, 1_000, 5_000),
  });

  test("reaches the streams that it concerns in all processes, once a second at most", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 20 }), async (steps) => {
        const here = world();
        const { clock } = here;
        const storage = memory();
        const members = new Set<(text: string) => void>();
        const engines = [
          here.engine(wired(storage, members)),
          here.engine(wired(storage, members)),
        ];
        const [one = expect.fail(), other = expect.fail()] = engines;
        await one.operators.save("ann", { name: "Ann A." });
        const guests = [await guest(here, one), await guest(here, other)];
        const [first = expect.fail(), second = expect.fail()] = guests;
        const { account } = await one.accounts.create({ name: "other" });

        const seen = [
          reading((options) => one.webchat.signals(first.id, options)),
          reading((options) => other.webchat.signals(first.id, options)),
          reading((options) => other.webchat.signals(second.id, options)),
        ];
        const watched = [
          reading((options) => one.conversations.watchTyping({}, options)),
          reading((options) =>
            other.conversations.watchTyping({ conversation_id: second.conversation_id }, options),
          ),
          reading((options) => one.account(account.id).conversations.watchTyping({}, options)),
        ];
        for (const { opened } of [...seen, ...watched]) await opened;
        await clock.settle();

        const passed: { readonly who: string; readonly to: number }[] = [];
        const last = new Map<string, number>();
        for (const { who: author, to, by, wait } of steps) {
          await clock.advance(wait);
          const { id, conversation_id } = guests[to] ?? expect.fail();
          const engine = engines[by] ?? expect.fail();
          if (author === "visitor") await engine.webchat.typeAsVisitor(id);
          else {
            const input = author === "program" ? {} : { author_id: author };
            await engine.conversations.typing(conversation_id, input);
          }
          await clock.settle();
          const key = `${by} ${author} ${to}`;
          if (clock.monotonic() - (last.get(key) ?? -Infinity) < 1_000) continue;
          last.set(key, clock.monotonic());
          passed.push({ who: author, to });
        }
        const toVisitor = (to: number): unknown[] =>
          passed
            .filter((each) => each.to === to && each.who !== "visitor")
            .map((each) => ({
              type: "typing",
              typing: { author: "human", author_name: each.who === "ann" ? "Ann A." : null },
            }));
        expect(seen.map(({ told }) => told.filter(({ type }) => type === "typing"))).toEqual(
          [0, 0, 1].map(toVisitor),
        );
        const toPeople = passed.map(({ who: author, to }) => ({
          conversation_id: guests[to]?.conversation_id,
          author:
            author === "visitor"
              ? { type: "contact", id: guests[to]?.contact_id }
              : { type: "human", ...(author === "program" ? {} : { id: author }) },
        }));
        const ofSecond = toPeople.filter((_, i) => passed[i]?.to === 1);
        expect(watched.map(({ told }) => told)).toEqual([toPeople, ofSecond, []]);
        for (const { leave } of [...seen, ...watched]) leave();
        await clock.settle();
      }),
      { numRuns: runs(30) },
    );
  });

  it("is an event without an id over HTTP, for streams that ask for it, and stores nothing", async () => {
    const here = world();
    let commits = 0;
    const storage = beforeCommits(memory(), () => void commits++);
    const engine = here.engine(storage);
    const { id, token, contact_id, conversation_id } = await guest(here, engine);
    const { secret } = await engine.apiKeys.create({
      name: "all",
      scopes: ["conversations:write", "conversations:read", "events:read"],
    });
    const key = secret;
    const stream = async (path: string, given: string): Promise<string[]> => {
      const { body } = await call(engine.api, { path, key: given });
      if (typeof body !== "object" || body === null || body instanceof Uint8Array) expect.fail();
      const chunks: string[] = [];
      void (async () => {
        for await (const chunk of body) chunks.push(chunk);
      })();
      await here.clock.settle();
      chunks.length = 0;
      return chunks;
    };
    const session = `/v1/webchat/sessions/${id}`;
    const visitor = await stream(`${session}/stream`, token);
    const silent = await stream("/v1/events/stream", key);
    const asking = await stream("/v1/events/stream?typing=true", key);
    const narrow = await stream(
      `/v1/events/stream?typing=true&types=message.sent&conversation_id=${conversation_id}`,
      key,
    );
    commits = 0;

    const post = (path: string, given: string, body?: object) =>
      call(engine.api, { method: "POST", path, key: given, ...(body && { body }) });
    const typing = `/v1/conversations/${conversation_id}/typing`;
    const answers = [
      await post(`${session}/typing`, token),
      await post(typing, key),
      await post(typing, key),
    ];
    await here.clock.settle();
    expect(answers.map(({ status, body }) => [status, body])).toEqual(
      answers.map(() => [204, null]),
    );
    const eventOf = (data: object): string => `event: typing\ndata: ${JSON.stringify(data)}\n\n`;
    const toPeople = [
      eventOf({ conversation_id, author: { type: "contact", id: contact_id } }),
      eventOf({ conversation_id, author: { type: "human" } }),
    ];
    expect([visitor, silent, asking, narrow]).toEqual([
      [eventOf({ author: "human", author_name: null })],
      [],
      toPeople,
      toPeople,
    ]);
    expect(commits).toBe(0);
  });

  it("is refused outside webchat, in another account, without rights and with a wrong body", async () => {
    const here = world();
    const engine = here.engine(memory());
    const { token, id, conversation_id } = await guest(here, engine);
    const { conversation_id: text } = await engine.sandbox.inbound({
      from: "+15005551001",
      body: "Hi",
    });
    const { key: other } = await engine.accounts.create({ name: "other" });
    const { secret: reader } = await engine.apiKeys.create({
      name: "reader",
      scopes: ["conversations:read"],
    });
    const { secret: key } = await engine.apiKeys.create({
      name: "writer",
      scopes: ["conversations:write"],
    });
    const post = async (path: string, given: string | null, body: object = {}) => {
      const headers = ["Idempotency-Key", "same"];
      const request = { method: "POST", path, body, headers };
      const answer = await call(engine.api, {
        ...request,
        ...(given === null ? {} : { key: given }),
      });
      return [answer.status, answer.status === 204 ? null : jsonOf(answer)["errors"]];
    };
    const at = (conversation: string): string => `/v1/conversations/${conversation}/typing`;
    expect(await post(at(text), key)).toEqual([
      422,
      [
        {
          parameter: "id",
          code: "not_webchat",
          message: "names a conversation on text. Only webchat shows who is typing",
        },
      ],
    ]);
    expect(await post(at("conv_none"), key)).toEqual([404, []]);
    // A refused signal counts for nothing.
    expect(await post(at("conv_none"), key)).toEqual([404, []]);
    expect(await post(at(conversation_id), other.secret)).toEqual([404, []]);
    expect((await post(at(conversation_id), reader))[0]).toBe(403);
    expect(await post(at(conversation_id), key, { author: "me" })).toMatchObject([
      422,
      [{ pointer: "/author", code: "unknown_field" }],
    ]);
    expect((await post(`/v1/webchat/sessions/${id}/typing`, key))[0]).toBe(401);
    expect(await post(`/v1/webchat/sessions/${id}/typing`, token)).toEqual([204, null]);
    expect(await post(at(conversation_id), key)).toEqual([204, null]);
    // The idempotency key is not stored, so another request may use it.
    expect(await post(at(conversation_id), key, { author_id: "ann" })).toEqual([204, null]);
  });

  it("of an agent ends when a person takes the conversation during its turn", async () => {
    const here = world();
    const { clock } = here;
    const engine = await here.started(memory(), { agents: { model: () => new Promise(() => {}) } });
    await engine.agents.create({ name: "Robin", enabled: true, channels: ["webchat"] });
    const { id, conversation_id } = await guest(here, engine);
    const { told, opened } = reading((options) => engine.webchat.signals(id, options));
    await opened;
    await clock.advance(4_000);
    const typing = () => told.filter(({ type }) => type === "typing").length;
    expect(typing()).toBeGreaterThan(0);
    await engine.conversations.handOff(conversation_id, { reason: "angry" });
    const before = typing();
    await clock.advance(10_000);
    expect(typing()).toBe(before);
  });

  it("of an agent begins with its turn, is repeated, and ends with it", async () => {
    const here = world();
    const { clock } = here;
    const answer = Promise.withResolvers<{ readonly text: string }>();
    const engine = await here.started(memory(), { agents: { model: () => answer.promise } });
    await engine.agents.create({ name: "Robin", enabled: true, channels: ["webchat"] });
    const { id, conversation_id } = await guest(here, engine);
    const { told, opened } = reading((options) => engine.webchat.signals(id, options));
    const people = reading((options) => engine.conversations.watchTyping({}, options));
    await Promise.all([opened, people.opened]);
    await clock.advance(8_000);
    const typing = { type: "typing", typing: { author: "agent", author_name: "Robin" } };
    const ofTyping = () => told.filter(({ type }) => type === "typing");
    expect(ofTyping().length).toBeGreaterThanOrEqual(2);
    expect(ofTyping()).toEqual(ofTyping().map(() => typing));
    const { data } = await engine.agents.list();
    expect(people.told.at(-1)).toEqual({
      conversation_id,
      author: { type: "agent", id: data[0]?.id },
    });
    answer.resolve({ text: "Hello" });
    await clock.settle();
    const { length } = ofTyping();
    await clock.advance(20_000);
    expect(ofTyping()).toHaveLength(length);
    const [last] = (await engine.webchat.messages(id)).data;
    expect(last).toMatchObject({ body: "Hello", author: "agent", author_name: "Robin" });
  });
});
