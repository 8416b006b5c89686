/** Messages over the transports of their routes. */
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import type { Route } from "../../src/ports/route.ts";
import type { Receipt, SendAnswer } from "../../src/ports/transport.ts";
import {
  accepted,
  busy,
  carrier,
  held,
  lost,
  providerId,
  refusal,
  type Carrier,
  type Script,
} from "../support/engines/carrier.ts";
import { stopped, world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";

const to = "+15005550001";
/** The sandbox's sender, over `sandbox` and then `second`. */
function pair(first: Script = {}, second: Script = {}): readonly [Carrier, Carrier] {
  return [carrier(first), carrier({ name: "second", ...second })];
}
const routes = (fallBackAfter: Route["fallBackAfter"] = []): Route[] => [
  { transports: ["sandbox", "second"], fallBackAfter },
];

async function history(engine: MessagingEngine, id: string): Promise<string[]> {
  const { data } = await engine.messages.timeline(id);
  return data.flatMap((entry) => {
    if (entry.type === "attempt") return [`${entry.number} ${entry.transport} ${entry.outcome}`];
    if (entry.type === "receipt") return [`${entry.status} ${entry.ignored_reason ?? "applied"}`];
    return entry.type === "transition" ? [entry.to] : [];
  });
}

describe("a message over two transports", () => {
  const run = async (transports: readonly [Carrier, Carrier], routes: readonly Route[]) => {
    const { clock, started } = world();
    const one = await started(memory(), { transports, routes });
    return { clock, engine: one };
  };

  it("uses the second at once if the first surely did not send it, and shows both attempts", async () => {
    const [first, second] = pair({ send: () => busy(60_000) });
    const { clock, engine } = await run([first, second], routes());
    const { id, transport } = await engine.messages.send({ to, body: "Hello" });
    expect(transport).toBe("sandbox");
    await clock.settle();
    expect(await engine.messages.get(id)).toMatchObject({
      status: "sent",
      transport: "second",
      provider_message_id: providerId(second.attempt()),
    });
    expect(await history(engine, id)).toEqual([
      "queued",
      "1 sandbox rejected",
      "sending",
      "queued",
      "2 second accepted",
      "sending",
      "sent",
    ]);
    expect([first.calls.length, second.calls.length]).toEqual([1, 1]);
  });

  it("has as many attempts and delays over both as over one, and then fails", async () => {
    const [first, second] = pair({ send: () => busy() }, { send: () => busy() });
    const { clock, engine } = await run([first, second], routes());
    const begun = clock.now();
    const { id } = await engine.messages.send({ to, body: "Hello" });
    await clock.advance(1_000_000);
    const delays = [first, second].map(({ calls }) => calls.map(({ at }) => at - begun));
    const plan = [0, 1_000, 6_000, 36_000, 156_000, 756_000];
    expect(delays).toEqual([plan, plan]);
    expect((await engine.messages.get(id)).status).toBe("failed");
  });

  it.each([
    ["invalid_sender", ["sent", 1]],
    ["unsupported_media", ["sent", 1]],
    ["unknown", ["sent", 1]],
    ["invalid_destination", ["failed", 0]],
    ["landline", ["failed", 0]],
    ["opted_out", ["failed", 0]],
    ["filtered", ["failed", 0]],
    ["content_rejected", ["failed", 0]],
  ] as const)(
    "falls back after a permanent rejection only for reasons of the carrier: %s",
    async (code, expected) => {
      const [first, second] = pair({ send: () => refusal(code) });
      const { clock, engine } = await run([first, second], routes());
      const { id } = await engine.messages.send({ to, body: "Hello" });
      await clock.advance(10_000);
      expect([(await engine.messages.get(id)).status, second.calls.length]).toEqual(expected);
      expect(first.calls).toHaveLength(1);
    },
  );

  it("returns to the busy first when it asked, if the second rejects permanently", async () => {
    const [first, second] = pair(
      { send: (_, attempt) => (attempt.number < 4 ? busy(90_000) : accepted(attempt)) },
      { send: () => refusal("invalid_sender") },
    );
    const { clock, engine } = await run([first, second], routes());
    const begun = clock.now();
    const { id } = await engine.messages.send({ to, body: "Hello" });
    await clock.advance(180_000);
    expect(first.calls.map(({ at }) => at - begun)).toEqual([0, 90_000, 180_000]);
    expect(second.calls).toHaveLength(1);
    expect(await engine.messages.get(id)).toMatchObject({ status: "sent", transport: "sandbox" });
  });

  it("is not sent to a carrier before its Retry-After, regardless of other carriers", async () => {
    const [first, second] = pair({ send: () => busy(40_000) }, { send: () => busy() });
    const { clock, engine } = await run([first, second], routes());
    const begun = clock.now();
    const { id } = await engine.messages.send({ to, body: "Hello", ttl_seconds: 130 });
    await clock.advance(1_000_000);
    expect(first.calls.map(({ at }) => at - begun)).toEqual([0, 40_000, 80_000, 120_000]);
    expect(second.calls.map(({ at }) => at - begun)).toEqual([0, 1_000, 6_000, 36_000]);
    expect((await engine.messages.get(id)).status).toBe("expired");
    const { data } = await engine.messages.timeline(id);
    const planned = data.flatMap((entry) =>
      entry.type === "attempt" ? [entry.next_attempt_at] : [],
    );
    const times = planned.map((at) => at && Date.parse(at) - begun);
    expect(times).toEqual([0, 1_000, 6_000, 36_000, 40_000, 80_000, 120_000, null]);
  });

  it("stays with the first while its attempt is ambiguous", async () => {
    const [first, second] = pair({ send: () => lost });
    const { clock, engine } = await run([first, second], routes());
    const { id } = await engine.messages.send({ to, body: "Hello" });
    await clock.advance(600_000);
    expect([(await engine.messages.get(id)).status, second.calls.length]).toEqual(["ambiguous", 0]);
  });

  it("falls back if a look-up finds that the first did not send it", async () => {
    let found: "unknown" | "not_sent" = "unknown";
    const [first, second] = pair({ send: () => lost, lookup: () => ({ outcome: found }) });
    const { clock, engine } = await run([first, second], routes());
    const { id } = await engine.messages.send({ to, body: "Hello" });
    await clock.advance(20_000);
    expect(second.calls).toEqual([]);
    found = "not_sent";
    await clock.advance(600_000);
    expect(await engine.messages.get(id)).toMatchObject({ status: "sent", transport: "second" });
    expect([first.calls.length, second.calls.length]).toEqual([1, 1]);
  });

  it("falls back once after a lost answer if configured; later evidence of the first still counts", async () => {
    const [first, second] = pair({ send: () => lost }, { send: () => lost });
    const { clock, engine } = await run([first, second], routes(["ambiguous"]));
    const { id } = await engine.messages.send({ to, body: "Hello" });
    await clock.advance(600_000);
    expect([first.calls.length, second.calls.length]).toEqual([1, 1]);
    expect(await engine.messages.get(id)).toMatchObject({
      status: "ambiguous",
      transport: "second",
    });

    const tell = (status: Receipt["status"]) => first.report(status, { by: "both" });
    await tell("undelivered");
    expect(await engine.messages.get(id)).toMatchObject({
      status: "ambiguous",
      provider_message_id: null,
    });
    await tell("delivered");
    expect(await engine.messages.get(id)).toMatchObject({
      status: "delivered",
      transport: "sandbox",
      provider_message_id: providerId(first.attempt()),
    });
  });

  it("falls back after a lost answer, also if its engine has crashed", async () => {
    const { clock, started } = world();
    const storage = memory();
    const hung = pair({ send: () => new Promise(() => {}) });
    const dying = await started(storage, { transports: [...hung], routes: routes(["ambiguous"]) });
    const { id } = await dying.messages.send({ to, body: "Hello" });
    await clock.settle();
    await stopped(dying, clock);
    const lines = pair();
    const heir = await started(storage, { transports: [...lines], routes: routes(["ambiguous"]) });
    await clock.advance(120_000);
    expect(await heir.messages.get(id)).toMatchObject({ status: "sent", transport: "second" });
    expect([lines[0].calls.length, lines[1].calls.length]).toEqual([0, 1]);
  });

  it("returns to a carrier that asked to wait after a lost answer or receipt, within its ttl", async () => {
    for (const [ttl_seconds, status, times] of [
      [600, "sent", [0, 90_000]],
      [60, "ambiguous", [0]],
    ] as const) {
      const [first, second] = pair(
        { send: (_, attempt) => (attempt.number === 1 ? busy(90_000) : accepted(attempt)) },
        { send: () => lost },
      );
      const { clock, engine } = await run([first, second], routes(["ambiguous"]));
      const begun = clock.now();
      const { id } = await engine.messages.send({ to, body: "Hello", ttl_seconds });
      await clock.advance(600_000);
      expect((await engine.messages.get(id)).status).toBe(status);
      expect(first.calls.map(({ at }) => at - begun)).toEqual(times);
      expect(second.calls).toHaveLength(1);
    }
    const [first, second] = pair({
      send: (_, attempt) => (attempt.number === 1 ? busy(90_000) : accepted(attempt)),
    });
    const { clock, engine } = await run([first, second], routes(["undelivered"]));
    const begun = clock.now();
    const { id } = await engine.messages.send({ to, body: "Hello" });
    await clock.settle();
    const error = { code: "invalid_sender", message: "" } as const;
    await second.report("undelivered", { by: "provider", error });
    // Runs the conversation's job meanwhile.
    await engine.messages.send({ to, body: "Hello again" });
    await clock.advance(600_000);
    const calls = first.calls.filter(({ message }) => message.message_id === id);
    expect(calls.map(({ at }) => at - begun)).toEqual([0, 90_000]);
    expect(await engine.messages.get(id)).toMatchObject({ status: "sent", transport: "sandbox" });
  });

  it("returns to the first after the second's rejection if a look-up shows that the first did not send it", async () => {
    const notSent = { outcome: "not_sent" } as const;
    const [first, second] = pair(
      { lookup: () => notSent },
      { send: () => refusal("invalid_sender") },
    );
    let calls = 0;
    const line = over(first, {
      send: async (message, attempt) => (++calls === 1 ? lost : first.send(message, attempt)),
    });
    const { clock, engine } = await run([line, second], routes());
    const { id } = await engine.messages.send({ to, body: "Hello" });
    await clock.advance(120_000);
    expect(await engine.messages.get(id)).toMatchObject({ status: "sent", transport: "sandbox" });
  });

  it("expires if a look-up finds it unsent and no carrier accepts it within its ttl", async () => {
    let calls = 0;
    const [first, second] = pair(
      { send: () => busy(3_600_000) },
      { send: () => (++calls < 5 ? busy() : lost), lookup: () => ({ outcome: "not_sent" }) },
    );
    const { clock, engine } = await run([first, second], routes());
    const { id } = await engine.messages.send({ to, body: "Hello", ttl_seconds: 300 });
    await clock.advance(301_000);
    expect(second.calls).toHaveLength(5);
    expect((await engine.messages.get(id)).error?.code).toBe("ttl_elapsed");
  });

  it("waits after a late rejection as after any other", async () => {
    const late = held<SendAnswer>();
    let calls = 0;
    const [first, second] = pair(
      { send: () => (++calls === 3 ? late.promise : busy()) },
      { send: () => refusal("invalid_sender") },
    );
    const { clock, engine } = await run([first, second], routes());
    const began = clock.now();
    await engine.messages.send({ to, body: "Hello" });
    await clock.advance(70_000);
    late.answer(busy());
    await clock.advance(60_000);
    expect(first.calls.map(({ at }) => at - began)).toEqual([0, 1_000, 6_000, 100_000]);
  });

  it("is not sent by the second if evidence of the first arrives before", async () => {
    const late = held<SendAnswer>();
    const [first, second] = pair({ send: () => late.promise }, { send: () => busy(10_000) });
    const { clock, engine } = await run([first, second], routes(["ambiguous"]));
    const { id } = await engine.messages.send({ to, body: "Hello" });
    await clock.advance(26_000);
    expect(second.calls).toHaveLength(1);
    const attempt = first.attempt();
    late.answer(accepted(attempt));
    await clock.advance(600_000);
    expect([first.calls.length, second.calls.length]).toEqual([1, 1]);
    const provider_message_id = providerId(attempt);
    expect(await engine.messages.get(id)).toMatchObject({
      status: "sent",
      transport: "sandbox",
      provider_message_id,
    });
  });

  it("stays with the second that sent it, even if the first later reports it, too", async () => {
    const late = held<SendAnswer>();
    const [first, second] = pair({ send: () => late.promise });
    const { clock, engine } = await run([first, second], routes(["ambiguous"]));
    const { id } = await engine.messages.send({ to, body: "Hello" });
    await clock.advance(26_000);
    late.answer(accepted(first.attempt()));
    await clock.settle();
    const provider_message_id = providerId(second.attempt());
    expect(await engine.messages.get(id)).toMatchObject({
      status: "sent",
      transport: "second",
      provider_message_id,
    });
    await first.report("delivered", { by: "provider" });
    expect(await engine.messages.get(id)).toMatchObject({
      status: "delivered",
      transport: "sandbox",
    });
  });

  it("falls back after an undelivered receipt only if configured, and for reasons of the carrier", async () => {
    for (const [wanted, code, expected] of [
      [[], "carrier_unavailable", ["undelivered", 0]],
      [["undelivered"], "unreachable", ["undelivered", 0]],
      [["undelivered"], "opted_out", ["undelivered", 0]],
      [["undelivered"], "invalid_sender", ["sent", 1]],
    ] as const) {
      const [first, second] = pair();
      const { clock, engine } = await run([first, second], routes(wanted));
      const { id } = await engine.messages.send({ to: "+15005550077", body: "Hello" });
      await clock.settle();
      await first.report("undelivered", { by: "provider", error: { code, message: "" } });
      await clock.settle();
      expect([(await engine.messages.get(id)).status, second.calls.length], code).toEqual(expected);
    }
  });

  it("that the first did not deliver belongs to the second, unless the first delivers it after all", async () => {
    const [first, second] = pair();
    const { clock, engine } = await run([first, second], routes(["undelivered"]));
    const failures: string[] = [];
    engine.on("message.failed", ({ data }) => void failures.push(data.status));
    const { id } = await engine.messages.send({ to, body: "Hello" });
    await clock.settle();
    const tell = (line: Carrier, status: Receipt["status"]): Promise<void> => {
      const error = { code: "carrier_unavailable", message: "" } as const;
      return line.report(status, {
        by: "provider",
        ...(status === "undelivered" ? { error } : {}),
      });
    };
    await tell(first, "undelivered");
    for (const status of ["sent", "undelivered"] as const) await tell(first, status);
    await clock.settle();
    for (const status of ["undelivered", "sent"] as const) await tell(first, status);
    expect(await engine.messages.get(id)).toMatchObject({
      status: "sent",
      transport: "second",
      error: null,
    });
    expect(failures).toEqual([]);
    const told = await history(engine, id);
    const heeded = told.filter((each) => !each.endsWith("superseded"));
    const before = ["queued", "1 sandbox accepted", "sending", "sent", "undelivered applied"];
    expect(heeded).toEqual([...before, "queued", "2 second accepted", "sending", "sent"]);
    expect(told.filter((each) => each.endsWith("superseded"))).toHaveLength(4);
    await tell(first, "delivered");
    expect(await engine.messages.get(id)).toMatchObject({
      status: "delivered",
      transport: "sandbox",
    });
    await tell(second, "undelivered");
    expect((await engine.messages.get(id)).status).toBe("delivered");
    expect([first.calls.length, second.calls.length]).toEqual([1, 1]);
  });

  it("falls back once if an undelivered receipt precedes the carrier's answer", async () => {
    const answer = held<SendAnswer>();
    const [first, second] = pair({ send: () => answer.promise });
    const { clock, engine } = await run([first, second], routes(["undelivered"]));
    const { id } = await engine.messages.send({ to, body: "Hello" });
    await clock.settle();
    await first.report("undelivered", { error: { code: "invalid_sender", message: "" } });
    answer.answer(accepted(first.attempt()));
    await clock.advance(600_000);
    expect(await engine.messages.get(id)).toMatchObject({ status: "sent", transport: "second" });
    expect([first.calls.length, second.calls.length]).toEqual([1, 1]);
  });
});

describe("sandbox and live mode", () => {
  it("use only their own transports, regardless of routes", async () => {
    const { clock, started } = world();
    const [first, second] = pair({}, { modes: ["live"] });
    const every: Route["fallBackAfter"] = ["ambiguous", "undelivered"];
    const ways = [
      { transports: ["second"] },
      { transports: ["second", "sandbox"], fallBackAfter: every },
    ];
    for (const only of [ways, ways.toReversed(), [{ transports: ["sandbox"] }]]) {
      const one = await started(memory(), { transports: [first, second], routes: only });
      const live = one.account(undefined, { mode: "live" });
      await live.senders.create({
        address: "+15550000001",
        channels: ["sms"],
        transport: "second",
      });
      const sent = await Promise.all(
        [one, live].map(({ messages }) => messages.send({ to, body: "Hello" })),
      );
      await clock.settle();
      expect(sent.map(({ transport }) => transport)).toEqual(["sandbox", "second"]);
    }
    expect(new Set(first.calls.map(({ message }) => message.mode))).toEqual(new Set(["sandbox"]));
    expect(new Set(second.calls.map(({ message }) => message.mode))).toEqual(new Set(["live"]));
    expect([first.calls.length, second.calls.length]).toEqual([3, 3]);
  });

  it("stay apart if a transport name is reused: no send and no look-up happens", async () => {
    const { clock, engine, started } = world();
    const storage = memory();
    const before = await started(storage, {
      transports: [carrier({ send: () => lost, lookup: () => ({ outcome: "unknown" }) })],
    });
    const asked = await before.messages.send({ to, body: "Lost" });
    await clock.settle();
    await stopped(before, clock);
    const live = carrier({ modes: ["live"], lookup: () => ({ outcome: "not_sent" }) });
    const after = engine(storage, { transports: [live] });
    const { id } = await engine(storage).messages.send({ to: "+15005550002", body: "Waits" });
    await after.start();
    await clock.advance(1_000_000);
    expect([live.calls, live.lookups]).toEqual([[], []]);
    expect((await after.messages.get(asked.id)).status).toBe("ambiguous");
    expect((await after.messages.get(id)).error?.code).toBe("carrier_unavailable");
  });
});
