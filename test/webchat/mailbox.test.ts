import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { seededRandom } from "../../adapters/testing/index.ts";
import { identities } from "../../src/contacts/rows.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import { messages } from "../../src/messages/rows.ts";
import { schema } from "../../src/modules.ts";
import { silent } from "../../src/ports/logger.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import type { OutboundMessage } from "../../src/ports/transport.ts";
import { Store } from "../../src/store/store.ts";
import { mail, mailboxes } from "../../src/webchat/rows.ts";
import type { WebchatSession } from "../../src/webchat/sessions/session-types.ts";
import { webchatTransport } from "../../src/webchat/transport.ts";
import { call } from "../api/call.ts";
import { world } from "../support/engines/world.ts";
import { isLong } from "../support/runs.ts";
import { overtaken, withGroups, writesTo } from "../support/storage/groups.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { storages } from "../support/storage/storages.ts";

const numbers = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

async function send(engine: MessagingEngine, to: string, body: string): Promise<string> {
  return (await engine.messages.send({ to, channel: "webchat", body })).id;
}

/** Sends again with the same key if the answer is lost, as an application does. */
async function sendSurely(engine: MessagingEngine, to: string, body: string): Promise<string> {
  const message = { to, channel: "webchat", body } as const;
  for (;;) {
    try {
      return (await engine.messages.send(message, { idempotencyKey: body })).id;
    } catch (error) {
      expect(error).toMatchObject({ code: "storage_unavailable" });
    }
  }
}

/** Connects a browser's stream, with the number of its last message, and disconnects. */
async function connectOnce(
  { api }: MessagingEngine,
  { id, token }: WebchatSession,
  last?: number,
): Promise<void> {
  const left = new AbortController();
  const path = `/v1/webchat/sessions/${id}/stream?token=${token}${last === undefined ? "" : `&last_event_id=${last}`}`;
  const answer = await call(api, { path, signal: left.signal });
  left.abort();
  expect(answer.status).toBe(200);
}

/** A storage that loses the answers of the next `losing` commits with mail. */
function losing(storage: StoragePort, line: { losing: number }): StoragePort {
  return withGroups(storage, {
    async commit(writes, group) {
      await group.commit(writes);
      if (line.losing === 0 || !writes.some(writesTo(mail))) return;
      line.losing--;
      throw new TidingsError("storage_unavailable", "The answer is lost.");
    },
  });
}

