import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MessagingEngine } from "../../src/engine.ts";
import type { SendAnswer } from "../../src/ports/transport.ts";
import { jobs } from "../../src/queue/jobs/rows.ts";
import {
  accepted,
  busy,
  carrier,
  held,
  lost,
  providerId,
  refused,
} from "../support/engines/carrier.ts";
import { fastForward } from "../support/engines/fast-forward.ts";
import { stopped, world } from "../support/engines/world.ts";
import { runsOn } from "../support/runs.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { lightStorages } from "../support/storage/storages.ts";

const hello = { to: "+15005550001", body: "Hello" };

async function outcome(engine: MessagingEngine, id: string): Promise<unknown> {
  const { status, error } = await engine.messages.get(id);
  return error === null ? status : [status, error.code];
}

describe.each(lightStorages)("calls of a carrier on $name", ({ name, open }) => {
  /** Longer than all retries. */
  const longMs = 3_600_000;

  /** An engine with this carrier, which has just sent a message. */
  async function sent(line: ReturnType<typeof carrier>) {
    const { clock, started, log } = world();
    const storage = open().connect();
    const one = await started(storage, { transports: [line] });
    const { id } = await one.messages.send(hello);
    return { clock, log, storage, one, id, begun: clock.now() };
  }

  it("are retried after 1 s, 5 s, 30 s, 2 m and 10 m, then no more", async () => {
    const line = carrier({ send: () => busy() });
    const { clock, storage, one, id, begun } = await sent(line);
    await fastForward(clock, storage, longMs);
    expect(line.calls.map(({ at }) => at - begun)).toEqual([
      0, 1_000, 6_000, 36_000, 156_000, 756_000,
    ]);
    expect(line.calls.map(({ attempt }) => attempt.number)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await outcome(one, id)).toEqual(["failed", "carrier_unavailable"]);
  });

  it("follow the carrier's Retry-After, shorter or longer than the default", async () => {
    const wishes = [200, 90_000, undefined, 0, Infinity];
    const line = carrier({
      send: (_, attempt) =>
        attempt.number > wishes.length ? accepted(attempt) : busy(wishes[attempt.number - 1]),
    });
    const { clock, storage, one, id, begun } = await sent(line);
    await fastForward(clock, storage, longMs);
    expect(line.calls.map(({ at }) => at - begun)).toEqual([
      0, 200, 90_200, 120_200, 120_200, 720_200,
    ]);
    expect(await outcome(one, id)).toBe("sent");
  });

  it("end with the message's ttl: no attempt is planned or started after it", async () => {
    const { clock, engine, started } = world();
    const ground = open();
    const line = carrier({ send: () => busy() });
    const one = await started(ground.connect(), { transports: [line] });
    const { id } = await one.messages.send({ ...hello, ttl_seconds: 20 });
    await clock.advance(60_000);
    expect(line.calls).toHaveLength(3);
    expect(await outcome(one, id)).toEqual(["expired", "ttl_elapsed"]);
    await one.stop();

    const late = carrier();
    const two = engine(ground.connect(), { transports: [late] });
    const { id: waiting } = await two.messages.send({ ...hello, ttl_seconds: 20 });
    await clock.advance(20_000);
    await two.start();
    await clock.advance(60_000);
    expect(late.calls).toEqual([]);
    expect(await outcome(two, waiting)).toEqual(["expired", "ttl_elapsed"]);
  });

  it("are not retried after a permanent rejection", async () => {
    const line = carrier({ send: () => refused });
    const { clock, storage, one, id } = await sent(line);
    await fastForward(clock, storage, longMs);
    expect(line.calls).toHaveLength(1);
    expect(await outcome(one, id)).toEqual(["failed", "invalid_destination"]);
  });

  it("are looked up by an engine with their transport, even if one without it comes first", async () => {
    const { clock, started } = world();
    const ground = open();
    const line = (): ReturnType<typeof carrier> =>
      carrier({ receipts: { timeout_ms: 60_000, lookups_ms: [] } });
    const first = await started(ground.connect(), { transports: [line()] });
    const { id } = await first.messages.send(hello);
    await clock.settle();
    await stopped(first, clock);
    const bare = await started(ground.connect(), { transports: [carrier({ name: "other" })] });
    await clock.advance(120_000);
    await stopped(bare, clock);
    const last = await started(ground.connect(), { transports: [line()] });
    await clock.advance(60_000);
    expect(await outcome(last, id)).toBe("unconfirmed");
  });

  it("over a transport that no engine has any more block their conversation only until they expire", async () => {
    const { clock, started } = world();
    const ground = open();
    const first = await started(ground.connect(), {
      transports: [carrier({ send: () => held<SendAnswer>().promise })],
    });
    const { id } = await first.messages.send({ ...hello, ttl_seconds: 600 });
    await clock.settle();
    await stopped(first, clock);
    const storage = ground.connect();
    const bare = await started(storage, { transports: [carrier({ name: "other" })] });
    const from = "+15005550909";
    await bare.senders.create({ address: from, channels: ["sms"], transport: "other" });
    const next = await bare.messages.send({ ...hello, from });
    await fastForward(clock, storage, 500_000);
    expect([await outcome(bare, id), await outcome(bare, next.id)]).toEqual(["sending", "queued"]);
    await fastForward(clock, storage, 120_000);
    expect([await outcome(bare, id), await outcome(bare, next.id)]).toEqual([
      ["ambiguous", "answer_lost"],
      "sent",
    ]);
  });

  it("over a transport that no engine has any more are followed up for 72 hours", async () => {
    const { clock, started } = world();
    const ground = open();
    const first = await started(ground.connect(), {
      transports: [
        carrier({
          send: ({ body }, attempt) => (body === "lost" ? lost : accepted(attempt)),
          lookup: () => ({ outcome: "unknown" }),
        }),
      ],
    });
    const sent = await first.messages.send({ ...hello, body: "sent" });
    const unknown = await first.messages.send({ ...hello, body: "lost" });
    await clock.settle();
    await stopped(first, clock);
    clock.step(72 * longMs - 60_000);
    const storage = ground.connect();
    const bare = await started(storage, { transports: [carrier({ name: "other" })] });
    await clock.advance(45_000);
    expect([await outcome(bare, sent.id), await outcome(bare, unknown.id)]).toEqual([
      "sent",
      ["ambiguous", "unknown"],
    ]);
    await clock.advance(45_000);
    expect([await outcome(bare, sent.id), await outcome(bare, unknown.id)]).toEqual([
      "unconfirmed",
      ["ambiguous", "unknown"],
    ]);
    expect((await rowsOf(storage, jobs)).filter(({ kind }) => kind === "follow-up")).toEqual([]);
  });

  it("that throw leave the message ambiguous, and it is not sent again", async () => {
    const line = carrier({
      send: (_, { number }) => {
        throw new Error(`socket hang up ${number}`);
      },
    });
    const { clock, log, storage, one, id } = await sent(line);
    await fastForward(clock, storage, 2 * longMs);
    expect(line.calls).toHaveLength(1);
    expect(await outcome(one, id)).toEqual(["ambiguous", "unknown"]);
    expect(log.map(({ level }) => level)).toContain("warn");
  });

  it("that are not answered in 25 s leave the message ambiguous and free the conversation", async () => {
    const { clock, started } = world();
    const line = carrier({
      send: (message, attempt) =>
        message.body === "stuck" ? new Promise(() => {}) : accepted(attempt),
    });
    const storage = open().connect();
    const one = await started(storage, { transports: [line] });
    const { id } = await one.messages.send({ ...hello, body: "stuck" });
    const { id: next } = await one.messages.send(hello);
    await clock.advance(24_999);
    expect([await outcome(one, id), await outcome(one, next)]).toEqual(["sending", "queued"]);
    await clock.advance(1);
    await clock.settle();
    expect([await outcome(one, id), await outcome(one, next)]).toEqual([
      ["ambiguous", "answer_lost"],
      "sent",
    ]);
    expect(line.calls[0]?.attempt.signal.aborted).toBe(true);
    await fastForward(clock, storage, 2 * longMs);
    expect(line.calls).toHaveLength(2);
  });

  it.each([
    [
      "that it has the message",
      (attempt: { attempt_id: `att_${string}` }) => accepted(attempt),
      "sent",
      1,
    ],
    ["that it rejects the message", () => refused, ["failed", "invalid_destination"], 1],
    ["to come again", () => busy(), "queued", 1],
  ] as const)("that are answered late, %s, still count", async (_, late, expected, calls) => {
    const { clock, started } = world();
    const answer = held<SendAnswer>();
    const line = carrier({
      send: (_message, { number, ...attempt }) =>
        number === 1 ? answer.promise : accepted(attempt),
    });
    const one = await started(open().connect(), { transports: [line] });
    const { id } = await one.messages.send(hello);
    await clock.advance(30_000);
    expect(await outcome(one, id)).toEqual(["ambiguous", "answer_lost"]);
    const attempt = line.attempt();
    answer.answer(late(attempt));
    await clock.settle();
    expect(await outcome(one, id)).toEqual(expected);
    expect(line.calls).toHaveLength(calls);
    if (expected !== "queued") return;
    await clock.advance(5_000);
    expect([await outcome(one, id), line.calls.length]).toEqual(["sent", 2]);
  });

  it("that are lost are looked up, and repeated only if the carrier did not get the message", async () => {
    let known: "unknown" | "not_sent" = "unknown";
    const line = carrier({
      send: (_, attempt) => (attempt.number === 1 ? lost : accepted(attempt)),
      lookup: () => ({ outcome: known }),
    });
    const { clock, storage, one, id } = await sent(line);
    await clock.advance(60_000);
    expect(line.lookups.length).toBeGreaterThanOrEqual(2);
    expect([await outcome(one, id), line.calls.length]).toEqual([["ambiguous", "unknown"], 1]);
    known = "not_sent";
    await fastForward(clock, storage, 600_000);
    expect([await outcome(one, id), line.calls.length]).toEqual(["sent", 2]);
  });

  it("that are lost but reached the carrier are never repeated", async () => {
    const line = carrier({
      send: () => lost,
      lookup: (_, attempt) => ({
        outcome: "sent",
        provider_message_id: providerId(attempt),
        receipts: [{ status: "delivered", at: attempt.started_at + 500 }],
      }),
    });
    const { clock, storage, one, id, begun } = await sent(line);
    await fastForward(clock, storage, 2 * longMs);
    const message = await one.messages.get(id);
    expect(message).toMatchObject({
      status: "delivered",
      delivered_at: new Date(begun + 500).toISOString(),
      error: null,
    });
    expect(line.calls).toHaveLength(1);
  });

  it("that may still run after their deadline are looked up only once they are surely over", async () => {
    const line = carrier({
      send: (_, attempt) => (attempt.number === 1 ? new Promise(() => {}) : accepted(attempt)),
      lookup: () => ({ outcome: "not_sent" }),
    });
    const { clock, storage, one, id, begun } = await sent(line);
    await fastForward(clock, storage, 600_000);
    expect((line.lookups[0]?.at ?? 0) - begun).toBeGreaterThanOrEqual(120_000);
    expect([await outcome(one, id), line.calls.length]).toEqual(["sent", 2]);
  });

  it("have a committed attempt before the carrier is called", async () => {
    const { clock, engine, started } = world();
    const ground = open();
    const reader = engine(ground.connect());
    const seen: unknown[] = [];
    const line = carrier({
      async send(message, attempt) {
        const { data } = await reader.messages.timeline(message.message_id);
        seen.push(
          data.find((entry) => entry.type === "attempt" && entry.id === attempt.attempt_id),
        );
        return accepted(attempt);
      },
    });
    const one = await started(ground.connect(), { transports: [line] });
    await Promise.all([1, 2, 3].map((n) => one.messages.send({ ...hello, to: `+1500555000${n}` })));
    await clock.advance(1_000);
    expect(seen).toHaveLength(3);
    for (const entry of seen) {
      expect(entry).toMatchObject({ outcome: "pending", answered_at: null });
    }
  });

  it("count as delivery if a transport has no receipts", async () => {
    const { clock, started } = world();
    const one = await started(open().connect(), { transports: [carrier({ receipts: "none" })] });
    const { id } = await one.messages.send(hello);
    await clock.settle();
    expect(await one.messages.get(id)).toMatchObject({
      status: "delivered",
      delivered_at: expect.any(String) as string,
    });
  });

  it("are repeated only if the first surely sent nothing, for all behaviors of the carrier", async () => {
    const { clock, started } = world();
    const plans = new Map<string, readonly string[]>();
    const line = carrier({
      send(message, attempt) {
        const answer = plans.get(message.body)?.[attempt.number - 1] ?? "accepted";
        if (answer === "throws") throw new Error("gone");
        if (answer === "never") return new Promise(() => {});
        return (
          { accepted: accepted(attempt), busy: busy(), refused, lost, lostUnsent: lost }[answer] ??
          lost
        );
      },
      lookup: (message, attempt) =>
        plans.get(message.body)?.[attempt.number - 1] === "lostUnsent"
          ? { outcome: "not_sent" }
          : { outcome: "unknown" },
    });
    const storage = open().connect();
    const one = await started(storage, { transports: [line] });
    const answers = fc.constantFrom(
      "accepted",
      "busy",
      "refused",
      "lost",
      "lostUnsent",
      "throws",
      "never",
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(answers, { maxLength: 4 }), { minLength: 1, maxLength: 6 }),
        async (scripts) => {
          run++;
          line.calls.splice(0);
          for (const [i, script] of scripts.entries()) {
            plans.set(`${run} ${i}`, script);
            await one.messages.send({
              to: `+1500555${1000 + (i % 2) + run * 2}`,
              body: `${run} ${i}`,
            });
          }
          await fastForward(clock, storage, 900_000);
          for (const [i, script] of scripts.entries()) {
            const calls = line.calls.filter(({ message }) => message.body === `${run} ${i}`);
            const certain = script.findIndex((each) => each !== "busy" && each !== "lostUnsent");
            expect(
              calls,
              `A message is handed over until an attempt may have sent it: ${script.join(", ")}.`,
            ).toHaveLength(certain === -1 ? script.length + 1 : certain + 1);
          }
        },
      ),
      { numRuns: runsOn(name, { memory: 15, SQLite: 15, PostgreSQL: 5 }) },
    );
  });
});
