/** Messages that go on after a carrier gave up the attempt that their status was based on. */
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { SendAnswer } from "../../src/ports/transport.ts";
import { accepted, busy, carrier, held, lost, providerId } from "../support/engines/carrier.ts";
import { hello, overTwo, unavailable } from "../support/engines/over-two.ts";
import { stopped, world } from "../support/engines/world.ts";

describe("a message that is `sent` because of a first carrier's receipt goes on when that carrier reports `undelivered`", () => {
  const onceLost = (second: SendAnswer | Promise<SendAnswer>) =>
    overTwo(
      ["ambiguous", "undelivered"],
      { send: () => lost },
      { send: (_, attempt) => (attempt.number === 2 ? second : accepted(attempt)) },
    );

  it.each([
    ["sent", "undelivered"],
    ["undelivered", "sent"],
  ] as const)("with the retry that it waited for: %s, %s", async (...statuses) => {
    const { clock, engine, lines, tell } = await onceLost(busy(10_000));
    const { id } = await engine.messages.send(hello);
    const begun = clock.now();
    await clock.settle();
    for (const status of statuses) await tell(lines[0], status, unavailable);
    await clock.advance(60_000);
    expect(await engine.messages.get(id)).toMatchObject({ status: "sent", transport: "second" });
    expect(lines[1].calls.map(({ at }) => at - begun)).toEqual([0, 10_000]);
  });

  it("with the retry that follows the answer of the second carrier, which is being called", async () => {
    const answer = held<SendAnswer>();
    const { clock, engine, lines, tell } = await onceLost(answer.promise);
    const { id } = await engine.messages.send(hello);
    await clock.settle();
    for (const status of ["sent", "undelivered"] as const) await tell(lines[0], status);
    expect(await engine.messages.get(id)).toMatchObject({ status: "sending", sent_at: null });
    answer.answer(busy());
    await clock.advance(60_000);
    expect(await engine.messages.get(id)).toMatchObject({ status: "sent", transport: "second" });
    expect(lines[1].calls).toHaveLength(2);
  });

  it.each([
    ["sent", () => accepted],
    ["ambiguous", () => () => lost],
  ] as const)("as %s, with the second carrier's provider id", async (status, answerOf) => {
    const answer = held<SendAnswer>();
    const { clock, engine, lines, tell } = await onceLost(answer.promise);
    const { id } = await engine.messages.send(hello);
    await clock.settle();
    await tell(lines[0], "sent");
    const attempt = lines[1].attempt();
    answer.answer(answerOf()(attempt));
    await clock.advance(1_000);
    await tell(lines[0], "undelivered", unavailable);
    const provider_message_id = status === "sent" ? providerId(attempt) : null;
    const expected = { status, transport: "second", provider_message_id };
    expect(await engine.messages.get(id)).toMatchObject(expected);
  });

  it("as ambiguous if the engine that called the second carrier has stopped", async () => {
    const { clock, engine, lines, tell } = await onceLost(new Promise(() => {}));
    const { id } = await engine.messages.send(hello);
    await clock.settle();
    await tell(lines[0], "sent");
    await clock.advance(30_000);
    await tell(lines[0], "undelivered", unavailable);
    await clock.advance(60_000);
    expect(await engine.messages.get(id)).toMatchObject({ status: "ambiguous" });
  });
});

it("a canceled message is not sent over another carrier, whatever the one that refused it reports", async () => {
  const { clock, engine, lines, tell } = await overTwo(
    ["undelivered"],
    { send: () => busy(60_000) },
    { send: () => busy(60_000) },
  );
  const { id } = await engine.messages.send(hello);
  await clock.settle();
  await engine.messages.cancel(id);
  for (const status of ["sent", "undelivered"] as const) await tell(lines[1], status, unavailable);
  await clock.advance(120_000);
  expect((await engine.messages.get(id)).status).toBe("undelivered");
  expect(lines.map(({ calls }) => calls.length)).toEqual([1, 1]);
});

it("a message that was canceled after a carrier gave it up stays canceled when that is reported again", async () => {
  const { clock, engine, lines } = await overTwo(["undelivered"], {
    send: () => new Promise(() => {}),
  });
  const { id } = await engine.messages.send(hello);
  await clock.settle();
  const report = (by: "attempt" | "both") =>
    lines[0].report("undelivered", { by, error: unavailable });
  await report("attempt");
  await engine.messages.cancel(id);
  await report("attempt");
  await report("both");
  expect((await engine.messages.get(id)).status).toBe("canceled");
  expect((await engine.events.list({ type: "message.failed" })).data).toEqual([]);
});

it("a message that waits for a retry over a carrier goes to another one if that carrier gives it up", async () => {
  const { clock, engine, lines, tell } = await overTwo(
    [],
    { send: () => busy(20_000) },
    { send: (_, attempt) => (attempt.number === 2 ? busy(20_000) : accepted(attempt)) },
  );
  const { id } = await engine.messages.send(hello);
  await clock.settle();
  expect(await engine.messages.get(id)).toMatchObject({ status: "queued", transport: "sandbox" });
  await tell(lines[0], "undelivered", unavailable);
  await clock.advance(60_000);
  expect(await engine.messages.get(id)).toMatchObject({ status: "sent", transport: "second" });
  expect(lines.map(({ calls }) => calls.length)).toEqual([1, 2]);
});

