import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { virtualClock, type VirtualClock } from "../../../adapters/testing/index.ts";
import { longTest } from "../../support/runs.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Sleeps and records when it woke. */
function sleeper(clock: VirtualClock, log: string[]) {
  return async (name: string, ms: number, signal?: AbortSignal) => {
    const lay = clock.now();
    await clock.sleep(ms, signal);
    log.push(`${name} +${clock.now() - lay}`);
  };
}

test("time stands still until it is advanced", async () => {
  const clock = virtualClock("2026-03-04T05:06:07.000Z");
  await clock.settle();
  expect(new Date(clock.now()).toISOString()).toBe("2026-03-04T05:06:07.000Z");
  await clock.advance(1_500);
  expect(new Date(clock.now()).toISOString()).toBe("2026-03-04T05:06:08.500Z");
});

test("sleepers wake in order of their time, and equal times in order of their calls", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 30 }),
      async (sleeps) => {
        const clock = virtualClock();
        const woken: number[] = [];
        const all = sleeps.map((ms, index) => clock.sleep(ms).then(() => woken.push(index)));
        await clock.advance(20);
        await Promise.all(all);
        expect(woken).toEqual(
          sleeps.map((_, index) => index).toSorted((a, b) => (sleeps[a] ?? 0) - (sleeps[b] ?? 0)),
        );
      },
    ),
  );
});

test("a sleeper reads its due time, even if time advances further at once", async () => {
  const clock = virtualClock();
  const log: string[] = [];
  const sleep = sleeper(clock, log);
  void sleep("b", 7_200_000);
  void sleep("a", 10);
  await clock.advance(86_400_000);
  expect(log).toEqual(["a +10", "b +7200000"]);
});

longTest("work that repeats without waiting for time is an error", async () => {
  const clock = virtualClock();
  let isOver = false;
  const repeating = (async () => {
    while (!isOver) await clock.sleep(0);
  })();
  await expect(clock.advance(1_000)).rejects.toThrow("something repeats without waiting for time");
  isOver = true;
  await repeating;
});

test("time does not advance while promises and event-loop callbacks are pending", async () => {
  const clock = virtualClock();
  const times: number[] = [];
  const start = clock.now();
  void clock.sleep(10).then(async () => {
    for (let i = 0; i < 50; i += 1) await Promise.resolve();
    for (let i = 0; i < 50; i += 1) await turn();
    times.push(clock.now() - start);
    await clock.sleep(5);
    times.push(clock.now() - start);
  });
  void clock.sleep(12).then(() => times.push(clock.now() - start));
  await clock.advance(100);
  expect(times).toEqual([10, 12, 15]);
});

test("the first sleeper that wakes can abort another one of the same time", async () => {
  const clock = virtualClock();
  const log: string[] = [];
  const sleep = sleeper(clock, log);
  const off = new AbortController();
  void sleep("first", 10).then(() => {
    log.push("aborts");
    off.abort();
  });
  void sleep("second", 10).then(() => log.push("after"));
  void sleep("called off", 30, off.signal);
  await clock.advance(40);
  expect(log).toEqual(["first +10", "aborts", "called off +10", "second +10", "after"]);
});

test("an aborted sleep ends at once and leaves nothing behind", async () => {
  const clock = virtualClock();
  const log: string[] = [];
  const sleep = sleeper(clock, log);
  const off = new AbortController();
  void sleep("a", 1_000, off.signal);
  expect(clock.nextWakeAt).toBe(clock.now() + 1_000);
  off.abort();
  void sleep("b", 1_000, off.signal);
  await clock.settle();
  expect(log).toEqual(["a +0", "b +0"]);
  expect(clock.nextWakeAt).toBeUndefined();
});

test("aborting a completed sleep affects no other", async () => {
  const clock = virtualClock();
  const off = new AbortController();
  void clock.sleep(10, off.signal);
  await clock.advance(10);
  const log: string[] = [];
  void sleeper(clock, log)("other", 20);
  off.abort();
  await clock.advance(20);
  expect(log).toEqual(["other +20"]);
});

test("a sleep of zero takes no time, but yields to others", async () => {
  const clock = virtualClock();
  const log: string[] = [];
  void clock.sleep(0).then(() => log.push("slept"));
  void Promise.resolve().then(() => log.push("promise"));
  await clock.settle();
  expect(log).toEqual(["promise", "slept"]);
});

test("an endless sleep ends only when it is aborted", async () => {
  const clock = virtualClock();
  const off = new AbortController();
  let ended = false;
  void clock.sleep(Infinity, off.signal).then(() => (ended = true));
  await clock.advance(1e15);
  expect(clock.nextWakeAt).toBeUndefined();
  expect(ended).toBe(false);
  off.abort();
  await clock.settle();
  expect(ended).toBe(true);
});

test("a step of the clock changes its time, and no sleeper wakes early or late", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: -1_000_000, max: 1_000_000 }), async (ms) => {
      const clock = virtualClock();
      const start = clock.now();
      let woke = false;
      void clock.sleep(100).then(() => (woke = true));
      clock.step(ms);
      expect(clock.now(), "A step moves the time at once.").toBe(start + ms);
      expect(clock.nextWakeAt, "A step does not change how long a sleeper still sleeps.").toBe(
        start + ms + 100,
      );
      await clock.advance(99);
      expect(woke, "No sleeper wakes early.").toBe(false);
      await clock.advance(1);
      expect(woke, "A sleeper wakes when it is due.").toBe(true);
      expect(clock.now(), "The time after the step goes on from there.").toBe(start + ms + 100);
    }),
  );
});