describe.each(storages)("a mailbox on $name", ({ name, open }) => {
  /** What does not depend on the storage. See `lightStorages`. */
  const isTried = isLong || name !== "PostgreSQL";

  it("gets each message once, in order and without gaps, from several engines at once", async () => {
    const each = isTried ? 20 : 8;
    const { engine, clock } = world();
    const ground = open();
    const storage = ground.connect();
    const engines = [engine(storage), engine(ground.connect())];
    const [one] = engines;
    if (one === undefined) return;
    const visitors = [await one.webchat.open(), await one.webchat.open(), await one.webchat.open()];
    await Promise.all(engines.map((each) => each.start()));
    await Promise.all(
      Array.from({ length: 3 * each }, (_, i) =>
        send(engines[i % 2] ?? one, visitors[i % 3]?.contact_id ?? "", String(i)),
      ),
    );
    await clock.advance(5_000);
    const entries = await rowsOf(storage, mail);
    expect(entries).toHaveLength(3 * each);
    const sequences = new Map(
      (await rowsOf(storage, messages)).map((row) => [row.id, row.sequence]),
    );
    for (const { contact_id } of visitors) {
      const sent = (await one.messages.list({ contact_id, limit: 100 })).data;
      const address = sent[0]?.to;
      const own = entries.filter((entry) => entry["address"] === address);
      expect(own.map(({ number }) => number)).toEqual(numbers(each));
      const inThread = sent
        .map(({ id }) => id)
        .toSorted((a, b) => (sequences.get(a) ?? 0) - (sequences.get(b) ?? 0));
      expect(own.map(({ message_id }) => message_id)).toEqual(inThread);
      expect(sent.every(({ status }) => status === "sent")).toBe(true);
    }
  });

  it("gets a message once if the answer of its commit is lost, and the message becomes sent", async () => {
    const { engine, clock } = world();
    const line = { losing: 2 };
    const ground = open();
    const storage = ground.connect();
    const one = engine(losing(storage, line));
    const { id: session, contact_id } = await one.webchat.open();
    await one.start();
    const ids = [
      await sendSurely(one, contact_id, "a"),
      await sendSurely(one, contact_id, "b"),
      await sendSurely(one, contact_id, "c"),
    ];
    const statuses = async () =>
      (await Promise.all(ids.map((id) => one.messages.get(id)))).map(({ status }) => status);
    const shown = async () => (await one.webchat.messages(session)).data.map(({ id }) => id);
    await clock.advanceUntil(async () => (await rowsOf(storage, mail)).length === 3);
    expect(await statuses()).not.toEqual(["sent", "sent", "sent"]);
    expect(await shown()).toEqual(ids.toReversed());
    await clock.advanceUntil(async () => (await statuses()).every((status) => status === "sent"));
    expect(line.losing).toBe(0);
    const entries = await rowsOf(storage, mail);
    expect(entries.map(({ number }) => number)).toEqual([1, 2, 3]);
    expect(entries.map(({ message_id }) => message_id)).toEqual(ids);
  });

  it("gets a message once if it is handed over again, also concurrently", async () => {
    const { engine, clock } = world();
    const ground = open();
    const storage = ground.connect();
    const one = engine(storage);
    const { contact_id } = await one.webchat.open();
    await one.start();
    const id = await send(one, contact_id, "a");
    await clock.advanceUntil(async () => (await one.messages.get(id)).status === "sent");
    const [row] = await rowsOf(storage, messages);
    const message = row as unknown as OutboundMessage;
    const store = new Store({
      port: ground.connect(),
      schema,
      clock,
      random: seededRandom(9),
      logger: silent,
    });
    await store.open();
    const transport = webchatTransport(store);
    const context = {
      attempt_id: "att_1",
      number: 1,
      started_at: 0,
      signal: new AbortController().signal,
    } as const;
    const again = { ...message, message_id: id as OutboundMessage["message_id"] };
    const answers = await Promise.all([
      transport.send(again, context),
      transport.send(again, context),
    ]);
    expect(answers).toEqual([1, 2].map(() => ({ outcome: "accepted", provider_message_id: id })));
    expect(await rowsOf(storage, mail)).toHaveLength(1);
    await store.close();
  });

  it.runIf(isTried)(
    "exists per address, and all addresses of a contact get its messages",
    async () => {
      const { engine, clock } = world();
      const storage = open().connect();
      const one = engine(storage);
      const [kept, merged] = [await one.webchat.open(), await one.webchat.open()];
      await one.start();
      await one.contacts.merge(kept.contact_id, merged.contact_id);
      await send(one, kept.contact_id, "to both");
      await clock.advanceUntil(async () => (await rowsOf(storage, mail)).length === 2);
      const entries = await rowsOf(storage, mail);
      expect(new Set(entries.map(({ address }) => address)).size).toBe(2);
      expect(entries.map(({ number }) => number)).toEqual([1, 1]);
      const boxes = await rowsOf(storage, mailboxes);
      expect(boxes.map(({ last_number }) => last_number)).toEqual([1, 1]);
    },
  );

  it.runIf(isTried)(
    "gets the redactions of messages that its browser may show, and no others",
    async () => {
      const { engine, clock } = world();
      const storage = open().connect();
      const one = engine(storage);
      const [kept, merged] = [await one.webchat.open(), await one.webchat.open()];
      const { contact_id } = kept;
      await one.start();
      const secret = await send(one, contact_id, "secret");
      await clock.advanceUntil(async () => (await rowsOf(storage, mail)).length === 1);
      const { id: own } = await one.webchat.sendAsVisitor(kept.id, { body: "my secret" });
      await one.contacts.merge(contact_id, merged.contact_id);
      const later = new Date(clock.now() + 60_000).toISOString();
      const unsent = await one.messages.send({
        to: contact_id,
        channel: "webchat",
        body: "never sent",
        send_at: later,
      });
      await one.messages.cancel(unsent.id);
      for (const id of [secret, own, unsent.id]) await one.messages.redact(id);

      // Both browsers list what either has got.
      for (const [{ id }, numbers] of [
        [kept, ["2", "3"]],
        [merged, ["1", "2"]],
      ] as const) {
        expect((await one.webchat.messages(id)).data.map(({ body }) => body)).toEqual([null, null]);
        const told: unknown[] = [];
        for await (const { id: number, message } of await one.webchat.stream(id)) {
          told.push([number, message.id, message.body]);
          if (told.length === 2) break;
        }
        expect(told).toEqual([secret, own].map((message, i) => [numbers[i], message, null]));
      }
      expect(await rowsOf(storage, mail)).toHaveLength(4);

      await one.contacts.erase(contact_id);
      await clock.advanceUntil(async () => (await rowsOf(storage, mail)).length === 0);
      expect(await rowsOf(storage, mailboxes)).toEqual([]);
    },
  );

  const isTriedOnce = isLong || name === "memory";
  it.runIf(isTriedOnce)(
    "marks all messages up to the browser's last number as delivered",
    async () => {
      const { engine, clock } = world();
      const storage = open().connect();
      const one = engine(storage);
      const session = await one.webchat.open();
      await one.start();
      // More than one transaction marks.
      const count = 130;
      await Promise.all(
        Array.from({ length: count }, (_, i) => send(one, session.contact_id, String(i))),
      );
      await clock.advance(5_000);
      expect(await rowsOf(storage, mail)).toHaveLength(count);
      await connectOnce(one, session, count - 1);
      const { data } = await one.messages.list({ status: "sent" });
      expect(data.map(({ id }) => id)).toEqual([
        (await rowsOf(storage, mail)).at(-1)?.["message_id"],
      ]);
      expect((await one.messages.list({ status: "delivered", limit: 100 })).has_more).toBe(true);
      await connectOnce(one, session, 10 ** 15 - 1);
      expect((await one.messages.list({ status: "sent" })).data).toEqual([]);
    },
  );

  it.runIf(isTried)("marks only messages that the session's stream has sent", async () => {
    const { engine, clock } = world();
    const storage = open().connect();
    const one = engine(storage);
    const before = await one.webchat.open();
    const { contact_id } = before;
    await one.start();
    const ids = [
      await send(one, contact_id, "1"),
      await send(one, contact_id, "2"),
      await send(one, contact_id, "3"),
    ];
    await clock.advanceUntil(async () => (await rowsOf(storage, mail)).length === 3);
    const session = await one.webchat.open({ contact_id });
    ids.push(await send(one, contact_id, "4"));
    await clock.advanceUntil(async () => (await rowsOf(storage, mail)).length === 4);
    await clock.advance(1_000);
    const statuses = () => Promise.all(ids.map(async (id) => (await one.messages.get(id)).status));
    // No stream ever sent the first three. This session starts with the fourth.
    await connectOnce(one, session);
    await connectOnce(one, session, 4);
    expect(await statuses()).toEqual(["sent", "sent", "sent", "delivered"]);
    // A session that continues an older one gets the missed messages and confirms them.
    const later = await one.webchat.open({ contact_id });
    await connectOnce(one, later, 1);
    expect(await statuses()).toEqual(["sent", "sent", "sent", "delivered"]);
    await connectOnce(one, later, 4);
    expect(await statuses()).toEqual(["sent", "delivered", "delivered", "delivered"]);
  });

  it.each(["just after", "just before"])(
    "is not left behind by a hand-over %s an erasure commits",
    async (when) => {
      const { engine, clock } = world();
      const ground = open();
      const storage = ground.connect();
      let handedOver = 0;
      let handOver = async (): Promise<void> => {};
      const isErased = writesTo(identities, "remove");
      const overtaking = withGroups(storage, {
        async commit(writes, group) {
          const isNow = writes.some(isErased) && handedOver === 0;
          if (isNow && when === "just before") await handOver();
          await group.commit(writes);
          if (isNow && when === "just after") await handOver();
        },
      });
      const one = engine(overtaking);
      const { contact_id } = await one.webchat.open();
      const id = await send(one, contact_id, "a");
      const [row] = await rowsOf(storage, messages);
      const message = {
        ...(row as unknown as OutboundMessage),
        message_id: id as OutboundMessage["message_id"],
      };
      const other = ground.connect();
      const store = new Store({
        port: other,
        schema,
        clock,
        random: seededRandom(9),
        logger: silent,
      });
      await store.open();
      const context = {
        attempt_id: "att_1",
        number: 1,
        started_at: 0,
        signal: new AbortController().signal,
      } as const;
      handOver = async () => {
        await webchatTransport(store).send(message, context);
        handedOver++;
      };
      await one.contacts.erase(contact_id);
      await clock.settle();
      expect(handedOver).toBe(1);
      expect([await rowsOf(storage, mail), await rowsOf(storage, mailboxes)]).toEqual([[], []]);
      await store.close();
    },
  );
});

it("a message that is on its way during a merge reaches the browsers of both contacts", async () => {
  const storage = memory();
  const { clock, engine, started } = world();
  const other = engine(storage);
  const [ann, bob] = [await other.webchat.open({ name: "Ann" }), await other.webchat.open()];
  const one = await started(
    overtaken(storage, writesTo(mail, "insert"), () =>
      other.contacts.merge(ann.contact_id, bob.contact_id),
    ),
  );
  await send(one, ann.contact_id, "Hello");
  await clock.advance(1_000);
  const addressed = (await rowsOf(storage, mail)).map(({ address }) => address);
  const known = (await rowsOf(storage, identities)).map(({ address }) => address);
  expect(addressed.toSorted()).toEqual(known.toSorted());
  expect(known).toHaveLength(2);
});
