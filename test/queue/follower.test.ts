import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { virtualClock } from "../../adapters/testing/index.ts";
import { silent } from "../../src/ports/logger.ts";
import { Follower, type Step } from "../../src/queue/follower.ts";
import { held } from "../support/engines/carrier.ts";

/** Follows a log whose reads call `step`. */
function following(
  step: () => Promise<Step>,
  yieldToEventLoop: () => Promise<void> = () => setImmediate(),
) {
  const clock = virtualClock();
  const start = clock.now();
  const looks: number[] = [];
  const failures: unknown[] = [];
  const follower = new Follower({
    clock,
    store: { yieldToEventLoop },
    async step() {
      looks.push(clock.now() - start);
      return step();
    },
    logger: {
      ...silent,
      warn: (facts) => void failures.push("err" in facts ? facts.err : facts),
    },
    failureText: "failed",
    recoveryText: "works again",
  });
  onTestFinished(() => follower.stop());
  follower.start();
  follower.start();
  return { clock, follower, looks, failures };
}

test("a log is read every 5 s, at once after a commit or a full page, and 1 s after a failure", async () => {
  const gone = new Error("gone");
  const found: (Step | Error)[] = ["more", "wait", "wait", gone, "wait", "wait"];
  const { clock, follower, looks, failures } = following(async () => {
    const next = found.shift() ?? "wait";
    if (next instanceof Error) throw next;
    return next;
  });
  await clock.advance(5_000);
  expect(looks).toEqual([0, 0, 5_000]);
  follower.wake();
  await clock.advance(6_000);
  expect(looks).toEqual([0, 0, 5_000, 5_000, 6_000, 11_000]);
  expect(failures).toEqual([gone]);
});

test("the follower yields to the event loop between reads", async () => {
  const found: Step[] = ["more"];
  const { promise, answer } = held<void>();
  const { clock, looks } = following(
    async () => found.shift() ?? "wait",
    () => promise,
  );
  await clock.settle();
  expect(looks).toEqual([0]);
  answer();
  await clock.settle();
  expect(looks).toEqual([0, 0]);
});

test("a commit during a read causes another read right after it", async () => {
  const { promise, answer } = held<Step>();
  const { clock, follower, looks } = following(() => promise);
  await clock.settle();
  follower.wake();
  answer("wait");
  await clock.settle();
  expect(looks).toEqual([0, 0]);
});

test("a finished log is not read again after a commit", async () => {
  const { clock, follower, looks } = following(async () => "over");
  await clock.settle();
  follower.wake();
  follower.start();
  await clock.advance(60_000);
  expect(looks).toEqual([0]);
  await follower.stop();
});

test.each(["more", "wait"] as const)(
  "stop waits for the read in progress, which is the last: %s",
  async (end) => {
    const { promise, answer } = held<Step>();
    const { clock, follower, looks } = following(() => promise);
    await clock.settle();
    let isStopped = false;
    const stopped = follower.stop().then(() => (isStopped = true));
    await clock.settle();
    expect(isStopped).toBe(false);
    answer(end);
    await stopped;
    follower.wake();
    await clock.advance(60_000);
    expect(looks).toEqual([0]);
  },
);

test("a read that fails while the follower stops is no failure: the storage may have been closed", async () => {
  const { promise, reject } = Promise.withResolvers<Step>();
  const { clock, follower, failures } = following(() => promise);
  await clock.settle();
  const stopped = follower.stop();
  reject(new Error("closed"));
  await stopped;
  expect(failures).toEqual([]);
});
