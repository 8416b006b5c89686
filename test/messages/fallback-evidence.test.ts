/** What carriers report about a message that falls back from one to the other. */
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { LookupAnswer, Receipt, SendAnswer } from "../../src/ports/transport.ts";
import { accepted, busy, carrier, held, lost, providerId } from "../support/engines/carrier.ts";
import { hello, overTwo, unavailable } from "../support/engines/over-two.ts";
import { world } from "../support/engines/world.ts";

const hour = 3_600_000;

it.each(["before the answer", "after the answer", "in a look-up"])(
  "a fallback after `undelivered` goes ahead although a receipt `sent` follows: %s",
  async (when) => {
    const answer = held<SendAnswer>();
    const { clock, engine, lines } = await overTwo(["undelivered"], {
      send: () => answer.promise,
      lookup: () => ({ outcome: "sent", provider_message_id: "p-1", receipts: receipts() }),
    });
    const receipts = (): Receipt[] => [
      { status: "undelivered", at: clock.now(), error: unavailable },
      { status: "sent", at: clock.now() },
    ];
    const [first, second] = lines;
    const push = async () => {
      for (const receipt of receipts()) {
        await first.sink().receipt({ provider_message_id: "p-1" }, receipt);
      }
    };
    const { id } = await engine.messages.send(hello);
    await clock.settle();
    if (when === "before the answer") await push();
    const known = { outcome: "accepted", provider_message_id: "p-1" } as const;
    answer.answer(when === "in a look-up" ? lost : known);
    await clock.settle();
    if (when === "after the answer") await push();
    await clock.advance(20_000);
    expect(await engine.messages.get(id)).toMatchObject({ status: "sent", transport: "second" });
    expect([first.calls.length, second.calls.length]).toEqual([1, 1]);
  },
);

it("a message that quiet hours defer before its fallback is still sent if the first carrier reports `undelivered`", async () => {
  const answer = held<SendAnswer>();
  const { clock, engine, lines, tell } = await overTwo(
    ["ambiguous"],
    { send: () => answer.promise },
    {},
    { quietHours: { from: "21:00", to: "09:00" } },
  );
  clock.step(21 * hour - 2_000);
  const { id } = await engine.messages.send({ ...hello, category: "marketing" });
  await clock.advance(5_000);
  answer.answer(lost);
  await clock.settle();
  expect(await engine.messages.get(id)).toMatchObject({ status: "scheduled", transport: "second" });
  await tell(lines[0], "undelivered");
  clock.step(12 * hour);
  await clock.advance(5_000);
  expect(await engine.messages.get(id)).toMatchObject({ status: "sent", transport: "second" });
});

it("a message that was redacted after it was sent does not fall back after `undelivered`", async () => {
  const { clock, engine, lines, tell } = await overTwo(["undelivered"], {});
  const { id } = await engine.messages.send(hello);
  await clock.settle();
  const { sent_at } = await engine.messages.redact(id);
  await tell(lines[0], "undelivered", unavailable);
  await clock.advance(5_000);
  expect(sent_at).not.toBeNull();
  expect(await engine.messages.get(id)).toMatchObject({ status: "undelivered", sent_at });
  expect((await engine.events.list({ type: "message.failed" })).data).toHaveLength(1);
});