test("skipped time passes on both clocks, and sleepers still sleep as long as before", async () => {
  const clock = virtualClock();
  const [start, elapsed] = [clock.now(), clock.monotonic()];
  let woke = false;
  void clock.sleep(100).then(() => (woke = true));
  clock.skip(86_400_000);
  expect([clock.now() - start, clock.monotonic() - elapsed]).toEqual([86_400_000, 86_400_000]);
  await clock.advance(99);
  expect(woke).toBe(false);
  await clock.advance(1);
  expect(woke).toBe(true);
  void clock.sleep(50).then(() => clock.skip(1_000));
  const before = clock.monotonic();
  await clock.advance(100);
  expect(clock.monotonic() - before, "skipped during an advance").toBe(1_050);
  expect(() => clock.skip(-1)).toThrow("Expected a number of milliseconds from 0, got -1.");
  expect(() => clock.skip(Infinity)).toThrow("Expected a finite number of milliseconds");
});

test("time advances to a given time, and never backwards", async () => {
  const clock = virtualClock("2026-01-01T00:00:00.000Z");
  await clock.advanceTo("2026-01-02T00:00:00.000Z");
  await clock.advanceTo(new Date("2026-01-01T12:00:00.000Z"));
  expect(clock.now()).toBe(Date.parse("2026-01-02T00:00:00.000Z"));
});

test("time advances until a condition holds", async () => {
  const clock = virtualClock();
  const start = clock.now();
  let beats = 0;
  const off = new AbortController();
  const beat = async () => {
    for (; !off.signal.aborted; beats += 1) await clock.sleep(10, off.signal);
  };
  void beat();
  await clock.advanceUntil(() => beats === 3);
  expect(clock.now() - start).toBe(30);
  await clock.advanceUntil(async () => {
    await turn();
    return beats === 5;
  });
  expect(clock.now() - start).toBe(50);

  await expect(clock.advanceUntil(() => false, 100)).rejects.toThrow("within 100 ms");
  off.abort();
  await clock.settle();
  await expect(clock.advanceUntil(() => false)).rejects.toThrow(
    "nothing waits for a later time. The clock does not wait for sockets",
  );
});

test("time advances until code has ended, and no further", async () => {
  const clock = virtualClock();
  const start = clock.now();
  const off = new AbortController();
  void clock.sleep(Infinity, off.signal);
  void clock.sleep(3_600_000, off.signal);
  const sleeping = async (ms: number): Promise<number> => {
    await clock.sleep(ms);
    return clock.now() - start;
  };
  expect(await clock.run(() => sleeping(30))).toBe(30);
  expect(clock.now() - start).toBe(30);
  const failing = async (): Promise<void> => {
    await clock.sleep(10);
    throw new Error("I failed");
  };
  await expect(clock.run(failing)).rejects.toThrow("I failed");
  expect(clock.now() - start).toBe(40);

  await expect(clock.run(() => sleeping(200), 100)).rejects.toThrow("had not ended by");
  expect(clock.now() - start).toBeLessThanOrEqual(140);
  off.abort();
  await clock.advance(200);
  // The code waits for a file, and nothing waits for the clock.
  const reading = (): Promise<string> => readFile("package.json", "utf8");
  expect((await clock.run(reading)).length).toBeGreaterThan(0);
  const before = clock.now();
  await clock.run(async () => {
    await reading();
    await clock.sleep(50);
  });
  expect(clock.now() - before).toBe(50);
});

test("concurrent advances of one clock are an error", async () => {
  const clock = virtualClock();
  const first = clock.advance(10);
  await expect(clock.advance(10)).rejects.toThrow("moving already");
  await first;
  await clock.advance(10);
});

test("two clocks in one process do not wait for each other", async () => {
  const [a, b] = [virtualClock(), virtualClock()];
  for (let i = 1; i < 100; i += 1) {
    void a.sleep(i);
    void b.sleep(i);
  }
  await Promise.all([a.advance(100), b.advance(100)]);
  expect(a.now()).toBe(b.now());
});

test("an invalid start time is rejected", () => {
  expect(() => virtualClock("yesterday")).toThrow(
    'Expected a time in ISO 8601 or milliseconds, got "yesterday".',
  );
});

test("a duration that is not a number is rejected, and leaves the time as it was", async () => {
  const clock = virtualClock();
  const before = clock.now();
  // Without the check, the clock wakes this sleeper for ever.
  let woken = 0;
  void (async () => {
    while (woken < 1_000) await clock.sleep(1).then(() => (woken += 1));
  })();
  const refused = {
    code: "invalid_option",
    message: "Expected a number of milliseconds, got NaN.",
  };
  await expect(clock.advance(Number.NaN)).rejects.toMatchObject(refused);
  await expect(clock.advanceUntil(() => false, Number.NaN)).rejects.toMatchObject(refused);
  expect(() => clock.step(Number.NaN)).toThrow(refused.message);
  await expect(clock.advance("5" as unknown as number)).rejects.toMatchObject({
    message: 'Expected a number of milliseconds, got "5".',
  });
  expect([woken, clock.now()]).toEqual([0, before]);
});

test("time does not move to infinity, where nothing would become due any more", async () => {
  const clock = virtualClock();
  const before = clock.now();
  const message = "Expected a finite number of milliseconds, got Infinity.";
  await expect(clock.advance(Infinity)).rejects.toThrow(message);
  expect(() => clock.step(Infinity)).toThrow(message);
  expect(clock.now()).toBe(before);
  void clock.sleep(5);
  await clock.advanceUntil(() => clock.now() === before + 5, Infinity);
});
