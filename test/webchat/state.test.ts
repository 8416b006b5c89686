import fc from "fast-check";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import type { WebchatState } from "../../src/webchat/streams/signal-types.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { runs } from "../support/runs.ts";
import { lightStorages } from "../support/storage/storages.ts";
import { telling } from "../support/storage/telling.ts";

/** The states that a visitor's stream tells. */
async function statesOf(engine: MessagingEngine, id: string): Promise<WebchatState[]> {
  const left = new AbortController();
  onTestFinished(() => left.abort());
  const states: WebchatState[] = [];
  const stream = await engine.webchat.signals(id, { signal: left.signal });
  void (async () => {
    for await (const each of stream) if (each.type === "state") states.push(each.state);
  })();
  return states;
}

const conversationOf = async (engine: MessagingEngine, contact_id: string): Promise<string> => {
  const { data } = await engine.conversations.list({ contact_id, channel: "webchat" });
  return data[0]?.id ?? expect.fail("no conversation");
};

const nobody: WebchatState = { read_at: null, assignee: null, queued: false };

describe.each(lightStorages)("the state of a visitor's conversation on $name", ({ open }) => {
  it("names who has it, when a stream opens and at each change by any process", async () => {
    const { clock, engine } = world();
    const ground = open();
    const one = engine(ground.connect(), { agents: { model: () => ({ text: "Hello" }) } });
    const { storage, tell } = telling(ground.connect());
    const other = engine(storage);
    await one.start();
    await one.operators.save("ann", { name: "Ann A." });
    const session = await other.webchat.open();
    const states = await statesOf(other, session.id);
    const settled = async (ms = 1_000): Promise<(WebchatState["assignee"] | undefined)[]> => {
      await clock.settle();
      tell();
      await clock.advance(ms);
      return states.splice(0).map(({ assignee }) => assignee);
    };
    await clock.settle();
    expect(states.splice(0)).toEqual([nobody]);
    await one.webchat.sendAsVisitor(session.id, { body: "Hi" });
    expect(await settled()).toEqual([]);

    const id = await conversationOf(one, session.contact_id);
    await one.conversations.assign(id, { type: "human", id: "ann" });
    expect(await settled()).toEqual([{ type: "human", name: "Ann A." }]);
    await one.conversations.assign(id, { type: "human", id: "bob" });
    expect(await settled()).toEqual([{ type: "human", name: null }]);
    const agent = await one.agents.create({ name: "Robin", enabled: true, channels: ["webchat"] });
    await one.conversations.assign(id, { type: "agent", id: agent.id });
    expect((await settled()).at(-1)).toEqual({ type: "agent", name: "Robin" });
    const isQueued = async (): Promise<boolean> =>
      (await other.webchat.messages(session.id)).state.queued;
    expect(await isQueued()).toBe(false);
    await one.conversations.handOff(id, { reason: "angry" });
    expect(await settled()).toEqual([null]);
    expect(await isQueued()).toBe(true);
    await one.conversations.update(id, { status: "closed" });
    expect(await isQueued()).toBe(false);
    await one.conversations.update(id, { status: "open" });
    await settled();
    await one.conversations.reply(id, { body: "Hello", author_id: "ann" });
    expect(new Set(await settled())).toEqual(new Set([{ type: "human", name: "Ann A." }]));
    // A new name is no event, so it is shown at once only to the visitors of its process.
    await other.operators.save("ann", { name: "Ann B." });
    expect(await settled()).toEqual([{ type: "human", name: "Ann B." }]);

    expect(await isQueued()).toBe(false);

    const late = await statesOf(other, session.id);
    await clock.settle();
    const { data, state } = await other.webchat.messages(session.id);
    expect(late).toEqual([state]);
    expect(state.assignee).toEqual({ type: "human", name: "Ann B." });
    expect(data.map(({ author, author_name }) => [author, author_name])).toEqual([
      ["human", "Ann B."],
      ["agent", "Robin"],
      ["contact", null],
    ]);
    await one.conversations.update(id, { status: "closed" });
    expect(await settled()).toEqual([null]);
  });

  it("tells when a person has read, and follows a merge of the contact", async () => {
    const { clock, started } = world();
    const one = await started(open().connect());
    const [kept, merged] = [await one.webchat.open(), await one.webchat.open()];
    await one.webchat.sendAsVisitor(kept.id, { body: "Hi" });
    await clock.settle();
    const states = await statesOf(one, merged.id);
    await clock.settle();
    expect(states.splice(0)).toEqual([nobody]);
    await one.contacts.merge(kept.contact_id, merged.contact_id);
    await clock.advance(20_000);
    const id = await conversationOf(one, kept.contact_id);
    const read_at = new Date(clock.now()).toISOString();
    const events: string[] = [];
    one.on("conversation.updated", ({ type }) => void events.push(type));
    await one.conversations.markRead(id);
    await clock.settle();
    expect(states.splice(0)).toEqual([{ ...nobody, read_at }]);
    await clock.advance(1_000);
    await one.conversations.markUnread(id);
    await one.conversations.markUnread(id);
    await clock.settle();
    expect(states).toEqual([]);
    await one.conversations.markRead(id);
    await clock.advance(1_000);
    await one.conversations.markRead(id);
    await clock.settle();
    expect(states).toHaveLength(1);
    expect(events).toHaveLength(3);
  });
});

test("no message counts as read before somebody has read it, also when clocks are set back", async () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom("write", "read", "unread", "reply", "notify") },
    { weight: 1, arbitrary: fc.constantFrom("back", "wait") },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const { clock, engine } = world();
      // Signals of other processes are not needed here.
      const one = engine(over(memory(), { watch: () => () => {} }));
      const { id, contact_id } = await one.webchat.open();
      await one.webchat.sendAsVisitor(id, { body: "first" });
      const conversation = await conversationOf(one, contact_id);
      const unread = new Set<string>();
      const read = new Set<string>();
      let isSteady = true;
      for (const each of steps) {
        const justRead: string[] = [];
        await clock.advance(1);
        if (each === "back") {
          clock.step(-2_000);
          isSteady = false;
        } else if (each === "write") {
          // The limit of messages is another test's.
          await clock.advance(600);
          const message = await one.webchat.sendAsVisitor(id, { body: "more" });
          unread.add(message.id);
        } else if (each === "unread") await one.conversations.markUnread(conversation);
        else if (each === "notify") {
          await one.messages.send({ to: contact_id, channel: "webchat", body: "A notice" });
        } else if (each !== "wait") {
          if (each === "read") await one.conversations.markRead(conversation);
          else await one.conversations.reply(conversation, { body: "Yes" });
          justRead.push(...unread);
          for (const message of justRead) read.add(message);
          unread.clear();
        }
        const { data, state } = await one.webchat.messages(id, { limit: 100 });
        const { read_at } = state;
        const shown = data.filter(
          ({ direction, created_at, body }) =>
            direction === "inbound" && body === "more" && read_at !== null && created_at <= read_at,
        );
        const ids = new Set<string>(shown.map((message) => message.id));
        expect([...unread].filter((message) => ids.has(message))).toEqual([]);
        expect(justRead.filter((message) => !ids.has(message))).toEqual([]);
        if (isSteady) expect(ids).toEqual(read);
      }
    }),
    { numRuns: runs(60) },
  );
});
