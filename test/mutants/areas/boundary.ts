import { inArea } from "../mutant.ts";

/** Limits that are one off, and edges that belong to the other side. */
export const boundary = inArea("boundary", [
  {
    name: "expired-message-is-handed-over",
    sentence:
      "A message is still sent in the millisecond in which its time to live ends, so that a " +
      "one-time code goes out when it is no longer valid.",
    file: "src/messages/rules.ts",
    find: 'if (expires_at <= now) return { decision: "expire" };',
    replace: 'if (expires_at < now) return { decision: "expire" };',
    tests: ["test/messages/waiting-rules.test.ts"],
  },
  {
    name: "retry-at-expiry",
    sentence:
      "A retry that is due when the message expires is scheduled, so that the message blocks its " +
      "conversation until then.",
    file: "src/messages/attempts/outcome.ts",
    find: "next.at < (message.expires_at ?? Infinity)",
    replace: "next.at <= (message.expires_at ?? Infinity)",
    tests: ["test/messages/outcome.test.ts"],
  },
  {
    name: "quiet-hours-start-late",
    sentence: "A marketing message goes out in the very minute in which the quiet hours begin.",
    file: "src/consents/quiet-hours.ts",
    find: "const hasStarted = Temporal.PlainTime.compare(start, time) <= 0;",
    replace: "const hasStarted = Temporal.PlainTime.compare(start, time) < 0;",
    tests: ["test/consents/quiet-hours.test.ts"],
  },
  {
    name: "quiet-hours-ignore-midnight",
    sentence: "Quiet hours from 21:00 to 08:00 are never in force, and people are texted at night.",
    file: "src/consents/quiet-hours.ts",
    find: "return isOverMidnight ? hasStarted || hasNotEnded : hasStarted && hasNotEnded;",
    replace: "return !isOverMidnight && hasStarted && hasNotEnded;",
    tests: ["test/consents/quiet-hours.test.ts"],
  },
  {
    name: "segment-of-161-characters",
    sentence: "A text of 161 characters counts as one segment, so that the bill is too low.",
    file: "src/messages/segments.ts",
    find: "if (units <= 160)",
    replace: "if (units <= 161)",
    tests: ["test/messages/segments.test.ts"],
  },
  {
    name: "reopens-too-late",
    sentence: "A message of the contact finds a conversation closed too long ago and reopens it.",
    file: "src/conversations/rules.ts",
    find: "now - (closed_at ?? 0) < reopenMs",
    replace: "now - (closed_at ?? 0) < 2 * reopenMs",
    tests: ["test/conversations/rules.test.ts"],
  },
]);
