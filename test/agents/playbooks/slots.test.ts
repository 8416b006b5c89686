import fc from "fast-check";
import { expect, it } from "vitest";
import {
  readAnswer,
  validValue,
  type SlotValue,
} from "../../../src/agents/playbooks/play/slots.ts";
import { displayText } from "../../../src/agents/playbooks/play/template.ts";
import type { Slot } from "../../../src/agents/playbooks/slot-types.ts";
import { anyCharacter } from "../../support/any-character.ts";
import { most, slot } from "./support.ts";

const day = slot("day", { type: "date" });
const count = slot("count", { type: "number" });
const sure = slot("sure", { type: "boolean" });
const phone = slot("phone", { type: "phone" });
const email = slot("email", { type: "email" });
const part = slot("part", { enum: ["Morning", "Early afternoon", "Evening", "Café"] });
const size = slot("size", { enum: ["Large", "X-Large"] });
const shirt = slot("shirt", { enum: ["Small", "Large", "Extra-Large", "XXL"] });
const cup = slot("cup", { enum: ["Small", "Large"] });
const sweet = slot("sweet", { enum: ["Yes", "No"] });
const grade = slot("grade", { enum: ["A+", "A", "A-"] });
const order = slot("order", { pattern: String.raw`[A-Z]{2}-\d{3,6}` });

const read = (of: Slot, text: string): SlotValue | undefined => readAnswer(of, text, most);

