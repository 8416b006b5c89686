/** The last message that a conversation shows, and its status. */
import { describe, expect, it } from "vitest";
import type { LastMessage } from "../../src/conversations/types.ts";
import type { Conversation } from "../../src/index.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { lightStorages, storages } from "../support/storage/storages.ts";

const phone = "+15005551001";
const unreachable = { code: "unreachable", message: "The handset is off." } as const;

describe.each(lightStorages)("the last message of a conversation on $name", ({ open }) => {
  async function begun() {
    const { clock, engine } = world();
    const line = carrier();
    const one = engine(open().connect(), {
      transports: [line],
      policies: [
        {
          name: "not_yet",
          evaluate: ({ message, now }) =>
            message.body === "Later" && message.id !== null && now < start + 60_000
              ? { verdict: "defer", until: start + 60_000, reason: "It is early." }
              : { verdict: "allow" },
        },
      ],
    });
    const start = clock.now();
    await one.start();
    const { conversation_id: id, contact_id } = await one.sandbox.inbound({
      from: phone,
      body: "Hello",
    });
    await clock.settle();
    /** The status in each response that shows the conversation. */
    const shown = async (): Promise<readonly (LastMessage["status"] | undefined)[]> => {
      const conversations: readonly (Conversation | undefined)[] = [
        (await one.conversations.list()).data[0],
        await one.conversations.get(id),
        (await one.contacts.conversations(contact_id)).data[0],
        (await one.conversations.search({ q: phone })).data[0]?.conversation,
        await one.conversations.update(id, {}),
      ];
      return conversations.map((each) => each?.last_message?.status);
    };
    const everywhere = (status: LastMessage["status"]) => Array.from({ length: 5 }, () => status);
    return { clock, one, line, id, contact_id, shown, everywhere };
  }

  it("has the status that the message has now, in each response", async () => {
    const { clock, one, line, id, shown, everywhere } = await begun();
    expect(await shown()).toEqual(everywhere("received"));

    await one.conversations.reply(id, { body: "Later" });
    await clock.settle();
    expect(await shown(), "a policy holds it").toEqual(everywhere("scheduled"));
    await clock.advance(60_000);
    expect(await shown()).toEqual(everywhere("sent"));

    const report = (status: "undelivered" | "delivered", error?: typeof unreachable) =>
      line.report(status, { call: line.calls.length - 1, error });
    await report("undelivered", unreachable);
    await clock.settle();
    expect(await shown()).toEqual(everywhere("undelivered"));
    await one.conversations.setLabels(id, ["call"]);
    await report("delivered");
    await clock.settle();
    expect(await shown()).toEqual(everywhere("delivered"));
    const { data } = await one.events.list({ type: "conversation.updated" });
    const labelled = data.flatMap(({ type, data: told }) =>
      type === "conversation.updated" && told.conversation.labels.length > 0
        ? [told.conversation.last_message]
        : [],
    );
    expect(labelled, "an event has the status at its time").toMatchObject([
      { status: "undelivered", preview: "" },
    ]);

    const send_at = new Date(clock.now() + 3_600_000).toISOString();
    const { id: planned } = await one.messages.send({ to: phone, body: "Bye", send_at });
    expect(await shown()).toEqual(everywhere("scheduled"));
    expect((await one.conversations.get(id)).last_message).toMatchObject({ send_at });
    await one.messages.cancel(planned);
    expect(await shown()).toEqual(everywhere("canceled"));
    await one.messages.send({ to: phone, body: "Good night", send_at });
    await one.sandbox.inbound({ from: phone, body: "See you" });
    expect(await shown()).toEqual(everywhere("received"));
    await clock.advance(3_600_000);
    expect(await shown()).toEqual(everywhere("sent"));
  });

  it("keeps its status when its text is removed, and moves with a merged contact", async () => {
    const { clock, one, id, contact_id, shown, everywhere } = await begun();
    const { id: sent } = await one.conversations.reply(id, { body: "The code is 1234." });
    await clock.settle();
    await one.messages.redact(sent);
    expect((await one.conversations.get(id)).last_message).toMatchObject({
      id: sent,
      status: "sent",
      preview: "",
    });

    const survivor = await one.contacts.create({ phone: "+15005551002", name: "Ann" });
    await one.contacts.merge(survivor.id, contact_id);
    await clock.settle();
    for (const contact of [survivor.id, contact_id]) {
      const { data } = await one.conversations.list({ contact_id: contact });
      expect(data.map(({ last_message }) => last_message?.status)).toEqual(["sent"]);
    }
    expect(await shown()).toEqual(everywhere("sent"));

    await one.contacts.erase(survivor.id);
    await clock.advance(60_000);
    expect((await one.conversations.list()).data).toEqual([]);
  });
});

/** Counts the round trips of queries. */
function counting(storage: StoragePort): {
  readonly counted: StoragePort;
  readonly trips: { reads: number };
} {
  const trips = { reads: 0 };
  const { reader } = storage;
  const counted = over(storage, {
    reader: over(reader, {
      get(lookups) {
        trips.reads++;
        return reader.get(lookups);
      },
      range(range) {
        trips.reads++;
        return reader.range(range);
      },
    }),
  });
  return { counted, trips };
}

const postgres = storages.find(({ name }) => name === "PostgreSQL") ?? expect.fail("no PostgreSQL");

it("a page of the inbox reads the last messages of all conversations in one round trip", async () => {
  const { engine } = world();
  const { counted, trips } = counting(postgres.open().connect());
  const one = engine(counted);
  const readsOfPage = async (limit: number): Promise<number> => {
    const before = trips.reads;
    const { data } = await one.conversations.list({ status: "open", limit });
    expect(data.map(({ last_message }) => last_message?.status)).toEqual(
      Array.from({ length: limit }, () => "queued"),
    );
    return trips.reads - before;
  };
  for (let i = 0; i < 20; i++) await one.messages.send({ to: `+150055510${10 + i}`, body: "Hi" });
  await readsOfPage(1);
  // The range of the inbox, then the contacts and the last messages.
  expect(await readsOfPage(20)).toBeLessThanOrEqual(3);
  expect(await readsOfPage(20)).toBe(await readsOfPage(1));
});
