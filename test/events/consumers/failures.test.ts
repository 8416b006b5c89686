import { describe, expect, it } from "vitest";
import type { MessagingEngine } from "../../../src/engine.ts";
import { TidingsError } from "../../../src/kernel/errors.ts";
import { held } from "../../support/engines/carrier.ts";
import { over } from "../../support/over.ts";
import { cases, isLong } from "../../support/runs.ts";
import { anna, bert, opened } from "./consumer-world.ts";
import { eventually, later, lightPlaces, places } from "./storages-with-table.ts";

const dayMs = 24 * 3_600_000;

describe.each(lightPlaces)("a failing consumer on $name", (where) => {
  /** What does not depend on the storage. */
  const isTried = isLong || where.name === "SQLite";

  it("is retried after 1, 5, 30 s and so on, and blocks only its conversation", async () => {
    const { place, clock, one, receive, noted, noting } = await opened(where);
    const calls: number[] = [];
    const begun = clock.now();
    noting(one, (body) => {
      if (body !== "bad") return false;
      calls.push(clock.now() - begun);
      return calls.length < 4;
    });
    await one.start();
    await receive(anna, "good", "bad", "behind");
    await receive(bert, "other");
    await clock.settle();
    await clock.advance(900);
    // A new event of the conversation does not hasten the retry.
    await receive(anna, "further behind");
    await clock.settle();
    expect((await place.notes()).toSorted()).toEqual(["good", "other"]);
    await noted("good", "bad", "behind", "further behind", "other");
    expect((await place.notes()).filter((each) => each !== "other")).toEqual([
      "good",
      "bad",
      "behind",
      "further behind",
    ]);
    expect(calls).toHaveLength(4);
    expect(calls.map((at, i) => (at - (calls[i - 1] ?? 0)) / 1_000).map(Math.floor)).toEqual([
      0, 1, 5, 30,
    ]);
  });

  it("parks an event after eight failures; resume continues with it and the ones behind", async () => {
    const { clock, one, receive, noted, log, noting } = await opened(where);
    let isBroken = true;
    const consumer = noting(one, (body) => isBroken && body === "bad");
    await one.start();
    await receive(anna, "good", "bad", "behind");
    await later(clock, async () => (await consumer.parked()).length > 0);
    await receive(bert, "other");
    await receive(anna, "further behind");
    await noted("good", "other");
    const [parked] = await consumer.parked();
    expect(parked).toMatchObject({ attempts: 8, error: "RangeError: not bad", mode: "sandbox" });
    expect(parked?.event).toMatchObject({ type: "message.received", data: { body: "bad" } });
    expect(log.filter(({ level }) => level === "error")).toHaveLength(1);
    clock.step(4 * 3_600_000);
    await clock.advance(6_000);
    await noted("good", "other");

    isBroken = false;
    await consumer.resume(parked?.event_id ?? "");
    await noted("good", "bad", "behind", "further behind", "other");
    expect(await consumer.parked()).toEqual([]);
    await expect(consumer.resume(parked?.event_id ?? "")).rejects.toMatchObject({
      code: "not_found",
    });
  });

  it.each([
    // The 499th character of the error is an emoji, so its 500th code unit is half of the emoji.
    {
      error: "has an emoji where it is cut",
      message: `${"x".repeat(486)}😀😀😀`,
      stored: /x😀…$/u,
    },
    { error: "has half a surrogate pair", message: "bad \ud83d text", stored: /bad \ufffd text$/ },
  ])("parks an event whose error $error", async ({ message, stored }) => {
    const { clock, one, receive } = await opened(where);
    const consumer = one.consume("throws", ["message.received"], () => {
      throw new RangeError(message);
    });
    await one.start();
    await receive(anna, "hello");
    await later(clock, async () => (await consumer.parked()).length > 0);
    const error: unknown = expect.stringMatching(stored);
    expect(await consumer.parked()).toMatchObject([{ attempts: 8, error }]);
  });

  it.runIf(isTried)(
    "parks an event with its own error if other consumers fail to process the event too",
    async () => {
      const { clock, one, receive } = await opened(where);
      const consumers = ["first", "second", "third"].map((name) =>
        one.consume(name, ["message.received"], () => {
          throw new RangeError(`${name} failed`);
        }),
      );
      const parked = async () =>
        (await Promise.all(consumers.map((consumer) => consumer.parked()))).flat();
      await one.start();
      await receive(anna, "hello");
      await later(clock, async () => (await parked()).length === 3);
      expect((await parked()).map(({ error }) => error)).toEqual([
        "RangeError: first failed",
        "RangeError: second failed",
        "RangeError: third failed",
      ]);
    },
  );

  it.runIf(isTried)("does not get skipped events", async () => {
    const { clock, one, receive, noted, noting } = await opened(where);
    const consumer = noting(one, (body) => body === "bad");
    await one.start();
    await receive(anna, "bad", "behind");
    await later(clock, async () => (await consumer.parked()).length > 0);
    const [parked] = await consumer.parked();
    await consumer.skip(parked?.event_id ?? "");
    await noted("behind");
    expect(await consumer.parked()).toEqual([]);
  });

  it("times out after 10 s, and later writes through its transaction have no effect", async () => {
    const { place, clock, one, receive, noted } = await opened(where);
    const hold = held<undefined>();
    const signals: AbortSignal[] = [];
    const afterwards: unknown[] = [];
    let running = 0;
    one.consume("slow", ["message.received"], async ({ data: { body } }, { tx, signal }) => {
      expect(++running).toBe(1);
      signals.push(signal);
      if (signals.length === 1) {
        await hold.promise;
        const late = where.isExact ? place.note(tx, "late") : Promise.reject(new Error("no"));
        afterwards.push(await late.catch((error: unknown) => error));
      } else {
        await place.note(tx, body);
      }
      running--;
    });
    await one.start();
    await receive(anna, "1", "2");
    await eventually(clock, () => signals[0]?.aborted === true);
    // The conversation is not retried until the call has returned.
    await clock.advance(1_500);
    expect(signals).toHaveLength(1);
    hold.answer(undefined);
    await noted("1", "2");
    expect(await place.notes()).toEqual(["1", "2"]);
    expect(afterwards).toEqual([expect.any(Error)]);
  });

  it.runIf(isTried)("keeps events past the retention time until it has handled them", async () => {
    const { place, clock, engine, receive, one, log, noting } = await opened(where);
    let fails = true;
    const consumer = noting(one, (body) => fails && body === "bad");
    const bodies = async (of: MessagingEngine) =>
      (await of.events.list({ type: "message.received" })).data.map(({ data }) => data.body);
    await one.start();
    await receive(anna, "good", "bad", "behind");
    await later(clock, async () => (await consumer.parked()).length > 0);
    await one.stop({ deadlineMs: 0 });

    const two = engine(place.connect());
    await two.sandbox.inbound({ from: bert, body: "missed" });
    clock.step(31 * dayMs);
    await two.start();
    await later(clock, async () => (await bodies(two)).length <= 3);
    clock.step(3_600_000);
    await clock.advance(6_000);
    expect((await bodies(two)).toSorted()).toEqual(["bad", "behind", "missed"]);
    expect(log.some(({ message }) => message.includes("kept past their retention time"))).toBe(
      true,
    );
    await two.stop({ deadlineMs: 0 });

    fails = false;
    const three = engine(place.connect());
    const again = noting(three, (body) => fails && body === "bad");
    const [parked] = await again.parked();
    await three.start();
    await again.resume(parked?.event_id ?? "");
    await eventually(clock, async () => (await place.notes()).length === 4);
    await later(clock, async () => (await bodies(three)).length === 0);
  });

  it.runIf(isTried)(
    "keeps no events after its removal, and starts anew if it is added again",
    async () => {
      const { clock, one, receive, noted, noting } = await opened(where);
      let fails = true;
      const consumer = noting(one, () => fails);
      await one.start();
      await receive(anna, "1", "2");
      await later(clock, async () => (await consumer.parked()).length > 0);
      await expect(one.removeConsumer("notes")).rejects.toMatchObject({ code: "invalid_option" });
      await consumer.stop();
      await one.removeConsumer("notes");
      await expect(one.removeConsumer("notes")).rejects.toMatchObject({ code: "not_found" });
      clock.step(31 * dayMs);
      await later(clock, async () => (await one.events.list()).data.length === 0);
      await receive(anna, "3");
      fails = false;
      noting(one);
      await noted("3");
    },
  );

  it.runIf(isTried)("skips events that a reset of the sandbox deleted", async () => {
    const { clock, one, receive, noted, log, noting } = await opened(where);
    let fails = true;
    const consumer = noting(one, () => fails);
    await one.start();
    await receive(anna, "1", "2");
    await later(clock, async () => (await consumer.parked()).length > 0);
    await receive(bert, "3");
    await clock.settle();
    await one.sandbox.reset();
    fails = false;
    const [parked] = await consumer.parked();
    expect(parked?.event).toBeNull();
    const before = log.length;
    await consumer.resume(parked?.event_id ?? "");
    await clock.advance(60_000);
    await receive(anna, "4");
    await noted("4");
    expect([await consumer.parked(), log.slice(before)]).toEqual([[], []]);
  });
});

