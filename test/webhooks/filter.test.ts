import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { eventTypes } from "../../src/events/types.ts";
import { eventPatterns, patternsOf, withoutCovered } from "../../src/webhooks/event-patterns.ts";

describe("an event filter", () => {
  test("accepts all events, groups of types, and single types", () => {
    expect(eventPatterns).toEqual(
      expect.arrayContaining(["*", "message.*", "agent.*", "agent.run.*", ...eventTypes]),
    );
    expect(patternsOf("message.sent")).toEqual(["*", "message.*", "message.sent"]);
    expect(patternsOf("agent.run.completed")).toEqual([
      "*",
      "agent.*",
      "agent.run.*",
      "agent.run.completed",
    ]);
  });

  test.each([
    [["message.sent", "message.*"], ["message.*"]],
    [["contact.created", "*", "message.*"], ["*"]],
    [
      ["message.sent", "contact.created", "message.sent"],
      ["message.sent", "contact.created"],
    ],
    [["agent.run.*", "agent.*", "agent.run.completed"], ["agent.*"]],
    [
      ["message.sent", "message.sender"],
      ["message.sent", "message.sender"],
    ],
  ])("%j is equivalent to %j", (filter, narrowed) => {
    expect(withoutCovered(filter)).toEqual(narrowed);
  });

  test("matches an event with exactly one pattern, and only the listed events", () => {
    const takes = (pattern: string, type: string): boolean =>
      new RegExp(`^${pattern.replaceAll(".", "\\.").replace("*", ".+")}$`).test(type);
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...eventPatterns), { maxLength: 6 }),
        fc.constantFrom(...eventTypes),
        (filter, type) => {
          const index = new Set(withoutCovered(filter));
          const found = patternsOf(type).filter((key) => index.has(key));
          expect(
            found,
            `An event matches a filter at most once: ${found.join(", ")}.`,
          ).toHaveLength(filter.some((pattern) => takes(pattern, type)) ? 1 : 0);
        },
      ),
    );
  });
});
