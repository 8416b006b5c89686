import { expect, it } from "vitest";
import { silent } from "../../src/ports/logger.ts";
import { FailureLog } from "../../src/queue/failure-log.ts";

it("counts the failures since it last worked or was logged, and logs one line a minute", () => {
  let now = 0;
  const lines: unknown[] = [];
  const log = new FailureLog({
    clock: { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() },
    logger: {
      ...silent,
      warn: (facts) => lines.push([now, facts]),
      info: (_, message) => lines.push([now, message]),
    },
    failureText: "failed",
    recoveryText: "works again",
  });
  const err = new Error("down");
  const failUntil = (end: number): void => {
    for (; now < end; now += 1_000) log.failed(err);
  };
  failUntil(61_000);
  log.worked();
  // An outage within a minute of the last line is silent, and its failures do not count later.
  failUntil(90_000);
  log.worked();
  now = 200_000;
  log.failed(err);
  expect(lines).toEqual([
    [0, { err, failures: 1 }],
    [60_000, { err, failures: 60 }],
    [61_000, "works again"],
    [200_000, { err, failures: 1 }],
  ]);
});