const exact = places.filter(({ isExact }) => isExact);

// The storage that is away is the same everywhere: one that throws.
describe.each(cases(exact, ({ name }) => name === "SQLite"))(
  "a consumer on $name whose transactions fail or stall",
  (where) => {
    it("is not called and parks nothing", async () => {
      const { place, clock, engine, noting, log } = await opened(where);
      const storage = place.connect();
      let failures = 0;
      const one = engine(
        over(storage, {
          async transaction<T>(work: (handle: object | undefined) => Promise<T>): Promise<T> {
            if (failures++ < 20) throw new TidingsError("storage_unavailable", "The disk is full.");
            if (storage.transaction === undefined) throw new TypeError("no transactions");
            return storage.transaction(work);
          },
        }),
      );
      const consumer = noting(one);
      await one.start();
      await one.sandbox.inbound({ from: anna, body: "1" });
      await later(clock, async () => (await place.notes()).length === 1);
      expect(failures).toBe(21);
      expect(await consumer.parked()).toEqual([]);
      expect(log.every(({ message }) => message === "a job failed; retrying")).toBe(true);
    });

    it("is not called for an event that another engine has handled meanwhile", async () => {
      const { place, clock, engine, one: other, noting, receive, noted, log } = await opened(where);
      const storage = place.connect();
      const stall = held<undefined>();
      let isStalled = false;
      const one = engine(
        over(storage, {
          async transaction<T>(work: (handle: object | undefined) => Promise<T>): Promise<T> {
            isStalled = true;
            await stall.promise;
            if (storage.transaction === undefined) throw new TypeError("no transactions");
            return storage.transaction(work);
          },
        }),
      );
      const called: string[] = [];
      noting(one, (body) => {
        called.push(body);
        return false;
      });
      noting(other);
      await one.start();
      await receive(anna, "1");
      await eventually(clock, () => isStalled);
      await other.start();
      await noted("1");
      stall.answer(undefined);
      await receive(anna, "2");
      await noted("1", "2");
      await clock.advance(5_000);
      expect([await place.notes(), called.includes("1")]).toEqual([["1", "2"], false]);
      expect(log).toEqual([]);
    });

    it("continues within seconds after 20 minutes, of which one line a minute is logged", async () => {
      const { place, clock, engine, noting, log } = await opened(where);
      const storage = place.connect();
      let isAway = true;
      let failures = 0;
      const one = engine(
        over(storage, {
          async transaction<T>(work: (handle: object | undefined) => Promise<T>): Promise<T> {
            if (isAway) {
              failures++;
              throw new TidingsError("storage_unavailable", "The disk is full.");
            }
            if (storage.transaction === undefined) throw new TypeError("no transactions");
            return storage.transaction(work);
          },
        }),
      );
      noting(one);
      await one.start();
      for (const from of [anna, bert]) await one.sandbox.inbound({ from, body: from });
      // In most of each minute the clock jumps, since an idle engine polls the storage.
      for (let minute = 0; minute < 20; minute++) {
        clock.step(40_000);
        await clock.advance(20_000);
      }
      expect(failures).toBeGreaterThan(50);
      expect(log.length).toBeGreaterThan(10);
      expect(log.length).toBeLessThan(25);
      isAway = false;
      await eventually(clock, async () => (await place.notes()).length === 2, 1_000, 7);
    });
  },
);
