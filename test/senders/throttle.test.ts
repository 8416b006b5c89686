/** Throttled senders: no interval exceeds the rate, and no message waits without need. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import type { EngineOptions } from "../../src/host/options/options.ts";
import type { CreateSender, Policy } from "../../src/index.ts";
import { decodeLane } from "../../src/queue/jobs/lane.ts";
import { jobs } from "../../src/queue/jobs/rows.ts";
import { senderHandOvers, senderThrottles } from "../../src/senders/rows.ts";
import { allRows } from "../simulator/rows.ts";
import { accepted, busy, carrier, type Carrier, type Script } from "../support/engines/carrier.ts";
import { fastForward } from "../support/engines/fast-forward.ts";
import { stopped, world } from "../support/engines/world.ts";
import { cases, isLong } from "../support/runs.ts";
import { storages } from "../support/storage/storages.ts";

const paced = "+15550000001";
const day = 86_400_000;
const contact = (n: number): string => `+1500444${1_000 + n}`;

/** The maximum number of times in any interval of the length `within`. */
function isWaiting(text: string): boolean {
  const lane = decodeLane(text);
  return lane.kind === "send" && lane.waiting_for !== null;
}

function maxWithin(times: readonly number[], within: number): number {
  return Math.max(
    0,
    ...times.map((from) => times.filter((at) => at >= from && at < from + within).length),
  );
}

const never = new Promise<never>(() => {});

const timesOf = ({ calls }: Carrier, from = paced): number[] =>
  calls.filter(({ message }) => message.from === from).map(({ at }) => at);

type Pace = Pick<CreateSender, "messages_per_second" | "daily_cap">;

async function start(
  pace: Pace,
  options: Partial<EngineOptions<undefined>> & { readonly script?: Script } = {},
) {
  const { clock, engine, log } = world();
  const { script, ...others } = options;
  const line = carrier(script);
  const storage = memory();
  /** A further engine, as after a restart. */
  const next = () => engine(storage, { transports: [line], ...others });
  const one = next();
  const sender = await one.senders.create({
    address: paced,
    channels: ["sms"],
    transport: "sandbox",
    ...pace,
  });
  await one.start();
  const begun = clock.now();
  return { clock, engine: one, next, line, storage, sender, begun, log };
}

const send = (engine: MessagingEngine, n: number, more: object = {}) =>
  engine.messages.send({ to: contact(n), body: "Hi", from: paced, ...more });

