import fc from "fast-check";
import { english } from "tidings/language";
import { describe, expect, it } from "vitest";
import { languageMethods } from "../../src/ports/language.ts";

const language = english();

describe("English", () => {
  it("implements the whole port", () => {
    expect(Object.keys(language).toSorted()).toEqual([...languageMethods].toSorted());
  });

  it.each(["Never mind", "please cancel that, thanks", "I changed my mind.", "nvm"])(
    "reads a message as a cancellation: %s",
    (text) => {
      expect(language.isCancellation(text)).toBe(true);
    },
  );

  it.each(["cancel my order", "don't cancel", "stop", ""])(
    "does not read a message as a cancellation: %s",
    (text) => {
      expect(language.isCancellation(text)).toBe(false);
    },
  );

  it.each(["skip", "Pass, please", "I don't know", "nope", "That’s all"])(
    "reads a message as a skipped question: %s",
    (text) => {
      expect(language.isSkip(text)).toBe(true);
    },
  );

  it.each(["no onions", "I know", "skip to Friday"])("reads a message as an answer: %s", (text) => {
    expect(language.isSkip(text)).toBe(false);
  });

  it("reads back what it writes", () => {
    for (const value of [true, false]) {
      expect(language.readBoolean(language.formatBoolean(value))).toBe(value);
    }
  });

  it("reads every date in its written form, and names of nearby days", () => {
    const day = fc
      .date({ min: new Date("1970-01-01"), max: new Date("2190-01-01"), noInvalidDate: true })
      .map((at) => Math.floor(at.getTime() / 86_400_000) * 86_400_000);
    const written = (at: number): string => new Date(at).toISOString().slice(0, 10);
    fc.assert(
      fc.property(day, fc.nat(86_399_999), (midnight, since) => {
        const context = { now: midnight + since, timeZone: "UTC", isMonthFirst: true };
        const read = (text: string): string | undefined => language.readDate(text, context);
        const after = (days: number): string => written(midnight + days * 86_400_000);
        expect(read(written(midnight)), "A date in ISO 8601 is read as that day.").toBe(
          written(midnight),
        );
        expect(read("today"), '"today" is the day of the message.').toBe(after(0));
        expect(read("tomorrow"), '"tomorrow" is one day later.').toBe(after(1));
        expect(read("in 10 days"), '"in 10 days" is ten days later.').toBe(after(10));
        expect(read("in two weeks"), '"in two weeks" is two weeks later.').toBe(after(14));
        const weekday = new Date(midnight).getUTCDay();
        const names = [
          "sunday",
          "monday",
          "tuesday",
          "wednesday",
          "thursday",
          "friday",
          "saturday",
        ];
        expect(
          read(names[weekday] ?? ""),
          "The name of today's weekday is the day a week later.",
        ).toBe(after(7));
        expect(
          read(names[(weekday + 1) % 7] ?? ""),
          "The name of tomorrow's weekday is tomorrow.",
        ).toBe(after(1));
        expect(
          read(`next ${names[1]}`),
          `"next ${names[1]}" is the first such day after today.`,
        ).toBe(after((8 - weekday) % 7 || 7));
      }),
    );
  });
});
