/** The errors of consumers whose handlers quote what is erased or redacted meanwhile. */
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { runsOfConversation } from "../../src/agents/runs/rows.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { consumerEvents } from "../../src/events/consumers/rows.ts";
import { messages } from "../../src/messages/rows.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import type { Event } from "../../src/webhooks/event-catalog.ts";
import { agency, visitor } from "../agents/world.ts";
import { eventually } from "../events/consumers/storages-with-table.ts";
import { held } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { overtaken, writesTo } from "../support/storage/groups.ts";
import { rowsOf, tablesWith } from "../support/storage/rows.ts";
import { storages } from "../support/storage/storages.ts";
import { withEarlierRuns } from "./earlier-runs.ts";

const errorsIn = async (storage: StoragePort) =>
  (await rowsOf(storage, consumerEvents)).map(({ error }) => error);

it("a redaction removes the first error of a consumer that fails meanwhile", async () => {
  const storage = memory();
  const { clock, engine } = world();
  const worker = engine(storage);
  const quote = ({ data: { body } }: Event<"message.received">): never => {
    throw new Error(`cannot store ${body}`);
  };
  worker.consume("quoting", ["message.received"], quote, { from: "beginning" });
  const front = engine(
    // Only the redaction updates a message.
    overtaken(storage, writesTo(messages, "update"), async () => {
      await worker.start();
      await clock.advance(500);
      expect(await errorsIn(storage)).toEqual(["Error: cannot store swordfish"]);
    }),
  );
  const { id } = await front.sandbox.inbound({ from: visitor, body: "swordfish" });
  await front.messages.redact(id);
  expect(await errorsIn(storage)).toEqual([null]);
});

interface Subject {
  readonly contact_id: string;
  readonly message_id: string;
}

interface Removal {
  /** What the handler reads and quotes. */
  readonly read: (engine: MessagingEngine, subject: Subject) => Promise<string | null>;
  readonly remove: (engine: MessagingEngine, subject: Subject) => Promise<unknown>;
}

const removals: Readonly<Record<string, Removal>> = {
  "an erasure": {
    read: async ({ contacts }, { contact_id }) => (await contacts.get(contact_id)).phone,
    remove: ({ contacts }, { contact_id }) => contacts.erase(contact_id),
  },
  "a redaction": {
    read: async ({ messages }, { message_id }) => (await messages.get(message_id)).body,
    remove: ({ messages }, { message_id }) => messages.redact(message_id),
  },
};

// The event of this run contains nothing that an erasure or a redaction removes.
it.each(Object.entries(removals))(
  "no error is stored of a consumer that handles the event of a canceled run during %s",
  async (_, { read, remove }) => {
    const storage = memory();
    const answer = held<{ readonly text: string }>();
    const [isSaid, isRead, isRemoved] = [held<Subject>(), held<string | null>(), held<undefined>()];
    const { engine, say, pass, conversation } = await agency(storage, {
      model: () => answer.promise,
    });
    engine.consume("quoting", ["agent.run.completed"], async () => {
      const text = await read(engine, await isSaid.promise);
      isRead.answer(text);
      await isRemoved.promise;
      throw new Error(`cannot store ${text}`);
    });
    const { id: message_id, contact_id } = await say("swordfish");
    const subject = { message_id, contact_id };
    isSaid.answer(subject);
    await pass();
    await engine.conversations.assign((await conversation()).id, { type: "human", id: "eve" });
    answer.answer({ text: "Hi" });
    await pass(1_000);
    expect([visitor, "swordfish"]).toContain(await isRead.promise);

    await remove(engine, subject);
    await pass(1_000);
    isRemoved.answer(undefined);
    await pass(500);
    expect(await errorsIn(storage)).toEqual([""]);
  },
);

it("a redaction removes the error of a consumer at an event from before a merge", async () => {
  const storage = memory();
  const { clock, engine } = world();
  const one = engine(storage);
  const quote = async ({ data: { contact } }: Event<"contact.created">): Promise<never> => {
    const [message] = (await one.contacts.messages(contact.id)).data;
    throw new Error(`cannot store ${message?.body}`);
  };
  one.consume("quoting", ["contact.created"], quote);
  await one.start();
  const { id, contact_id } = await one.sandbox.inbound({ from: visitor, body: "swordfish" });
  await eventually(clock, async () => (await errorsIn(storage)).some((error) => error !== null));
  const survivor = await one.contacts.create({ name: "Ann" });
  await one.contacts.merge(survivor.id, contact_id);
  expect((await errorsIn(storage)).join()).toContain("swordfish");

  await one.messages.redact(id);
  expect(await tablesWith(storage, ["swordfish"])).toEqual([]);
});

