import { describe, expect, it } from "vitest";
import { messages as messageRows } from "../../src/messages/rows.ts";
import type { InboundMessage } from "../../src/ports/transport.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { lightStorages } from "../support/storage/storages.ts";

const phone = "+15005550101";

const inbound = (n: number, over: Partial<InboundMessage> = {}): InboundMessage => ({
  provider_message_id: `in-${n}`,
  channel: "sms",
  from: phone,
  to: "+15551230000",
  body: String(n),
  media: [],
  at: 0,
  ...over,
});

describe.each(lightStorages)("inbound messages on $name", ({ open }) => {
  it("from a new number, 200 at once through several engines, make one contact and conversation without gaps", async () => {
    const { engine } = world();
    const ground = open();
    const storage = ground.connect();
    const engines = [engine(storage), engine(ground.connect())];
    const [one] = engines;
    if (one === undefined) throw new Error("no engine");
    const taken = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        (engines[n % 2] ?? one).sandbox.inbound({ from: phone, body: String(n) }),
      ),
    );
    expect(new Set(taken.map(({ contact_id }) => contact_id)).size).toBe(1);
    expect(new Set(taken.map(({ conversation_id }) => conversation_id)).size).toBe(1);
    const rows = await rowsOf(storage, messageRows);
    const sequence = rows.map((row) => row["sequence"]).toSorted((a, b) => a - b);
    expect(sequence).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
    for (const type of ["contact.created", "conversation.created"] as const) {
      expect((await one.events.list({ type })).data).toHaveLength(1);
    }
  });

  it("and concurrent outbound ones of one number share contact, conversation and sequence", async () => {
    const { engine } = world();
    const storage = open().connect();
    const one = engine(storage);
    const both = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        n % 2 === 0
          ? one.sandbox.inbound({ from: phone, body: "in" })
          : one.messages.send({ to: phone, body: "out" }),
      ),
    );
    expect(new Set(both.map(({ conversation_id }) => conversation_id)).size).toBe(1);
    const rows = await rowsOf(storage, messageRows);
    expect(new Set(rows.map((row) => row["sequence"])).size).toBe(60);
    expect(Math.max(...rows.map((row) => row["sequence"]))).toBe(60);
  });

  it("from something that is no address are dropped with a warning, and others are stored", async () => {
    const { engine, log } = world();
    const line = carrier({ modes: ["live"] });
    const one = engine(open().connect(), { transports: [line], mode: "live" });
    await one.senders.create({ address: "+15551230000", channels: ["sms"], transport: "sandbox" });
    await one.start();
    const strange = ["", "+".repeat(65), "1".repeat(100_000), "+1\0", "\ud800", "<b>", "\n"];
    for (const [n, from] of strange.entries()) await line.sink().inbound(inbound(n, { from }));
    await line.sink().inbound(inbound(100));
    expect((await one.messages.list()).data.map(({ from }) => from)).toEqual([phone]);
    expect((await one.contacts.list()).data).toHaveLength(1);
    expect(log.filter(({ level }) => level === "warn")).toHaveLength(strange.length);
  });

  it("that a carrier repeats are stored once with one event, also concurrently or after a restart", async () => {
    const { engine, started } = world();
    const ground = open();
    const line = carrier({ modes: ["live"] });
    const one = engine(ground.connect(), { transports: [line], mode: "live" });
    await one.senders.create({ address: "+15551230000", channels: ["sms"], transport: "sandbox" });
    await one.start();
    await Promise.all(Array.from({ length: 30 }, (_, n) => line.sink().inbound(inbound(n % 3))));
    await line.sink().inbound(inbound(1, { body: "not the first" }));
    await one.stop();
    const again = carrier({ modes: ["live"] });
    const two = await started(ground.connect(), { transports: [again], mode: "live" });
    await again.sink().inbound(inbound(2));
    const { data } = await two.messages.list();
    expect(data.map(({ body }) => body)).toEqual(["2", "1", "0"]);
    expect((await two.events.list({ type: "message.received" })).data).toHaveLength(3);
  });

  it("with the same provider id from two transports are two messages", async () => {
    const { engine } = world();
    const [a, b] = [
      carrier({ name: "a", modes: ["live"] }),
      carrier({ name: "b", modes: ["live"] }),
    ];
    const one = engine(open().connect(), { transports: [a, b], mode: "live" });
    await one.senders.create({ address: "+15551230000", channels: ["sms"], transport: "a" });
    await one.senders.create({ address: "+15551230001", channels: ["sms"], transport: "b" });
    await one.start();
    await a.sink().inbound(inbound(1));
    await b.sink().inbound(inbound(1, { to: "+15551230001" }));
    expect((await one.messages.list()).data).toHaveLength(2);
  });

  it.each([
    ["an unknown address", { to: "+15551239999" }],
    ["another transport's address", { to: "+15551230001" }],
  ])("to %s are dropped with a log line without personal data", async (_, wrong) => {
    const { engine, log } = world();
    const line = carrier({ modes: ["live"] });
    const one = engine(open().connect(), {
      transports: [line, carrier({ name: "other", modes: ["live"] })],
      mode: "live",
    });
    await one.senders.create({
      address: "+15551230000",
      channels: ["sms"],
      transport: "sandbox",
    });
    await one.senders.create({ address: "+15551230001", channels: ["sms"], transport: "other" });
    await one.start();
    await line.sink().inbound(inbound(1, { ...wrong, body: "secret words" }));
    expect((await one.messages.list()).data).toEqual([]);
    expect((await one.events.list()).data).toEqual([]);
    expect(log.map(({ level }) => level)).toEqual(["warn"]);
    expect(JSON.stringify(log)).not.toMatch(/\+1|secret/);
  });

  it("belong to the account of the recipient address", async () => {
    const { engine } = world();
    const line = carrier({ modes: ["live"] });
    const one = engine(open().connect(), { transports: [line] });
    const handles = await Promise.all(
      ["a", "b"].map(async (name) =>
        one.account((await one.accounts.create({ name })).account.id, { mode: "live" }),
      ),
    );
    for (const [i, { senders }] of handles.entries()) {
      await senders.create({ address: `+1555123000${i}`, channels: ["sms"], transport: "sandbox" });
    }
    await one.start();
    for (const i of [0, 1]) await line.sink().inbound(inbound(i, { to: `+1555123000${i}` }));
    const bodies = await Promise.all(
      handles.map(async ({ messages }) => (await messages.list()).data.map(({ body }) => body)),
    );
    expect(bodies).toEqual([["0"], ["1"]]);
  });

  it.each([
    {
      modes: ["sandbox"],
      reached: [["+15551230001"], [], []],
      message: "a message was dropped: no sandbox has its address, or several do",
    },
    // Anybody could add the address of another account in a sandbox.
    {
      modes: ["live", "sandbox"],
      reached: [[], [], ["+15551230003"]],
      message: "a message was dropped: no live sender has its address",
    },
  ] as const)(
    "of a transport with the modes $modes reach the one sender that has their address in these",
    async ({ modes, reached, message }) => {
      const { engine, log } = world();
      const line = carrier({ name: "acme", modes });
      const one = engine(open().connect(), { transports: [line] });
      const account = async (name: string, mode: "live" | "sandbox", addresses: string[]) => {
        const handle = one.account((await one.accounts.create({ name })).account.id, { mode });
        for (const address of addresses) {
          await handle.senders.create({ address, channels: ["sms"], transport: "acme" });
        }
        return async () => (await handle.messages.list()).data.map(({ body }) => body);
      };
      const [own, shared, live] = ["+15551230001", "+15551230002", "+15551230003"] as const;
      const found = [
        await account("a", "sandbox", [own, shared]),
        await account("b", "sandbox", [shared]),
        await account("c", "live", modes.some((mode) => mode === "live") ? [live] : []),
      ];
      await one.start();
      for (const to of [own, shared, live]) await line.sink().inbound(inbound(1, { to, body: to }));
      expect(await Promise.all(found.map((bodies) => bodies()))).toEqual(reached);
      expect(log).toMatchObject(Array.from({ length: 2 }, () => ({ level: "warn", message })));
    },
  );

  it("that are redacted lose text and media everywhere and keep their position", async () => {
    const { engine } = world();
    const storage = open().connect();
    const one = engine(storage);
    const media = [{ url: "https://example.com/4711.png" }];
    const { id, conversation_id } = await one.sandbox.inbound({
      from: phone,
      body: "my PIN is 4711",
      media,
    });
    await one.messages.redact(id);
    expect(await one.messages.get(id)).toMatchObject({
      body: null,
      media: [],
      status: "received",
      conversation_id,
    });
    const {
      data: [event],
    } = await one.events.list({ type: "message.received" });
    expect(event?.data).toMatchObject({ message_id: id, body: "", media: [] });
    expect((await one.messages.timeline(id)).data.map(({ type }) => type)).toEqual([
      "transition",
      "redaction",
    ]);
    const everything = await Promise.all(
      [one.messages.list(), one.events.list({ limit: 100 }), one.messages.timeline(id)].map(
        async (page) => JSON.stringify(await page),
      ),
    );
    expect(everything.join()).not.toContain("4711");
  });
});