it.each<readonly [Slot, string, SlotValue | undefined]>([
  [count, "12", 12],
  [count, "1,200.50", 1200.5],
  [count, "1.200,50", 1200.5],
  [count, "1,200", 1200],
  [count, "1.200", undefined],
  [count, "$1.200", undefined],
  [count, "about 45.125", undefined],
  [count, "1.200.000", 1_200_000],
  [count, "1.20", 1.2],
  [count, "1234.567", 1234.567],
  [count, "0.500", 0.5],
  [count, "0,500", 0.5],
  [count, "2,5", 2.5],
  [count, "We are 4, thanks", 4],
  [count, "table for Two please", 2],
  [count, "-3.5", -3.5],
  [count, "$20", 20],
  [count, "the first one", undefined],
  [count, "3 or 4", undefined],
  [count, "3-4", undefined],
  [count, "not 4", undefined],
  [count, "at 5pm", undefined],
  [count, "1,2,3", undefined],
  [count, "thirty-two", 32],
  [count, "Fifty five of us", 55],
  [count, "twenty", 20],
  [count, "twenty, one of them a child", undefined],
  [count, "five hundred", undefined],
  [count, "two dozen", undefined],
  [count, "two and a half", undefined],
  [count, "2 1/2", undefined],
  [count, "minus five", undefined],
  [count, "the twenty-first", undefined],
  [sure, "Yes!", true],
  [sure, "yep", true],
  [sure, "OK thanks", true],
  [sure, "no problem", true],
  [sure, "that’s right", true],
  [sure, "👍", true],
  [sure, "👍🏽", true],
  [sure, "nope", false],
  [sure, "No, make it Tuesday", false],
  [sure, "no I can't", false],
  [sure, "Sure, Tuesday it is", true],
  [sure, "Yes, no problem", true],
  [sure, "No, that's fine", false],
  [sure, "Ok, no", undefined],
  [sure, "Great, no thanks", undefined],
  [sure, "not sure", undefined],
  [sure, "what do you mean?", undefined],
  [day, "2026-12-01", "2026-12-01"],
  [day, "1.12.2026", "2026-12-01"],
  [day, "12/1", "2026-12-01"],
  [day, "25/12/2026", "2026-12-25"],
  [day, "Dec 1", "2026-12-01"],
  [day, "on the 1st of December, please", "2026-12-01"],
  [day, "March 3rd", "2027-03-03"],
  [day, "Feb 29", "2028-02-29"],
  [day, "today", "2026-11-24"],
  [day, "Tomorrow at 5", "2026-11-25"],
  [day, "the day after tomorrow", "2026-11-26"],
  [day, "in two weeks", "2026-12-08"],
  [day, "Friday works", "2026-11-27"],
  [day, "tuesday", "2026-12-01"],
  [day, "next Friday", "2026-12-04"],
  [day, "Tuesday, December 1", "2026-12-01"],
  [day, "Friday, December 1", undefined],
  [day, "Feb 30", undefined],
  [day, "2026-13-01", undefined],
  [day, "Monday or Tuesday", undefined],
  [day, "I can't do tomorrow", undefined],
  [day, "Friday doesn't work for me", undefined],
  [day, "Friday wouldn't be good", undefined],
  [day, "any day but Friday", undefined],
  [day, "anytime but Friday", undefined],
  [day, "any time on Friday, but before noon", "2026-11-27"],
  [day, "from Nov 27 thru 29", undefined],
  [day, "whenever", undefined],
  [day, "Friday next week", "2026-12-04"],
  [day, "next week, on Friday", "2026-12-04"],
  [day, "Friday, this week or next week", undefined],
  [day, "this Friday or next", undefined],
  [day, "a week from Friday", undefined],
  [day, "a week tomorrow", undefined],
  [day, "last Friday", undefined],
  [day, "every Friday", undefined],
  [day, "the day before Friday", undefined],
  [day, "any day after Friday", undefined],
  [day, "I am away until Friday", undefined],
  [day, "I'll come by tomorrow", "2026-11-25"],
  [day, "any time from Friday", undefined],
  [day, "any time up to Friday", undefined],
  [day, "any day through Friday", undefined],
  [day, "starting Friday", undefined],
  [day, "Friday onwards", undefined],
  [day, "Friday or later", undefined],
  [day, "Friday from 3 pm", "2026-11-27"],
  [day, "this Friday", "2026-11-27"],
  [day, "this Tuesday", undefined],
  [day, "Friday this week", "2026-11-27"],
  [day, "Monday this week", undefined],
  [day, "Friday after lunch", "2026-11-27"],
  [day, "Friday in January", undefined],
  [day, "the second Friday", undefined],
  [day, "Friday the 27th", "2026-11-27"],
  [day, "Friday the 11th", undefined],
  [day, "Friday the eleventh", undefined],
  [day, "Friday, December fifth", undefined],
  [day, "Friday, first thing", "2026-11-27"],
  [day, "Friday, 11", undefined],
  [day, "Friday 11 please", undefined],
  [day, "Friday 11 at noon", undefined],
  [day, "Friday 27 at noon", "2026-11-27"],
  [day, "Friday 5 people", "2026-11-27"],
  [day, "in twelve days", "2026-12-06"],
  [day, "in 2 days or 3", undefined],
  [day, "in a day or two", undefined],
  [day, "in -1 days", undefined],
  [day, "in − 2 weeks", undefined],
  [day, "in (-1) days", undefined],
  [day, "in 1 day and 2 days", undefined],
  [day, "tomorrow minus 1 day", undefined],
  [day, "today + 3 days", undefined],
  [day, "Jan 5,2028", "2028-01-05"],
  [day, "5th of January of 2028", "2028-01-05"],
  [day, "Jan 5 in 2028", undefined],
  [day, "2028, Jan 5", undefined],
  [day, "30/12 2028", undefined],
  [day, "5 January '28", undefined],
  [day, "Dec 5 (2026-12-05)", "2026-12-05"],
  [day, "Dec 5 at 10:30", "2026-12-05"],
  [day, "in a week or so", undefined],
  [day, "in 2 days or on Friday", undefined],
  [day, "Friday at 11", "2026-11-27"],
  [day, "December 5 or 6", undefined],
  [day, "December 5 + 6", undefined],
  [day, "December 5, 6", undefined],
  [day, "December 5, 6, or 7", undefined],
  [day, "5, 6 December", undefined],
  [day, "the 5th, the 6th of December", undefined],
  [day, "we are 4, December 5", "2026-12-05"],
  [day, "at 10:30, 5 December", "2026-12-05"],
  [day, "December 5, 6 people", "2026-12-05"],
  [day, "December 5, 6 pm", "2026-12-05"],
  [day, "I am free 24/7", undefined],
  [day, "24/7, but Friday is best", "2026-11-27"],
  [day, "24/7/2027", "2027-07-24"],
  [day, "December 5, or 6", undefined],
  [day, "5-6 December", undefined],
  [day, "between Dec 5 and the 7th", undefined],
  [day, "12/5-7", undefined],
  [day, "Dec 5 - 7pm", "2026-12-05"],
  [day, "December 5 next year", undefined],
  [day, "after December 5", undefined],
  [day, "before the 5th of December", undefined],
  [day, "after 12/5", undefined],
  [day, "until December 5", undefined],
  [day, "till the 5th of December", undefined],
  [day, "from 12/5", undefined],
  [day, "where we sat in the sun", undefined],
  [phone, "+44 (0)20 7946 0958", "+442079460958"],
  [phone, "+44 020 7946 0958", "+442079460958"],
  [phone, "+39 06 6982 1234", "+390669821234"],
  [phone, "0049 30 901820", "+4930901820"],
  [phone, "it's (500) 555-0123", "+15005550123"],
  [phone, "1-500-555-0123", "+15005550123"],
  [phone, "555-0123", undefined],
  [phone, "+1 500 555 0123x5", undefined],
  [phone, "+1 500 555 0123 45", undefined],
  [phone, "500 555 0123 after 5", "+15005550123"],
  [phone, "+15005550123 or +15005550124", undefined],
  [email, "ada@example.com.", "ada@example.com"],
  [email, "write to ada.l+x@mail.example.co.uk please", "ada.l+x@mail.example.co.uk"],
  [email, "ada@example", undefined],
  [email, "ada@example.com@example.org", undefined],
  [email, "ada at example.com", undefined],
  [part, "MORNING", "Morning"],
  [part, "cafe", "Café"],
  [part, "2", "Early afternoon"],
  [part, "option 3", "Evening"],
  [part, "early", "Early afternoon"],
  [part, "e", undefined],
  [part, "the evening please", "Evening"],
  [part, "not the evening", undefined],
  [part, "no evening", undefined],
  [part, "no, evening", "Evening"],
  [sweet, "sure, no problem", undefined],
  [sweet, "no, thank you", "No"],
  [sweet, "no no", "No"],
  [part, "9", undefined],
  [part, "Good morning! The evening please", "Evening"],
  [part, "Good morning", undefined],
  [size, "extra large", "X-Large"],
  [size, "an extra-large one please", "X-Large"],
  [size, "large or extra large", undefined],
  [size, "XL", "X-Large"],
  [size, "large", "Large"],
  [size, "a large one", "Large"],
  [shirt, "extra", "Extra-Large"],
  [shirt, "extra extra large", "XXL"],
  [cup, "XL", undefined],
  [cup, "XL please", undefined],
  [cup, "an extra large one", undefined],
  [grade, "a+", "A+"],
  [grade, "A", "A"],
  [order, "AB-1234", "AB-1234"],
  [order, "my order is AB-1234", undefined],
  [slot("notes"), "  I have a dog ", "I have a dog"],
  [slot("notes"), " ", undefined],
])("reads for %o: %s", ({ name: _name, ...of }, text, value) => {
  expect(read({ name: "it", ...of }, text)).toBe(value);
});