describe("a consumer that quotes the text of an outbound message, which its event has not", () => {
  async function quoting(isRemoved: Promise<unknown>) {
    const storage = memory();
    const { clock, engine } = world();
    const one = engine(storage);
    const quoted: (string | null)[] = [];
    one.consume("quoting", ["message.updated"], async ({ data: { message_id } }) => {
      const { body } = await one.messages.get(message_id);
      quoted.push(body);
      await isRemoved;
      throw new Error(`cannot store ${body}`);
    });
    await one.start();
    const { id } = await one.messages.send({ to: visitor, body: "swordfish" });
    await eventually(clock, () => quoted.length > 0, 100);
    return { storage, clock, one, id, quoted };
  }

  it("leaves no error after a redaction", async () => {
    const { storage, clock, one, id } = await quoting(Promise.resolve());
    await eventually(clock, async () => (await errorsIn(storage)).some((error) => error !== null));
    expect((await errorsIn(storage))[0]).toBe("Error: cannot store swordfish");
    await one.messages.redact(id);
    expect((await errorsIn(storage)).join()).not.toContain("swordfish");
  });

  it("stores no error of a call during which the message is redacted", async () => {
    const isRemoved = held<undefined>();
    const { storage, clock, one, id, quoted } = await quoting(isRemoved.promise);
    await clock.settle();
    await one.messages.redact(id);
    isRemoved.answer(undefined);
    await clock.advance(500);
    expect(quoted).toEqual(["swordfish"]);
    expect((await errorsIn(storage))[0]).toBe("");
  });
});

it("a redaction of many runs removes the error of a consumer that has read one of them before", async () => {
  const storage = memory();
  const gate = held<undefined>();
  const reader = over(storage.reader, {
    async range(range) {
      const rows = await storage.reader.range(range);
      // The job has read the runs, and has not redacted them yet.
      if (range.index === runsOfConversation) await gate.promise;
      return rows;
    },
  });
  const { engine, agent, say, pass, world, line } = await agency(storage, {
    model: ({ messages: heard }) => ({ text: "Hello", intent: heard.at(-1)?.text ?? "" }),
  });
  const { id } = await say("swordfish");
  await pass();
  // More than the command redacts itself.
  await withEarlierRuns(storage, 600);
  await engine.stop({ deadlineMs: 0 });

  const worker = world.engine(over(storage, { reader }), { transports: [line] });
  const quote = async (): Promise<never> => {
    const [{ id: latest } = { id: "" }] = (await worker.agents.runs(agent.id)).data;
    const { steps } = await worker.agents.run(agent.id, latest);
    throw new Error(`cannot store ${JSON.stringify(steps)}`);
  };
  worker.consume("quoting", ["message.redacted"], quote, { from: "beginning" });
  await worker.messages.redact(id);
  await worker.start();
  await world.clock.settle();
  const errors = (await errorsIn(storage)).join();
  gate.answer(undefined);
  expect(errors).toContain("swordfish");

  await world.clock.settle();
  expect(await tablesWith(storage, ["swordfish"])).toEqual([]);
});

// On SQLite, every command waits for the transaction of a handler.
it.each(storages.filter(({ name }) => name !== "SQLite"))(
  "a redaction on $name does not wait for a consumer that handles the message's event again",
  async ({ open }) => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const hold = held<undefined>();
    let calls = 0;
    one.consume("slow", ["message.received"], async () => {
      if (++calls === 1) throw new Error("cannot store swordfish");
      await hold.promise;
    });
    await one.start();
    const { id } = await one.sandbox.inbound({ from: visitor, body: "swordfish" });
    await eventually(clock, () => calls === 2, 500);

    expect(await one.messages.redact(id)).toMatchObject({ body: null });

    hold.answer(undefined);
    await clock.settle();
  },
);
