import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maxLabels } from "../../src/contacts/input-types.ts";
import { conversationToEnd, mergedFacts, type MergeFacts } from "../../src/privacy/merge-rules.ts";

type ConversationActivity = Parameters<typeof conversationToEnd>[0];

const word = fc.stringMatching(/^[a-z]{3,8}$/);
const facts: fc.Arbitrary<MergeFacts> = fc.record({
  name: fc.option(word),
  phone: fc.option(word),
  email: fc.option(word),
  time_zone: fc.option(word),
  language: fc.option(word),
  labels: fc.uniqueArray(word, { maxLength: maxLabels, size: "max" }),
  // Few names, so that two contacts often have the same.
  attributes: fc.dictionary(fc.stringMatching(/^[a-h]$/), word, { maxKeys: 5 }),
  sentiment_state: fc.option(
    fc.record({
      label: fc.constant("neutral" as const),
      mean: fc.constant(0),
      messages: fc.nat(3),
    }),
  ),
  last_message_at: fc.option(fc.nat(1_000)),
});

describe("two merged contacts", () => {
  it("keep all fields of the survivor, and those of the other up to the limits", () => {
    fc.assert(
      fc.property(facts, facts, (survivor, other) => {
        const merged = mergedFacts(survivor, other, 5);
        for (const name of ["name", "phone", "email", "time_zone", "language"] as const) {
          expect(
            merged[name],
            `The field ${name} is the survivor's, or the other's if the survivor has none.`,
          ).toBe(survivor[name] ?? other[name]);
        }
        expect(merged.labels.slice(0, survivor.labels.length)).toEqual(survivor.labels);
        expect(merged.labels.length, `The labels of both are kept, up to ${maxLabels}.`).toBe(
          Math.min(maxLabels, new Set([...survivor.labels, ...other.labels]).size),
        );
        expect(merged.attributes).toMatchObject(survivor.attributes);
        expect(
          Object.keys(merged.attributes).length,
          "The attributes of both are kept, up to 5.",
        ).toBe(Math.min(5, Object.keys({ ...survivor.attributes, ...other.attributes }).length));
        expect({ ...other.attributes, ...survivor.attributes }).toMatchObject(merged.attributes);
        const heard = (each: MergeFacts): number => each.sentiment_state?.messages ?? 0;
        const lead = heard(other) > heard(survivor) ? other : survivor;
        expect(
          merged.sentiment_state,
          "The sentiment is that of the contact with more messages.",
        ).toBe(lead.sentiment_state);
        const times = [survivor.last_message_at, other.last_message_at].filter(
          (each) => each !== null,
        );
        expect(merged.last_message_at, "The last message is the later one of both.").toBe(
          times.length === 0 ? null : Math.max(...times),
        );
      }),
    );
  });

  it("keep the survivor's conversation if both are active, else the most recently active one", () => {
    const open = { status: "open", last_activity_at: 1 } as const;
    const closed = { status: "closed", last_activity_at: 2 } as const;
    const ended = (
      ...both: [ConversationActivity, ConversationActivity]
    ): "survivor's" | "other's" =>
      conversationToEnd(...both) === both[0] ? "survivor's" : "other's";
    expect(ended(open, { ...open, last_activity_at: 9 })).toBe("other's");
    expect(ended(open, { ...closed, last_activity_at: 9 })).toBe("other's");
    expect(ended(closed, open)).toBe("survivor's");
    expect(ended(closed, { ...closed, last_activity_at: 3 })).toBe("survivor's");
    expect(ended(closed, { ...closed })).toBe("other's");
  });
});
