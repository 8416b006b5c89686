import { describe, expect, it } from "vitest";
import { rules } from "../../adapters/models/index.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import type { MessageStatus } from "../../src/kernel/message-status.ts";
import { counted } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { lightStorages } from "../support/storage/storages.ts";

interface Fate {
  readonly end: MessageStatus;
  readonly error?: string;
  /** The times of the carrier calls, in milliseconds after the send. */
  readonly calls: readonly (number | "after a look-up")[];
  readonly way: readonly MessageStatus[];
  readonly reply?: string;
}

const way = ["queued", "sending", "sent"] as const;
const delivered = { end: "delivered", calls: [0], way: [...way, "delivered"] } as const;

const fates: Record<string, Fate> = {
  "0001": delivered,
  "0002": delivered,
  "0003": { end: "undelivered", error: "unreachable", calls: [0], way: [...way, "undelivered"] },
  "0004": { end: "undelivered", error: "filtered", calls: [0], way: [...way, "undelivered"] },
  "0005": {
    end: "failed",
    error: "invalid_destination",
    calls: [0],
    way: ["queued", "sending", "failed"],
  },
  "0006": { end: "failed", error: "landline", calls: [0], way: ["queued", "sending", "failed"] },
  "0007": {
    end: "delivered",
    calls: [0, 2_000, 4_000],
    way: ["queued", "sending", "queued", "sending", ...way, "delivered"],
  },
  "0008": {
    end: "delivered",
    calls: [0, 1_000, 6_000, 36_000],
    way: ["queued", "sending", "queued", "sending", "queued", "sending", ...way, "delivered"],
  },
  "0009": { end: "unconfirmed", calls: [0], way: [...way, "unconfirmed"] },
  "0010": delivered,
  "0011": delivered,
  "0012": { end: "delivered", calls: [0], way: ["queued", "sending", "sent", "delivered"] },
  "0013": {
    end: "delivered",
    calls: [0],
    way: ["queued", "sending", "ambiguous", "sent", "delivered"],
  },
  "0014": {
    end: "delivered",
    calls: [0, "after a look-up"],
    way: ["queued", "sending", "ambiguous", ...way, "delivered"],
  },
  "0015": { ...delivered, reply: "Thanks, I got it!" },
  "0016": { ...delivered, reply: "STOP" },
  "0017": { end: "read", calls: [0], way: [...way, "delivered", "read"] },
  "0018": delivered,
  "0019": delivered,
  "0020": { ...delivered, reply: "You wrote: Hello" },
  "4321": delivered,
};

