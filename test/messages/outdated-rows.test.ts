/** What another process changes during a carrier's call, when this one remembers the rows. */
import { describe, expect, it } from "vitest";
import { messages } from "../../src/messages/rows.ts";
import { keyOf, positionColumnOf } from "../../src/ports/collection.ts";
import type { Insert, Update } from "../../src/ports/storage.ts";
import type { SendAnswer, SendContext } from "../../src/ports/transport.ts";
import { accepted, busy, carrier, held, lost, refused } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { withGroups } from "../support/storage/groups.ts";
import { embeddedStorages, lightStorages, type Ground } from "../support/storage/storages.ts";

const to = "+15005550001";

/** An engine whose carrier is being called with "first", and another engine that only commands. */
async function duringCall(ground: Ground) {
  const { clock, engine, started, log } = world();
  const { promise, answer } = held<SendAnswer>();
  const line = carrier({
    send: ({ body }, attempt) => (body === "first" ? promise : accepted(attempt)),
  });
  const other = engine(ground.connect());
  const one = await started(ground.connect(), { transports: [line] });
  // A process keeps only rows of collections that it has looked for.
  await one.messages.send({ to, body: "before" });
  await clock.advance(7_777);
  const { id, contact_id } = await one.messages.send({ to, body: "first" });
  await clock.settle();
  const called = (): readonly (string | null)[] => line.calls.map(({ message }) => message.body);
  expect(called()).toEqual(["before", "first"]);
  const call = line.calls[1] ?? expect.fail("no call");
  const accept = async (given: SendAnswer = accepted(call.attempt)): Promise<void> => {
    answer(given);
    await clock.advance(10_000);
  };
  return { clock, log, one, other, id, contact_id, called, accept };
}

describe.each(lightStorages)("during a carrier's call on $name, another process", ({ open }) => {
  it("may queue a message, which is sent after it", async () => {
    const { other, called, accept } = await duringCall(open());
    const second = await other.messages.send({ to, body: "second" });
    await accept();
    expect(called()).toEqual(["before", "first", "second"]);
    expect((await other.messages.get(second.id)).status).toBe("sent");
  });

  it("may queue a message, which waits for the retry of the first", async () => {
    const { clock, other, called, accept } = await duringCall(open());
    await other.messages.send({ to, body: "second" });
    await accept(busy(30_000));
    expect(called()).toEqual(["before", "first"]);
    await clock.advance(120_000);
    expect(called().slice(0, 3)).toEqual(["before", "first", "first"]);
  });

  it("may record an opt-out, and the message that waits is not sent", async () => {
    const { one, other, contact_id, called, accept } = await duringCall(open());
    const second = await one.messages.send({ to, body: "second" });
    await other.contacts.setConsent(contact_id, "text", { status: "opted_out" });
    await accept();
    expect(called()).toEqual(["before", "first"]);
    expect((await other.messages.get(second.id)).status).toBe("failed");
  });

  it("may record an opt-in, and the message that waits is sent", async () => {
    const { one, other, contact_id, called, accept } = await duringCall(open());
    const second = await one.messages.send({ to, body: "second" });
    await one.contacts.setConsent(contact_id, "text", { status: "opted_out" });
    await other.contacts.setConsent(contact_id, "text", { status: "opted_in" });
    await accept();
    expect(called()).toEqual(["before", "first", "second"]);
    expect((await other.messages.get(second.id)).status).toBe("sent");
  });

  it("may erase the contact, and the answer brings no text back", async () => {
    const { log, other, id, contact_id, accept } = await duringCall(open());
    await other.contacts.erase(contact_id);
    await accept(refused);
    const message = await other.messages.get(id).catch(() => undefined);
    expect(message?.body ?? null).toBeNull();
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("may reset the sandbox, and the answer brings nothing back", async () => {
    const { log, other, accept } = await duringCall(open());
    await other.sandbox.reset();
    await accept();
    expect((await other.messages.list()).data).toEqual([]);
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });
});

it.each(embeddedStorages)(
  "the rows that a process has written are equal to those stored on $name",
  async ({ open }) => {
    const { clock, started } = world();
    const storage = open().connect();
    const written = new Map<string, Insert | Update>();
    const port = withGroups(storage, {
      async commit(writes, group) {
        await group.commit(writes);
        for (const write of writes) {
          const { collection } = write;
          const key = "key" in write ? write.key : keyOf(collection, write.row);
          const id = `${collection.name} ${JSON.stringify(key)}`;
          if (write.kind === "remove") written.delete(id);
          else if (write.kind === "insert" || write.kind === "update") written.set(id, write);
        }
      },
    });
    const answers: Record<string, (attempt: SendContext) => SendAnswer> = {
      accepted,
      refused: () => refused,
      lost: () => lost,
      busy: () => busy(60_000),
    };
    const line = carrier({ send: ({ body }, attempt) => (answers[body] ?? accepted)(attempt) });
    const one = await started(port, { transports: [line] });
    const media = [{ url: "https://example.com/a.png", content_type: "image/png" }];
    for (const [i, body] of [...Object.keys(answers), "Grüße, 😀"].entries()) {
      const metadata = { order: body, place: `${i}` };
      await one.messages.send({ to: `+1500555000${i}`, body, media, metadata, channel: "mms" });
    }
    const send_at = new Date(clock.now() + 3_600_000).toISOString();
    await one.messages.send({ to, body: "later", send_at });
    await clock.advance(10_000);
    const error = { code: "unreachable", message: "Switched off." } as const;
    await line.report("undelivered", { call: line.calls.length - 1, error });
    await clock.settle();
    expect(line.calls).toHaveLength(5);
    // The storage assigns positions.
    const compared = [...written.values()].filter(
      ({ collection }) => positionColumnOf(collection) === undefined,
    );
    expect(new Set(compared.map(({ collection }) => collection))).toContain(messages);
    for (const { collection, row } of compared) {
      const lookup = { index: collection.primary, key: keyOf(collection, row), limit: 1 };
      expect(await storage.reader.get([lookup]), collection.name).toEqual([[row]]);
    }
  },
);
