/** Messages that a first carrier may have sent, and that a second refused for good. */
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { LookupAnswer, Receipt, SendAnswer } from "../../src/ports/transport.ts";
import {
  accepted,
  busy,
  carrier,
  held,
  lost,
  providerId,
  refusal,
  type Script,
} from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";

const to = "+15005550001";
const minute = { ttl_seconds: 60 };

async function sent(
  second: NonNullable<Script["send"]>,
  first: Script = {},
  options: { readonly ttl_seconds?: number } = {},
) {
  const { clock, started } = world();
  const lines = [
    carrier({ send: () => lost, ...first }),
    carrier({ name: "second", send: second }),
  ] as const;
  const storage = memory();
  const start = () =>
    started(storage, {
      transports: [...lines],
      routes: [{ transports: ["sandbox", "second"], fallBackAfter: ["ambiguous"] }],
    });
  const one = await start();
  const { id } = await one.messages.send({ to, body: "Hello", ...options });
  await clock.settle();
  const [line, other] = lines;
  return {
    clock,
    engine: one,
    restarted: start,
    line,
    other,
    message: () => one.messages.get(id),
    tell: (status: Receipt["status"]) => line.report(status, { by: "both" }),
  };
}

describe("a message that the first carrier may have and the second refuses", () => {
  it.each([
    ["for reasons of its own", () => refusal("invalid_sender")],
    ["because of the recipient", () => refusal("invalid_destination")],
    ["until all attempts are used", () => busy()],
  ])("stays ambiguous: %s", async (_, second) => {
    const { clock, engine, line, message } = await sent(second);
    await clock.advance(1_000_000);
    expect(await message()).toMatchObject({
      status: "ambiguous",
      error: { stage: "carrier", permanent: false },
    });
    expect(line.calls).toHaveLength(1);
    expect((await engine.events.list({ type: "message.failed" })).data).toEqual([]);
  });

  it.each(["sent", "delivered", "undelivered"] as const)(
    "is %s when the first carrier's receipt says so",
    async (status) => {
      const { line, tell, message } = await sent(() => refusal("invalid_destination"));
      await tell(status);
      expect(await message()).toMatchObject({
        status,
        transport: "sandbox",
        provider_message_id: providerId(line.attempt()),
      });
    },
  );

  it.each(["before", "after"])(
    "is undelivered when the first carrier reports this %s the refusal",
    async (when) => {
      const answer = held<SendAnswer>();
      const { clock, engine, message, tell } = await sent(() => answer.promise);
      if (when === "before") await tell("undelivered");
      answer.answer(refusal("invalid_sender"));
      await clock.settle();
      if (when === "after") await tell("undelivered");
      expect(await message()).toMatchObject({ status: "undelivered", transport: "sandbox" });
      expect((await engine.events.list({ type: "message.failed" })).data).toHaveLength(1);
    },
  );

  it.each([
    ["sent", "undelivered"],
    ["undelivered", "sent"],
  ] as const)(
    "is undelivered when the first carrier reports %s and then %s before the refusal",
    async (...statuses) => {
      const answer = held<SendAnswer>();
      const { clock, engine, message, tell } = await sent(() => answer.promise);
      for (const status of statuses) await tell(status);
      answer.answer(refusal("invalid_sender"));
      await clock.advance(7_200_000);
      expect(await message()).toMatchObject({ status: "undelivered", transport: "sandbox" });
      expect((await engine.events.list({ type: "message.failed" })).data).toHaveLength(1);
    },
  );

  it("is delivered when the first carrier reports this after `undelivered`", async () => {
    const answer = held<SendAnswer>();
    const { clock, message, tell } = await sent(() => answer.promise);
    await tell("undelivered");
    answer.answer(refusal("invalid_sender"));
    await clock.settle();
    await tell("delivered");
    expect(await message()).toMatchObject({ status: "delivered", transport: "sandbox" });
  });

  it.each([
    ["sent", "undelivered"],
    ["undelivered", "sent"],
  ] as const)(
    "is undelivered when the first carrier reports %s and then %s",
    async (...statuses) => {
      const { tell, message } = await sent(() => refusal("invalid_destination"));
      for (const status of statuses) await tell(status);
      expect(await message()).toMatchObject({ status: "undelivered", transport: "sandbox" });
    },
  );

  it("is undelivered when a look-up finds that the first carrier gave it up", async () => {
    const { clock, message } = await sent(() => refusal("invalid_sender"), {
      lookup: () => ({
        outcome: "sent",
        provider_message_id: "p-1",
        receipts: [{ status: "undelivered", at: clock.now() }],
      }),
    });
    await clock.advance(60_000);
    expect(await message()).toMatchObject({ status: "undelivered", transport: "sandbox" });
  });

  const found = (lookup: LookupAnswer, first: Script = {}): Script => ({
    lookup: () => lookup,
    ...first,
  });

  it("is sent when a look-up finds it at the first carrier", async () => {
    const answer = { outcome: "sent", provider_message_id: "p-1", receipts: [] } as const;
    const { clock, message } = await sent(() => refusal("invalid_sender"), found(answer));
    await clock.advance(60_000);
    expect(await message()).toMatchObject({
      status: "sent",
      transport: "sandbox",
      provider_message_id: "p-1",
    });
  });

  it("fails with the refusal when a look-up finds that the first carrier never had it", async () => {
    const { clock, message, line } = await sent(
      () => refusal("invalid_destination"),
      found({ outcome: "not_sent" }),
    );
    expect(await message()).toMatchObject({ status: "ambiguous" });
    await clock.advance(60_000);
    expect(await message()).toMatchObject({
      status: "failed",
      error: { code: "invalid_destination", permanent: true },
    });
    expect(line.calls).toHaveLength(1);
  });

  it("goes out over the first carrier when a look-up finds that only the second one refused it", async () => {
    const { clock, message, line, other } = await sent(
      () => refusal("invalid_sender"),
      found(
        { outcome: "not_sent" },
        { send: (_, attempt) => (attempt.number === 1 ? lost : accepted(attempt)) },
      ),
    );
    await clock.advance(60_000);
    expect(await message()).toMatchObject({ status: "sent", transport: "sandbox" });
    expect([line.calls.length, other.calls.length]).toEqual([2, 1]);
  });

  it.each([
    { ends: "goes out over the first carrier", how: "for now", late: busy(), status: "sent" },
    { ends: "fails", how: "for good", late: refusal("invalid_sender"), status: "failed" },
  ])("$ends when the first refuses it late, $how", async ({ late, status }) => {
    const answer = held<SendAnswer>();
    const { clock, message, line, other } = await sent(() => refusal("invalid_sender"), {
      send: (_, attempt) => (attempt.number === 1 ? answer.promise : accepted(attempt)),
    });
    await clock.advanceUntil(() => other.calls.length > 0);
    expect(await message()).toMatchObject({ status: "ambiguous" });
    answer.answer(late);
    await clock.advance(60_000);
    expect(await message()).toMatchObject({ status });
    expect([line.calls.length, other.calls.length]).toEqual([status === "sent" ? 2 : 1, 1]);
  });

  it("still records the opt-out that the second carrier knows", async () => {
    const { engine, message } = await sent(() => refusal("opted_out"));
    const { status, contact_id } = await message();
    expect(status).toBe("ambiguous");
    expect(await engine.contacts.get(contact_id)).toMatchObject({ opted_out: true });
  });

  it("stays ambiguous when the second carrier's next attempt would be too late", async () => {
    const { clock, engine, message } = await sent(() => busy(), {}, minute);
    await clock.advance(120_000);
    expect(await message()).toMatchObject({ status: "ambiguous" });
    expect((await engine.events.list({ type: "message.failed" })).data).toEqual([]);
  });

  it("stays ambiguous when its time to live ends while no engine runs", async () => {
    const { clock, engine, restarted } = await sent(() => busy(50_000), {}, minute);
    await engine.stop();
    await clock.advance(120_000);
    const next = await restarted();
    await clock.settle();
    expect((await next.messages.list({})).data).toMatchObject([{ status: "ambiguous" }]);
    expect((await next.events.list({ type: "message.failed" })).data).toEqual([]);
  });

  it("stays ambiguous when its recipient opts out before the next attempt", async () => {
    const { clock, engine, message } = await sent(() => busy());
    const { contact_id } = await message();
    await engine.contacts.setConsent(contact_id, "text", { status: "opted_out" });
    await clock.advance(120_000);
    expect(await message()).toMatchObject({ status: "ambiguous" });
  });

  it("looks up every carrier that may have it", async () => {
    const { clock, started } = world();
    const notSent: Script = { send: () => lost, lookup: () => ({ outcome: "not_sent" }) };
    const one = await started(memory(), {
      transports: [
        carrier(notSent),
        carrier({ name: "second", ...notSent }),
        carrier({ name: "third", send: () => refusal("invalid_destination") }),
      ],
      routes: [{ transports: ["sandbox", "second", "third"], fallBackAfter: ["ambiguous"] }],
    });
    const { id } = await one.messages.send({ to, body: "Hello" });
    await clock.advance(1_000_000);
    expect(await one.messages.get(id)).toMatchObject({
      status: "failed",
      error: { code: "invalid_destination" },
    });
  });

  it("is looked up by another engine when the one that is refused lacks the first carrier", async () => {
    const { clock, started } = world();
    const storage = memory();
    const routes = [{ transports: ["sandbox", "second"], fallBackAfter: ["ambiguous" as const] }];
    const both = await started(storage, {
      transports: [
        carrier({ send: () => lost, lookup: () => ({ outcome: "not_sent" }) }),
        carrier({ name: "second", send: () => busy(60_000) }),
      ],
      routes,
    });
    const { id } = await both.messages.send({ to, body: "Hello" });
    await clock.settle();
    await both.stop();
    const one = await started(storage, {
      transports: [carrier({ name: "second", send: () => refusal("invalid_destination") })],
      routes: [{ transports: ["second"] }],
    });
    await clock.advance(120_000);
    expect(await one.messages.get(id)).toMatchObject({ status: "ambiguous" });
    const again = await started(storage, {
      transports: [carrier({ lookup: () => ({ outcome: "not_sent" }) })],
    });
    await clock.advance(120_000);
    expect(await again.messages.get(id)).toMatchObject({
      status: "failed",
      error: { code: "invalid_destination" },
    });
  });
});
