import fc from "fast-check";
import { expect, it } from "vitest";
import {
  consentAfter,
  consentFor,
  isNewConsent,
  noConsent,
  type ConsentChange,
} from "../../src/contacts/consent/consent-rules.ts";

const senders = ["+15550000001", "+15550000002", "+15550000003"] as const;
const change: fc.Arbitrary<ConsentChange> = fc.record({
  status: fc.constantFrom("opted_in", "opted_out"),
  sender: fc.constantFrom(...senders, ...senders, null),
});

it("the latest entry for a sender or for all senders decides", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      let state = noConsent;
      const last = new Map<string, string>();
      for (const each of changes) {
        const about = each.sender === null ? senders : [each.sender];
        const isKnown = about.every((sender) => last.get(sender) === each.status);
        // An entry for all applies to unnamed senders, too.
        if (each.sender !== null || !isKnown) {
          expect(
            isNewConsent(state, each),
            "An entry is new exactly if it changes what is known of a sender it concerns.",
          ).toBe(!isKnown);
        }
        state = consentAfter(state, each);
        for (const sender of about) last.set(sender, each.status);
        expect(senders.map((sender) => consentFor(state, sender))).toEqual(
          senders.map((sender) => last.get(sender) ?? "unknown"),
        );
      }
    }),
  );
});

it.each(["opted_in", "opted_out"] as const)(
  "an entry for all senders is new if one of them was not %s",
  (status) => {
    const other = status === "opted_in" ? "opted_out" : "opted_in";
    const all = { status, sender: null };
    const state = consentAfter(noConsent, all);
    expect(isNewConsent(state, all)).toBe(false);
    expect(isNewConsent(consentAfter(state, { status: other, sender: senders[0] }), all)).toBe(
      true,
    );
  },
);

it("entries for many senders are bounded, and the bound keeps opt-outs", () => {
  const many = Array.from({ length: 150 }, (_, i) => `+1555${String(i).padStart(7, "0")}`);
  const all = (status: "opted_in" | "opted_out", from = noConsent) =>
    many.reduce((state, sender) => consentAfter(state, { status, sender }), from);
  expect(all("opted_out")).toEqual({ status: "opted_out", opted_out_of: [], opted_in_to: [] });
  const out = consentAfter(noConsent, { status: "opted_out", sender: null });
  expect(all("opted_in", out)).toEqual({
    status: "opted_out",
    opted_out_of: [],
    opted_in_to: many.slice(50),
  });
});