describe("a message shows the carrier and the provider id of the attempt that its status is based on", () => {
  const found: LookupAnswer = { outcome: "sent", provider_message_id: "p-found", receipts: [] };

  it("after the second carrier delivered it and a look-up finds it at the first, too", async () => {
    const answer = held<SendAnswer>();
    const { clock, engine, lines, tell } = await overTwo(
      ["ambiguous"],
      { send: () => answer.promise, lookup: () => found },
      { send: () => lost },
    );
    const { id } = await engine.messages.send(hello);
    await clock.advance(2_000);
    answer.answer(lost);
    await clock.settle();
    await tell(lines[1], "delivered");
    const { provider_message_id } = await engine.messages.get(id);
    expect(provider_message_id).not.toBeNull();
    await clock.advance(60_000);
    expect(lines[0].lookups).not.toEqual([]);
    expect(await engine.messages.get(id)).toMatchObject({
      status: "delivered",
      transport: "second",
      provider_message_id,
    });
  });

  it("after a receipt of an earlier attempt that does not count", async () => {
    const { clock, engine, lines, tell } = await overTwo(
      [],
      {
        send: (_, attempt) => (attempt.number === 1 ? busy(1_000) : accepted(attempt)),
      },
      { send: () => busy(60_000) },
    );
    const { id } = await engine.messages.send(hello);
    await clock.advance(5_000);
    const { provider_message_id } = await engine.messages.get(id);
    expect(provider_message_id).not.toBeNull();
    await tell(lines[0], "undelivered");
    expect(await engine.messages.get(id)).toMatchObject({ status: "sent", provider_message_id });
  });

  it("after a late acceptance of an earlier attempt over the same carrier", async () => {
    const answer = held<SendAnswer>();
    const { clock, engine, lines } = await overTwo(
      [],
      {
        send: (_, attempt) => (attempt.number === 1 ? answer.promise : accepted(attempt)),
        lookup: () => ({ outcome: "not_sent" }),
      },
      { send: () => busy(600_000) },
    );
    const { id } = await engine.messages.send(hello);
    await clock.advance(600_000);
    const { provider_message_id, transport } = await engine.messages.get(id);
    expect([transport, lines[0].calls.length]).toEqual(["sandbox", 2]);
    answer.answer({ outcome: "accepted", provider_message_id: "p-late" });
    await clock.settle();
    expect(await engine.messages.get(id)).toMatchObject({ status: "sent", provider_message_id });
  });

  it("after receipts tell the provider id of an attempt whose answer was lost", async () => {
    const { clock, engine, lines, tell } = await overTwo([], { send: () => lost });
    const { id } = await engine.messages.send(hello);
    await clock.settle();
    await lines[0].report("sent");
    await tell(lines[0], "sent");
    expect(await engine.messages.get(id)).toMatchObject({
      status: "sent",
      transport: "sandbox",
      provider_message_id: providerId(lines[0].attempt()),
    });
  });
});

it.each(["sent", "delivered", "unconfirmed", "canceled"] as const)(
  "a lost message does not get the copy of an earlier one that the carrier lost, too, and that is %s",
  async (status) => {
    const copy = { provider_message_id: "p-earlier", receipts: [] };
    const { clock, engine, lines, tell } = await overTwo(
      ["ambiguous"],
      { send: () => lost, lookup: () => ({ outcome: "alike", messages: [copy] }) },
      {
        receipts: { timeout_ms: 60_000, lookups_ms: [] },
        send: (_, attempt) => answers.shift()?.(attempt) ?? lost,
      },
    );
    const answers = [status === "canceled" ? () => busy(600_000) : accepted];
    const earlier = await engine.messages.send(hello);
    await clock.settle();
    if (status === "delivered") await tell(lines[1], "delivered");
    if (status === "unconfirmed") await clock.advance(90_000);
    if (status === "canceled") await engine.messages.cancel(earlier.id);
    expect((await engine.messages.get(earlier.id)).status).toBe(status);
    const { id } = await engine.messages.send(hello);
    await clock.advance(60_000);
    expect(lines[0].lookups).not.toEqual([]);
    expect((await engine.messages.get(id)).status).toBe("ambiguous");
  },
);

it("a look-up does not take a message back to a carrier that reported `undelivered`", async () => {
  const found = held<LookupAnswer>();
  const { clock, engine, lines, tell } = await overTwo(
    ["ambiguous"],
    { send: () => lost, lookup: () => found.promise },
    { send: () => lost },
  );
  const { id } = await engine.messages.send(hello);
  await clock.advance(10_000);
  expect(lines[0].lookups).toHaveLength(1);
  await tell(lines[0], "undelivered");
  const provider_message_id = providerId(lines[0].attempt());
  found.answer({ outcome: "sent", provider_message_id, receipts: [] });
  await clock.settle();
  expect((await engine.messages.get(id)).status).toBe("ambiguous");
});