describe.each(lightStorages)("a message to a sandbox number, on $name", ({ open }) => {
  it("ends as the number defines, with the expected carrier calls", async () => {
    const { clock, started, log } = world();
    const line = counted(sandbox());
    const one = await started(open().connect(), { transports: [line] });
    await clock.advance(1_717);
    const begun = clock.now();
    const sent = await Promise.all(
      Object.keys(fates).map(async (ending) => {
        const { id } = await one.messages.send({ to: `+1500555${ending}`, body: "Hello" });
        return { ending, id };
      }),
    );
    await clock.advance(180_000);
    const seen: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const { ending, id } of sent) {
      const { status, error, conversation_id } = await one.messages.get(id);
      const { data } = await one.messages.timeline(id);
      const calls = line.calls
        .filter(({ message }) => message.message_id === id)
        .map(({ at }) => at - begun);
      const lookedUp = data.find(
        (entry) => entry.type === "lookup" && entry.outcome === "not_sent",
      )?.at;
      const { data: thread } = await one.messages.list({ conversation_id });
      const fate = fates[ending];
      if (fate === undefined) throw new Error("no fate");
      const ways = data.flatMap((entry) => (entry.type === "transition" ? [entry.to] : []));
      const replies = thread
        .filter(({ direction }) => direction === "inbound")
        .map(({ body }) => body);
      seen[ending] = { end: status, error: error?.code, calls, way: ways, replies };
      expected[ending] = {
        end: fate.end,
        error: fate.error,
        calls: fate.calls.map((at) =>
          at === "after a look-up" ? Date.parse(lookedUp ?? "") - begun : at,
        ),
        // The early receipt is stored before the answer.
        way: ending === "0012" ? ways : fate.way,
        // It also answers the opt-out's confirmation, which is not confirmed again.
        replies:
          fate.reply === undefined
            ? []
            : Array.from({ length: ending === "0016" ? 2 : 1 }, () => fate.reply),
      };
    }
    expect(seen).toEqual(expected);
    const { consent } = await one.messages.preview({ to: "+15005550016", body: "Hello" });
    expect(consent).toBe("opted_out");
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("without MMS fails with a picture and is delivered without one", async () => {
    const { clock, started } = world();
    const one = await started(open().connect(), { transports: [sandbox()] });
    const to = "+15005550018";
    const mms = await one.messages.send({
      to,
      body: "",
      media: [{ url: "https://example.com/a.png" }],
    });
    const sms = await one.messages.send({ to, body: "Hello" });
    await clock.advance(10_000);
    expect(await one.messages.get(mms.id)).toMatchObject({
      status: "failed",
      error: { code: "unsupported_channel", permanent: true },
    });
    expect((await one.messages.get(sms.id)).status).toBe("delivered");
  });

  it("lists ignored receipts in its timeline, with the reason", async () => {
    const { clock, started } = world();
    const one = await started(open().connect(), { transports: [sandbox()] });
    const ignored = async (ending: string): Promise<unknown[]> => {
      const { id } = await one.messages.send({ to: `+1500555${ending}`, body: "Hello" });
      await clock.advance(70_000);
      const { data } = await one.messages.timeline(id);
      return data.flatMap((entry) =>
        entry.type === "receipt" && !entry.applied ? [[entry.status, entry.ignored_reason]] : [],
      );
    };
    expect(await ignored("0010")).toContainEqual(["delivered", "duplicate"]);
    expect(await ignored("0019")).toContainEqual(["undelivered", "outranked"]);
  });

  it("gets simulated receipts only if it was sent", async () => {
    const { clock, started } = world();
    const one = await started(open().connect(), { transports: [sandbox()] });
    const to = "+15005550001";
    const inbound = await one.sandbox.inbound({ from: to, body: "Hi" });
    const send_at = new Date(clock.now() + 60_000).toISOString();
    const scheduled = await one.messages.send({ to, body: "Hello", send_at });
    const receipt = (id: string): Promise<unknown> =>
      one.sandbox.receipts(id, [{ status: "delivered" }]);
    await expect(receipt(inbound.id)).rejects.toThrow("An inbound message gets no receipts.");
    await expect(receipt(scheduled.id)).rejects.toThrow("Wait until it is sent");
    await one.messages.cancel(scheduled.id);
    await expect(receipt(scheduled.id)).rejects.toThrow(
      "The message is canceled and was never sent, so it gets no receipts.",
    );
  });

  it("is completed by another engine if the first stops right after the hand-over", async () => {
    const { clock, started } = world();
    const ground = open();
    const one = await started(ground.connect(), { transports: [sandbox()] });
    const sent = await Promise.all(
      ["0001", "0002", "0003", "0013", "0014", "0017"].map((ending) =>
        one.messages.send({ to: `+1500555${ending}`, body: "Hello" }),
      ),
    );
    await clock.settle();
    await one.stop({ deadlineMs: 0 });
    const line = counted(sandbox());
    const two = await started(ground.connect(), { transports: [line] });
    await clock.advance(300_000);
    const ends = await Promise.all(sent.map(async ({ id }) => (await two.messages.get(id)).status));
    expect(ends).toEqual([
      "delivered",
      "delivered",
      "undelivered",
      "delivered",
      "delivered",
      "read",
    ]);
    expect(line.calls.map(({ message }) => message.to)).toEqual(["+15005550014"]);
  });

  it("has a timeline of calls, answers, retry times and changes, oldest first", async () => {
    const { clock, started } = world();
    const one = await started(open().connect(), { transports: [sandbox()] });
    const begun = clock.now();
    const after = (ms: number): string => new Date(begun + ms).toISOString();
    const { id } = await one.messages.send({ to: "+15005550007", body: "Hello" });
    await clock.advance(10_000);
    const { data } = await one.messages.timeline(id);
    const change = (ms: number, from: string | null, to: string) => ({
      type: "transition",
      at: after(ms),
      from,
      to,
    });
    const throttled = (ms: number, number: number) => ({
      type: "attempt",
      at: after(ms),
      number,
      transport: "sandbox",
      outcome: "rejected",
      error: { code: "throttled", permanent: false, stage: "carrier" },
      answered_at: after(ms),
      next_attempt_at: after(ms + 2_000),
    });
    expect(data).toMatchObject([
      change(0, null, "queued"),
      throttled(0, 1),
      change(0, "queued", "sending"),
      change(0, "sending", "queued"),
      throttled(2_000, 2),
      change(2_000, "queued", "sending"),
      change(2_000, "sending", "queued"),
      { type: "attempt", number: 3, outcome: "accepted", error: null, next_attempt_at: null },
      change(4_000, "queued", "sending"),
      change(4_000, "sending", "sent"),
      { type: "receipt", status: "sent", carrier_at: after(4_100), applied: false },
      {
        type: "receipt",
        status: "delivered",
        carrier_at: after(4_400),
        applied: true,
        ignored_reason: null,
      },
      change(4_400, "sent", "delivered"),
    ]);
  });
});

it.each(["0015", "0020"])("%s and an agent that answers it come to rest", async (ending) => {
  const { clock, engine } = world();
  const one = engine(memory(), { transports: [sandbox()], agents: { model: rules() } });
  await one.agents.create({ name: "Ada", channels: ["sms"] });
  await one.start();
  const { conversation_id } = await one.messages.send({ to: `+1500555${ending}`, body: "Hello" });
  await clock.advance(60_000);
  const { handler, message_count } = await one.conversations.get(conversation_id);
  expect(handler).toBe("queue");
  expect(message_count).toBeLessThan(14);
});