describe("a throttled sender", () => {
  const paces: readonly (readonly [Pace, readonly number[]])[] = [
    [{ messages_per_second: 1 }, [0, 1_000, 2_000, 3_000, 4_000]],
    [{ messages_per_second: 2 }, [0, 0, 1_000, 1_000, 2_000]],
    [{ messages_per_second: 100 }, [0, 0, 0, 0, 0]],
    [{ messages_per_second: 0.4 }, [0, 2_500, 5_000, 7_500, 10_000]],
    [{ messages_per_second: 1.5 }, [0, 667, 1_334, 2_001, 2_668]],
    [{ daily_cap: 4 }, [0, 0, 0, 0, day]],
    [{ messages_per_second: 1, daily_cap: 3 }, [0, 1_000, 2_000, day, day + 1_000]],
  ];
  /** A daily cap alone takes the longest. */
  const some = cases(paces, ([pace]) => pace.messages_per_second !== undefined);

  it.each(some)("hands over as soon as its rate allows: %o", async (pace, expected) => {
    const { clock, engine, line, begun, storage } = await start(pace);
    for (let n = 0; n < 5; n++) await send(engine, n, { ttl_seconds: 3 * 86_400 });
    await clock.advance(20_000);
    for (let days = 0; days < 2 && line.calls.length < 5; days++) {
      await fastForward(clock, storage, day);
    }
    expect(timesOf(line).map((at) => at - begun)).toEqual(expected);
  });

  it("never exceeds its rate in any interval, and never waits without need", async () => {
    const burst = fc.record({
      after: fc.nat(1_500),
      contacts: fc.array(fc.nat(12), { minLength: 1, maxLength: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 6 }),
        fc.array(burst, { minLength: 1, maxLength: 8 }),
        async (messages_per_second, bursts) => {
          const { clock, engine, line } = await start({ messages_per_second });
          const asked: number[] = [];
          for (const { after, contacts } of bursts) {
            await clock.advance(after);
            await Promise.all(
              contacts.map((n) => send(engine, n, { body: String(asked.push(clock.now())) })),
            );
          }
          await clock.advance(asked.length * 1_000);
          const times = timesOf(line);
          // As many as an ideal rate limiter.
          const best: number[] = [];
          for (const at of asked) {
            best.push(Math.max(at, (best.at(-messages_per_second) ?? 0) + 1_000));
          }
          expect(
            times,
            `A sender with ${messages_per_second} messages per second sends each as early as its limit allows.`,
          ).toEqual(best);
          for (const [, calls] of Map.groupBy(line.calls, ({ message }) => message.to)) {
            const order = calls.map(({ message }) => Number(message.body));
            expect(
              order,
              "Messages to one recipient leave in the order in which they were sent.",
            ).toEqual(order.toSorted((a, b) => a - b));
          }
        },
      ),
      { numRuns: isLong ? 10 : 4 },
    );
  });

  it("never exceeds its rate while the clock is set back and forward again", async () => {
    // In all less than the smallest step, so that the clock is behind while it is set back.
    const moment = fc.record({ after: fc.nat(900), messages: fc.nat(3), back: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 10_000, max: 60_000 }),
        fc.array(moment, { minLength: 2, maxLength: 10 }),
        async (messages_per_second, step, moments) => {
          const { clock, engine, line } = await start({ messages_per_second });
          let contacts = 0;
          let isBack = false;
          /** The time that has really passed, and the hand-overs by that time. */
          let elapsed = 0;
          const real: number[] = [];
          const pass = async (ms: number): Promise<void> => {
            const before = clock.now();
            await clock.advance(ms);
            // A message may be handed over before `send` returns.
            real.push(...line.calls.slice(real.length).map(({ at }) => elapsed + at - before));
            elapsed += ms;
          };
          const set = (back: boolean): void => {
            if (back !== isBack) clock.step(back ? -step : step);
            isBack = back;
          };
          for (const { after, messages, back } of moments) {
            set(back);
            await Promise.all(
              Array.from({ length: messages }, () =>
                send(engine, contacts++, { ttl_seconds: 600 }),
              ),
            );
            await pass(after);
          }
          set(false);
          await pass(30_000);
          expect(real, "Every message is handed over once.").toHaveLength(contacts);
          expect(
            maxWithin(real, 1_000),
            "In no second are more messages handed over than the rate allows.",
          ).toBeLessThanOrEqual(messages_per_second);
        },
      ),
      { numRuns: isLong ? 20 : 6 },
    );
  });

  it.each(storages)(
    "shares its rate with all engines on the same storage, on $name",
    async ({ open }) => {
      const { clock, engine } = world();
      const ground = open();
      const line = carrier();
      const engines = [1, 2].map(() => engine(ground.connect(), { transports: [line] }));
      const [first] = engines;
      if (first === undefined) throw new Error("no engine");
      await first.senders.create({
        address: paced,
        channels: ["sms"],
        transport: "sandbox",
        messages_per_second: 3,
      });
      await Promise.all(engines.map((each) => each.start()));
      await Promise.all(Array.from({ length: 10 }, (_, n) => send(engines[n % 2] ?? first, n)));
      await clock.advance(8_000);
      const times = timesOf(line);
      expect(times).toHaveLength(10);
      expect(maxWithin(times, 1_000)).toBeLessThanOrEqual(3);
      // Races between engines cost a little time, not a whole interval.
      expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeLessThan(6_000);
    },
  );

  it("does not block others: waiting messages occupy no slots", async () => {
    const { clock, engine, line, begun } = await start(
      { messages_per_second: 1 },
      { laneConcurrency: 2, concurrency: 3 },
    );
    for (let n = 0; n < 60; n++) await send(engine, n);
    for (let n = 60; n < 80; n++) {
      await engine.messages.send({ to: contact(n), body: "Hi", from: "+15005559999" });
    }
    await clock.advance(500);
    expect(timesOf(line, "+15005559999").map((at) => at - begun)).toEqual(
      Array.from({ length: 20 }, () => 0),
    );
    expect(timesOf(line)).toHaveLength(1);
    await clock.advance(10_000);
    expect(timesOf(line)).toHaveLength(11);
  });

  it("has the same cost for every backlog: no message is checked before its time", async () => {
    const { clock, engine, line, storage } = await start({ messages_per_second: 1 });
    for (let n = 0; n < 200; n++) await send(engine, n);
    await clock.advance(1_000);
    const waiting = (): [key: string, version: number][] =>
      allRows(storage, jobs).flatMap(({ lane, key, version }) =>
        isWaiting(lane) ? [[key, version]] : [],
      );
    const before = new Map(waiting());
    await clock.advance(20_000);
    expect([before.size, line.calls.length]).toEqual([198, 22]);
    expect(waiting()).toHaveLength(178);
    for (const [key, version] of waiting()) expect(version).toBe(before.get(key));
  });

  it("lets waiting messages expire in time, and a cancellation frees its place at once", async () => {
    const { clock, engine, line } = await start({ daily_cap: 1 });
    await send(engine, 0);
    const brief = await send(engine, 1, { ttl_seconds: 60 });
    const called = await send(engine, 2);
    const behind = await engine.messages.send({ to: contact(2), body: "Hi", from: "+15005559999" });
    await clock.advance(59_000);
    const status = async ({ id }: { id: string }): Promise<string> =>
      (await engine.messages.get(id)).status;
    expect([await status(brief), await status(called), await status(behind)]).toEqual([
      "queued",
      "queued",
      "queued",
    ]);
    await clock.advance(2_000);
    expect(await status(brief)).toBe("expired");
    await engine.messages.cancel(called.id);
    await clock.settle();
    expect([await status(called), await status(behind)]).toEqual(["canceled", "sent"]);
    expect(timesOf(line)).toHaveLength(1);
  });

  it("serves the earliest expiry first, and new messages do not overtake waiting ones", async () => {
    const { clock, engine, line } = await start({ messages_per_second: 1 });
    await send(engine, 0, { body: "first" });
    await send(engine, 1, { body: "patient", ttl_seconds: 3_600 });
    await send(engine, 2, { body: "urgent", ttl_seconds: 600 });
    await clock.advance(999);
    await send(engine, 3, { body: "late", ttl_seconds: 7_200 });
    await clock.advance(10_000);
    expect(line.calls.map(({ message }) => message.body)).toEqual([
      "first",
      "urgent",
      "patient",
      "late",
    ]);
  });

  it("serves waiting messages before newer ones if both are ready", async () => {
    const { clock, engine, next, line } = await start({ messages_per_second: 1 });
    for (const [n, body] of ["first", "second", "third"].entries()) await send(engine, n, { body });
    await clock.settle();
    await stopped(engine, clock);
    await clock.advance(5_000);
    const heir = next();
    for (const [n, body] of ["late", "later"].entries()) await send(heir, 10 + n, { body });
    await heir.start();
    await clock.advance(10_000);
    expect(line.calls.map(({ message }) => message.body)).toEqual([
      "first",
      "second",
      "third",
      "late",
      "later",
    ]);
  });

  it("counts every carrier call, including retries", async () => {
    const { clock, engine, line, begun } = await start(
      { messages_per_second: 1 },
      { script: { send: () => busy(100) } },
    );
    await send(engine, 0);
    await send(engine, 1);
    await clock.advance(30_000);
    expect(line.calls).toHaveLength(12);
    expect(maxWithin(timesOf(line), 1_000)).toBe(1);
    expect((timesOf(line).at(-1) ?? 0) - begun).toBeLessThan(14_000);
  });

  it("keeps its rate with a slow carrier", async () => {
    const { clock, engine, line, begun } = await start(
      { messages_per_second: 2 },
      { script: { send: () => never } },
    );
    for (let n = 0; n < 8; n++) await send(engine, n);
    await clock.advance(4_000);
    expect(timesOf(line).map((at) => at - begun)).toEqual([
      0, 0, 1_000, 1_000, 2_000, 2_000, 3_000, 3_000,
    ]);
  });

  it("applies a changed or removed rate at once", async () => {
    for (const [change, expected] of [
      [{ messages_per_second: 5 }, 11],
      [{ messages_per_second: null }, 31],
      [{ messages_per_second: null, daily_cap: 4 }, 4],
      ["removed", 31],
    ] as const) {
      const { clock, engine, line, sender, storage } = await start({ messages_per_second: 0.01 });
      for (let n = 0; n < 31; n++) await send(engine, n);
      await clock.advance(1_000);
      expect(line.calls).toHaveLength(1);
      if (change === "removed") await engine.senders.remove(sender.id);
      else expect(await engine.senders.update(sender.id, change)).toMatchObject(change);
      await clock.advance(1_500);
      expect(line.calls, JSON.stringify(change)).toHaveLength(expected);
      if (expected < 31) continue;
      await clock.advance(10_000);
      expect([allRows(storage, senderThrottles), allRows(storage, senderHandOvers)]).toEqual([
        [],
        [],
      ]);
      await engine.messages.send({ to: contact(40), body: "Hi" });
      await clock.settle();
    }
  });

  it("stores only the times of its interval", async () => {
    const { clock, engine, line, storage, sender } = await start({
      messages_per_second: 2,
      daily_cap: 12,
    });
    for (let n = 0; n < 15; n++) await send(engine, n, { ttl_seconds: 86_400 });
    await clock.advance(20_000);
    expect(allRows(storage, senderHandOvers)).toHaveLength(12);
    await engine.senders.update(sender.id, { daily_cap: null });
    await clock.advance(5_000);
    expect(line.calls).toHaveLength(15);
    expect(allRows(storage, senderHandOvers)).toHaveLength(2);
    expect(allRows(storage, senderThrottles)).toMatchObject([{ waiting: false, handed: 15 }]);
    expect(allRows(storage, jobs).filter(({ kind }) => kind === "throttle")).toEqual([]);
  });

  it("stores nothing more while no message waits", async () => {
    const { clock, engine, storage } = await start({ messages_per_second: 2 });
    for (let n = 0; n < 6; n++) {
      await send(engine, n);
      await clock.advance(1_000);
    }
    expect(allRows(storage, senderHandOvers)).toHaveLength(2);
    expect(allRows(storage, jobs).filter(({ kind }) => kind === "throttle")).toEqual([]);
  });

  it("passes an unused slot to the next message", async () => {
    let isOpen = true;
    const policies: Policy[] = [
      {
        name: "late",
        evaluate: ({ message: { body } }) =>
          isOpen || body !== "denied"
            ? { verdict: "allow" }
            : { verdict: "deny", code: "late", message: "Too late." },
      },
    ];
    const { clock, engine, line, storage } = await start({ daily_cap: 1 }, { policies });
    await send(engine, 0);
    await send(engine, 1, { body: "denied", ttl_seconds: 2 * 86_400 });
    await send(engine, 2, { ttl_seconds: 3 * 86_400 });
    isOpen = false;
    await fastForward(clock, storage, day + 2_000);
    expect(timesOf(line)).toHaveLength(2);
  });

  it("retries at most once a second while the dispatcher has no free slot", async () => {
    const { clock, engine, line, storage } = await start(
      { messages_per_second: 1 },
      {
        script: { send: ({ body }, attempt) => (body === "Hi" ? accepted(attempt) : never) },
        laneConcurrency: 1,
      },
    );
    await send(engine, 0);
    await clock.settle();
    for (let n = 1; n < 4; n++) await send(engine, n, { body: "hangs" });
    await clock.advance(2_500);
    expect(line.calls).toHaveLength(2);
    const version = (): number =>
      allRows(storage, jobs).find(({ kind }) => kind === "throttle")?.version ?? 0;
    const before = version();
    await clock.advance(10_000);
    expect(line.calls).toHaveLength(2);
    // Each retry leases and releases the job.
    expect(version() - before).toBe(20);
  });

  it("keeps its rate when another engine takes over", async () => {
    const { clock, engine, next, line, log } = await start({ messages_per_second: 1 });
    for (let n = 0; n < 6; n++) await send(engine, n);
    await clock.advance(1_500);
    await stopped(engine, clock);
    await next().start();
    await clock.advance(10_000);
    expect(line.calls).toHaveLength(6);
    expect(maxWithin(timesOf(line), 1_000)).toBe(1);
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });
});