it("reads days in the contact's time zone, and month-first dates only for US numbers", () => {
  const lateInTokyo = {
    language: most.language,
    now: Date.UTC(2026, 10, 24, 16),
    contact: { phone: "+81312345678", time_zone: "Asia/Tokyo" },
  };
  expect(readAnswer(day, "today", lateInTokyo)).toBe("2026-11-25");
  expect(readAnswer(day, "12/1/2026", lateInTokyo)).toBeUndefined();
  expect(readAnswer(phone, "500 555 0123", lateInTokyo)).toBeUndefined();
  const nowhere = { ...lateInTokyo, contact: { phone: null, time_zone: "Nowhere/Land" } };
  expect(readAnswer(day, "today", nowhere)).toBe("2026-11-24");
});

const texts = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.integer().map(String),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((n) => n.toFixed(fc.sample(fc.nat(6), 1)[0])),
  fc
    .date({ min: new Date(0), max: new Date("2190-01-01"), noInvalidDate: true })
    .map((d) => d.toISOString().slice(0, 10)),
  fc.emailAddress(),
  fc
    .tuple(
      fc.constantFrom("+1", "+44", "0049", ""),
      fc.stringMatching(/^[2-9]\d{2}[ -]?[2-9]\d{2}[ -]?\d{4}$/),
    )
    .map((p) => p.join(" ")),
  fc
    .tuple(
      fc.constantFrom(
        "Dec",
        "1.",
        "next",
        "in",
        "friday",
        "yes",
        "no,",
        "A",
        "early",
        "AB-",
        "1,000",
      ),
      fc.constantFrom("1", "12.2026", "friday", "2 days", "5", "maybe", "000", ".5"),
    )
    .map((words) => words.join(" ")),
);

/** People read `1.125` as one and an eighth, or as a thousand and more. */
const isAmbiguous = (displayed: string): boolean => /^-?[1-9]\d{0,2}\.\d{3}$/.test(displayed);

it("reads a value back from its displayed form, unless that could mean two numbers", () => {
  fc.assert(
    fc.property(
      texts,
      fc.constantFrom(count, sure, day, phone, email, part, grade, order, slot("notes")),
      (text, of) => {
        const value = read(of, text);
        if (value === undefined) return;
        const displayed = displayText(value, most.language);
        const readBack = of === count && isAmbiguous(displayed) ? undefined : value;
        expect(
          read(of, displayed),
          `What is shown of a value reads back as the value: ${displayed}`,
        ).toBe(readBack);
        expect(validValue(of, value, most), "A value that was read from a text is valid.").toBe(
          value,
        );
      },
    ),
    { numRuns: 2_000 },
  );
});