it("a message that the first of three carriers has sent does not go to the third when the second gives it up", async () => {
  const { clock, started } = world();
  const answer = held<SendAnswer>();
  const lines = [
    carrier({ send: () => lost }),
    carrier({ name: "second", send: () => answer.promise }),
    carrier({ name: "third" }),
  ];
  const names = lines.map(({ name }) => name);
  const one = await started(memory(), {
    transports: lines,
    routes: [{ transports: names, fallBackAfter: ["ambiguous", "undelivered"] }],
  });
  const { id } = await one.messages.send(hello);
  await clock.settle();
  for (const [which, status] of [
    [0, "sent"],
    [1, "undelivered"],
  ] as const) {
    const error = status === "undelivered" ? unavailable : undefined;
    await lines[which]?.report(status, { error });
  }
  answer.answer(lost);
  await clock.advance(10_000);
  expect(await one.messages.get(id)).toMatchObject({ status: "sent", transport: "sandbox" });
  expect(lines.map(({ calls }) => calls.length)).toEqual([1, 1, 0]);
});

describe("a message whose retry was planned before the last carrier gave its attempt up", () => {
  const orders = [
    ["sent", "undelivered"],
    ["undelivered", "sent"],
  ] as const;

  // After 60 s, the follow-up of the second attempt has run.
  const timed = orders.flatMap((order) => [0, 70_000].map((ms) => [...order, ms] as const));

  it.each(timed)("is sent by the other carrier: %s, %s, %d ms apart", async (first, then, ms) => {
    const { clock, engine, lines, tell } = await overTwo(
      ["ambiguous"],
      { send: (_, attempt) => (attempt.number === 1 ? busy(120_000) : accepted(attempt)) },
      { send: () => lost },
    );
    const { id } = await engine.messages.send(hello);
    await clock.settle();
    await tell(lines[1], first, unavailable);
    await clock.advance(ms);
    await tell(lines[1], then, unavailable);
    await clock.advance(120_000);
    expect(await engine.messages.get(id)).toMatchObject({ status: "sent", transport: "sandbox" });
    expect(lines.map(({ calls }) => calls.length)).toEqual([2, 1]);
  });

  it("has no next attempt in its timeline while proof of the last one interrupts it", async () => {
    const { clock, engine, lines, tell } = await overTwo(
      ["ambiguous"],
      { send: () => busy(120_000) },
      { send: () => lost },
    );
    const { id } = await engine.messages.send(hello);
    await clock.settle();
    await tell(lines[1], "sent");
    const { data } = await engine.messages.timeline(id);
    const second = data.find((entry) => entry.type === "attempt" && entry.number === 2);
    expect(second).toMatchObject({ outcome: "accepted", next_attempt_at: null });
  });

  it.each(orders)(
    "is sent if an earlier carrier has sent it: %s of the first, %s of the third",
    async (first) => {
      const { clock, started } = world();
      const [one, two, three] = [
        carrier({ send: () => lost }),
        carrier({ name: "second", send: () => busy(20_000) }),
        carrier({ name: "third", send: () => lost }),
      ] as const;
      const host = await started(memory(), {
        transports: [one, two, three],
        routes: [{ transports: ["sandbox", "second", "third"], fallBackAfter: ["ambiguous"] }],
      });
      let failures = 0;
      host.on("message.failed", () => void failures++);
      const { id } = await host.messages.send(hello);
      await clock.settle();
      const reports = [
        () => one.report("sent", { by: "both" }),
        () => three.report("undelivered", { by: "both", error: unavailable }),
      ];
      for (const each of first === "sent" ? reports : reports.toReversed()) await each();
      await clock.advance(10_000);
      expect(await host.messages.get(id)).toMatchObject({ status: "sent", transport: "sandbox" });
      expect(failures).toBe(0);
    },
  );
});

describe("a message that a carrier gave up because of its content", () => {
  const filtered = { code: "filtered", message: "" } as const;

  it("does not go to a third carrier after the second has given it up, too", async () => {
    const third = carrier({ name: "third" });
    const { clock, started } = world();
    const lines = [carrier({ send: () => lost }), carrier({ name: "second" })] as const;
    const host = await started(memory(), {
      transports: [...lines, third],
      routes: [
        {
          transports: ["sandbox", "second", "third"],
          fallBackAfter: ["ambiguous", "undelivered"],
        },
      ],
    });
    const { id } = await host.messages.send(hello);
    await clock.settle();
    for (const [i, error] of [filtered, unavailable].entries()) {
      await lines[i]?.report("undelivered", { by: "both", error });
    }
    await clock.advance(60_000);
    expect(third.calls).toEqual([]);
    expect((await host.messages.get(id)).status).toBe("undelivered");
  });

  it("is not sent again over the second, for which it waits", async () => {
    const { clock, engine, lines, tell } = await overTwo(
      ["ambiguous", "undelivered"],
      { send: () => lost },
      { send: () => busy(10_000) },
    );
    const { id } = await engine.messages.send(hello);
    await clock.settle();
    await tell(lines[0], "undelivered", filtered);
    await clock.advance(60_000);
    expect(lines[1].calls).toHaveLength(1);
    expect((await engine.messages.get(id)).status).toBe("undelivered");
  });
});

it("a message that goes on with an attempt over a transport that the engine lacks becomes `unconfirmed` when another engine has it", async () => {
  const { clock, started } = world();
  const storage = memory();
  const [first, second] = [carrier({ send: () => lost }), carrier({ name: "second" })];
  const routes = [{ transports: ["sandbox", "second"], fallBackAfter: ["ambiguous" as const] }];
  const one = await started(storage, { transports: [first, second], routes });
  const { id } = await one.messages.send(hello);
  await clock.settle();
  await first.report("sent");
  await stopped(one, clock);
  const other = await started(storage, { transports: [second] });
  await second.report("undelivered", { error: unavailable });
  expect(await other.messages.get(id)).toMatchObject({ status: "sent", transport: "sandbox" });
  await stopped(other, clock);
  const last = await started(storage, { transports: [first, second], routes });
  await clock.advance(3_700_000);
  expect((await last.messages.get(id)).status).toBe("unconfirmed");
});
