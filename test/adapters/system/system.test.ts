import { getEventListeners } from "node:events";
import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { system } from "../../../adapters/system/index.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("the clock shows the machine's time", () => {
  const before = Date.now();
  const now = system().clock.now();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});

test("a sleep has the requested length, even beyond the maximum of a Node timer", async () => {
  vi.useFakeTimers();
  const { clock } = system();
  for (const ms of [0, 1, 2 ** 31 - 1, 2 ** 31, 90 * 86_400_000]) {
    let woke = false;
    void clock.sleep(ms).then(() => (woke = true));
    if (ms > 0) await vi.advanceTimersByTimeAsync(ms - 1);
    expect(woke).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(woke).toBe(true);
  }
});

test("an aborted sleep ends at once and leaves no timer and no listener behind", async () => {
  vi.useFakeTimers();
  const { clock } = system();
  const off = new AbortController();
  const early = [clock.sleep(60_000, off.signal), clock.sleep(Infinity, off.signal)];
  off.abort();
  await Promise.all(early);
  await clock.sleep(60_000, off.signal);
  expect(vi.getTimerCount()).toBe(0);
  expect(getEventListeners(off.signal, "abort")).toEqual([]);
});

test("a completed sleep leaves no listener on its signal", async () => {
  const { signal } = new AbortController();
  await system().clock.sleep(0, signal);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a sleep keeps the process alive, unless it has `ref: false`", async () => {
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((each) => each === "Timeout").length;
  const { clock } = system();
  const off = new AbortController();
  const before = timers();
  const background = clock.sleep(60_000, off.signal, { ref: false });
  expect(timers()).toBe(before);
  const foreground = clock.sleep(60_000, off.signal);
  expect(timers()).toBe(before + 1);
  off.abort();
  await Promise.all([background, foreground]);
});

test("draws have the requested size, differ, and share no memory", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 50 }), (counts) => {
      const { random } = system();
      const draws = counts.map((count) => random.bytes(count));
      expect(draws.map((each) => each.length)).toEqual(counts);
      expect(new Set(draws.map((each) => each.buffer)).size, "No two draws share memory.").toBe(
        draws.length,
      );
      const long = draws
        .filter((each) => each.length >= 16)
        .map((each) => Buffer.from(each).toString("hex"));
      expect(new Set(long).size, "Long draws differ.").toBe(long.length);
    }),
  );
});

test("small draws do not repeat across many refills of the pool", () => {
  const { random } = system();
  const seen = new Set<string>();
  for (let i = 0; i < 10_000; i += 1) seen.add(Buffer.from(random.bytes(10)).toString("hex"));
  expect(seen.size).toBe(10_000);
});