it("the timeline shows no error with the status `sent` of an attempt that is given up later", async () => {
  const { clock, engine, lines, tell } = await overTwo(["undelivered"], {});
  const { id } = await engine.messages.send(hello);
  await clock.settle();
  await tell(lines[0], "undelivered", unavailable);
  await clock.settle();
  const { data } = await engine.messages.timeline(id);
  const errors = data.flatMap((entry) =>
    entry.type === "transition" && entry.to === "sent" ? [entry.error] : [],
  );
  expect(errors).toEqual([null, null]);
});

describe("an opt-out that only a carrier knows is recorded", () => {
  const optedOut = { code: "opted_out", message: "" } as const;
  const refuses: SendAnswer = { outcome: "rejected", error: optedOut, permanent: true };

  it("if the second carrier refuses a message that the first has delivered", async () => {
    const answer = held<SendAnswer>();
    const { clock, engine, lines, tell } = await overTwo(
      ["ambiguous"],
      { send: () => lost },
      { send: () => answer.promise },
    );
    const { id, contact_id } = await engine.messages.send(hello);
    await clock.settle();
    await tell(lines[0], "delivered");
    answer.answer(refuses);
    await clock.settle();
    expect((await engine.messages.get(id)).status).toBe("delivered");
    expect((await engine.contacts.get(contact_id)).opted_out).toBe(true);
  });

  it("if the first carrier refuses late a message that the second has sent", async () => {
    const answer = held<SendAnswer>();
    const { clock, engine } = await overTwo(["ambiguous"], { send: () => answer.promise });
    const { id, contact_id } = await engine.messages.send(hello);
    await clock.advance(26_000);
    answer.answer(refuses);
    await clock.settle();
    expect((await engine.messages.get(id)).status).toBe("sent");
    expect((await engine.contacts.get(contact_id)).opted_out).toBe(true);
  });

  it("if a carrier refuses an attempt that its receipt has proved", async () => {
    const answer = held<SendAnswer>();
    const { clock, engine, lines, tell } = await overTwo([], { send: () => answer.promise });
    const { id, contact_id } = await engine.messages.send(hello);
    await clock.settle();
    await tell(lines[0], "sent");
    answer.answer(refuses);
    await clock.settle();
    expect((await engine.messages.get(id)).status).toBe("sent");
    expect((await engine.contacts.get(contact_id)).opted_out).toBe(true);
  });

  it.each([
    ["of the first carrier, after the second sent it", 0, "sent"],
    ["of the second carrier, after the first delivered it", 1, "delivered"],
  ] as const)("if a receipt says so that changes nothing: %s", async (_, which, status) => {
    const { clock, engine, lines, tell } = await overTwo(["ambiguous"], { send: () => lost });
    const { id, contact_id } = await engine.messages.send(hello);
    await clock.settle();
    if (which === 1) await tell(lines[0], "delivered");
    await tell(lines[which], "undelivered", optedOut);
    expect((await engine.messages.get(id)).status).toBe(status);
    expect((await engine.contacts.get(contact_id)).opted_out).toBe(true);
  });

  it.each([
    "before its answer",
    "before its arrival and its answer",
    "after its answer",
    "after another carrier sent the message",
  ])(
    "once for each attempt, so that a repeated receipt does not undo an opt-in: %s",
    async (when) => {
      const answer = held<SendAnswer>();
      const { clock, engine, lines, tell } = await overTwo(["ambiguous"], {
        send: () => answer.promise,
      });
      const { contact_id } = await engine.messages.send(hello);
      await clock.settle();
      const attempt = lines[0].attempt();
      const push = () => tell(lines[0], "undelivered", optedOut);
      if (when.startsWith("before")) await push();
      if (when === "before its arrival and its answer") await tell(lines[0], "delivered");
      answer.answer(when === "after another carrier sent the message" ? lost : accepted(attempt));
      await clock.settle();
      if (when.startsWith("after")) await push();
      expect((await engine.contacts.get(contact_id)).opted_out).toBe(true);
      await engine.contacts.setConsent(contact_id, "text", { status: "opted_in" });
      await clock.advance(1_000);
      await push();
      expect((await engine.contacts.get(contact_id)).opted_out).toBe(false);
    },
  );

  it("once, although a look-up later makes the refusal the reason of the message's failure", async () => {
    const { clock, engine } = await overTwo(
      ["ambiguous"],
      { send: () => lost, lookup: () => ({ outcome: "not_sent" }) },
      { send: () => refuses },
    );
    const { id, contact_id } = await engine.messages.send(hello);
    await clock.settle();
    expect((await engine.contacts.get(contact_id)).opted_out).toBe(true);
    await engine.contacts.setConsent(contact_id, "text", { status: "opted_in" });
    await clock.advance(60_000);
    expect((await engine.messages.get(id)).error?.code).toBe("opted_out");
    expect((await engine.contacts.get(contact_id)).opted_out).toBe(false);
  });
});

