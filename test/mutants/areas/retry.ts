import { inArea } from "../mutant.ts";

/** When something is tried again, and when not. */
export const retry = inArea("retry", [
  {
    name: "lost-answer-is-sent-again",
    sentence:
      "A message whose answer is lost is sent again at once, and the contact gets it twice.",
    file: "src/messages/attempts/settle.ts",
    find: 'const isLost = { outcome: "ambiguous", error: answerLost } as const;',
    replace: 'const isLost = { outcome: "rejected", error: answerLost } as const;',
    tests: ["test/queue/crashed-engines.test.ts"],
  },
  {
    name: "permanent-refusal-is-retried",
    sentence: "A message to a landline is handed to the carrier six times, and each costs money.",
    file: "src/messages/attempts/next-attempt.ts",
    find: 'const isExcluded = outcome !== "rejected" || error?.permanent === true;',
    replace: 'const isExcluded = outcome !== "rejected" || error === null;',
    tests: ["test/messages/outcome.test.ts"],
  },
  {
    name: "retry-after-is-ignored",
    sentence: "A carrier that asks for a minute's pause is called again after a second.",
    file: "src/messages/routes/route-rules.ts",
    find: "return last.not_before ?? end;",
    replace: "return Math.min(last.not_before ?? end, end);",
    tests: ["test/messages/outcome.test.ts"],
  },
  {
    name: "one-attempt-too-few",
    sentence: "The last retry is left out, so that a message fails in a ten-minute outage.",
    file: "src/messages/routes/route-rules.ts",
    find: "const pause = retryDelays[tries - 1];",
    replace: "const pause = retryDelays[tries];",
    tests: ["test/messages/outcome.test.ts"],
  },
  {
    name: "refused-by-the-message-goes-around",
    sentence: "A message that one carrier's filter stopped is sent around the filter.",
    file: "src/messages/attempts/attempts.ts",
    find: 'const isRefused = outcome === "rejected" || outcome === "undelivered";',
    replace: 'const isRefused = outcome === "undelivered";',
    tests: ["test/messages/routes.test.ts"],
  },
  {
    name: "route-starts-over",
    sentence: "A fallback goes back to the transport that has just failed.",
    file: "src/messages/routes/route-rules.ts",
    find: "const inTurn = [...transports.slice(last + 1), ...transports.slice(0, last + 1)];",
    replace: "const inTurn = [...transports.slice(last), ...transports.slice(0, last)];",
    tests: ["test/messages/choose-route.test.ts"],
  },
  {
    name: "webhook-gives-up-early",
    sentence: "A delivery fails after four attempts, so that a receiver misses events of a night.",
    file: "src/webhooks/sending/schedule.ts",
    find: "const [delay, ...later] = delays.slice(history.length - 1);",
    replace: "const [delay, ...later] = delays.slice(history.length);",
    tests: ["test/webhooks/schedule.test.ts"],
  },
  {
    name: "redirect-is-success",
    sentence: "A receiver that moved answers 301, and its events count as delivered.",
    file: "src/webhooks/sending/schedule.ts",
    find: "outcome.status >= 200 && outcome.status < 300;",
    replace: "outcome.status >= 200 && outcome.status < 400;",
    tests: ["test/webhooks/schedule.test.ts"],
  },
]);
