import { inArea } from "../mutant.ts";

/** How fast and how fairly. */
export const pace = inArea("pace", [
  {
    name: "sender-exceeds-its-rate",
    sentence: "A sender hands over one message more per second than its carrier allows.",
    file: "src/senders/throttle.ts",
    find: "const number = handed + ahead - max;",
    replace: "const number = handed + ahead - max - 1;",
    tests: ["test/senders/throttle.test.ts"],
  },
  {
    name: "fractional-rate-is-rounded",
    sentence: "A sender with one message every two seconds sends two in one second.",
    file: "src/senders/throttle.ts",
    find: "const max = Number.isInteger(rate) ? rate : 1;",
    replace: "const max = Math.ceil(rate);",
    tests: ["test/senders/throttle.test.ts"],
  },
  {
    name: "throttled-job-overtakes",
    sentence: "A message that just arrived goes before those that wait for the sender.",
    file: "src/senders/throttle.ts",
    find: "if (at <= tx.now && (!throttle.waiting || waits)) return throttle;",
    replace: "if (at <= tx.now) return throttle;",
    tests: ["test/senders/throttle.test.ts"],
  },
  {
    name: "clock-set-back-frees-the-sender",
    sentence: "A clock that is set back lets a sender exceed its daily cap.",
    file: "src/senders/throttle.ts",
    find: "return Math.max(last_at, ...(await Promise.all(times)));",
    replace: "return Math.max(0, ...(await Promise.all(times)));",
    tests: ["test/senders/throttle.test.ts"],
  },
  {
    name: "rate-limit-forgets-early",
    sentence: "A key may send its whole limit twice within one second.",
    file: "src/operations/rate-limiter.ts",
    find: "admissionAt(log, 0) <= time - log.window",
    replace: "admissionAt(log, 0) <= time - log.window / 2",
    tests: ["test/operations/sliding-log.test.ts"],
  },
  {
    name: "refused-request-uses-quota",
    sentence: "A client that retries too fast is never admitted again.",
    file: "src/operations/rate-limiter.ts",
    find: "  const admitted = log.count < limit;\n  if (admitted) {",
    replace: "  const admitted = log.count < limit;\n  if (admitted || log.count < 2 * limit) {",
    tests: ["test/operations/sliding-log.test.ts"],
  },
  {
    name: "one-lane-takes-all",
    sentence: "An account with a million messages delays all others until they are sent.",
    file: "src/queue/due-jobs.ts",
    find: "const next = queues.flatMap((jobs) => jobs.slice(round, round + 1));",
    replace: "const next = queues.slice(round, round + 1).flat();",
    tests: ["test/queue/lane.test.ts", "test/queue/due-jobs.test.ts"],
  },
  {
    name: "paused-webhook-is-called",
    sentence: "A receiver that answered 429 gets the next request at once.",
    file: "src/webhooks/due-deliveries.ts",
    find: 'return status === "enabled" && (paused_until ?? 0) <= now;',
    replace: 'return status === "enabled";',
    tests: ["test/webhooks/sending.test.ts", "test/webhooks/isolation.test.ts"],
  },
]);