it("the timeline keeps the reason of a lost answer when a receipt reports another", async () => {
  const { clock, started } = world();
  const line = carrier({ send: () => lost });
  const one = await started(memory(), { transports: [line] });
  const { id } = await one.messages.send({ to: "+15005550001", body: "Hello" });
  await clock.settle();
  const reasons = async () =>
    (await one.messages.timeline(id)).data.flatMap((entry) =>
      entry.type === "transition" && entry.to === "ambiguous" ? [entry.error] : [],
    );
  const before = await reasons();
  expect(before).toHaveLength(1);
  await line.report("undelivered", {
    by: "both",
    error: { code: "unreachable", message: "The phone is off." },
  });
  expect((await one.messages.get(id)).status).toBe("undelivered");
  expect(await reasons()).toEqual(before);
});

it("all receipts of an attempt count that was refused for now and waits for its retry", async () => {
  const { clock, started } = world();
  const line = carrier({ send: () => busy(60_000) });
  const one = await started(memory(), { transports: [line] });
  const { id } = await one.messages.send(hello);
  await clock.advance(10_000);
  const earlier = clock.now() - 5_000;
  const error = { code: "unreachable", message: "The phone is off." } as const;
  for (const at of [clock.now(), earlier]) {
    await line.report("undelivered", { by: "both", at, error });
  }
  const sent_at = new Date(earlier).toISOString();
  expect(await one.messages.get(id)).toMatchObject({ status: "undelivered", sent_at });
});

describe("a carrier that refused an attempt for now and then reports `undelivered`", () => {
  it("is not called again, although it reports `sent` again before the fallback", async () => {
    const { clock, engine, lines, tell } = await overTwo(
      ["undelivered"],
      { send: (_, attempt) => (attempt.number === 1 ? busy(120_000) : accepted(attempt)) },
      { send: () => busy(60_000) },
    );
    const { id } = await engine.messages.send(hello);
    await clock.settle();
    const [first, second] = lines;
    await tell(second, "sent");
    await tell(second, "undelivered", unavailable);
    await tell(second, "sent");
    await clock.advance(150_000);
    expect(await engine.messages.get(id)).toMatchObject({ status: "sent", transport: "sandbox" });
    expect([first.calls.length, second.calls.length]).toEqual([2, 1]);
  });
});

describe("the wait for the receipts of the next carrier does not end early", () => {
  const short = { receipts: { timeout_ms: 60_000, lookups_ms: [] } };

  it.each([
    ["refused the message for now and reports `undelivered`", "undelivered", busy(600_000)],
    ["lost its answer and reports `sent`", "sent", lost],
  ] as const)("if a carrier with a shorter wait %s", async (_, status, answer) => {
    const { clock, engine, lines, tell } = await overTwo(["ambiguous"], {
      ...short,
      send: () => answer,
    });
    const { id } = await engine.messages.send(hello);
    await clock.settle();
    await tell(lines[0], status);
    await clock.advance(120_000);
    expect(await engine.messages.get(id)).toMatchObject({ status: "sent", transport: "second" });
    await clock.advance(3_600_000);
    expect((await engine.messages.get(id)).status).toBe("unconfirmed");
  });

  it("if it ends for an earlier attempt that was accepted late", async () => {
    const answer = held<SendAnswer>();
    const { clock, engine, lines } = await overTwo(["ambiguous"], {
      ...short,
      send: () => answer.promise,
    });
    const { id } = await engine.messages.send(hello);
    await clock.advance(26_000);
    answer.answer(accepted(lines[0].attempt()));
    await clock.advance(120_000);
    expect(await engine.messages.get(id)).toMatchObject({ status: "sent", transport: "second" });
  });
});
