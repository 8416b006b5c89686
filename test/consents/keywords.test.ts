import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keywordOf, suspectsOptOut } from "../../src/consents/keywords.ts";
import { standardConsent } from "../../src/operations/consent-options.ts";
import { anyCharacter } from "../support/any-character.ts";

const words = {
  opt_out: [
    "STOP",
    "STOPALL",
    "UNSUBSCRIBE",
    "CANCEL",
    "END",
    "QUIT",
    "REVOKE",
    "OPTOUT",
    "OPT OUT",
    "REMOVE",
    "ARRET",
    "ARRÊT",
  ],
  opt_in: ["START", "UNSTOP", "YES"],
  help: ["HELP", "INFO", "AIDE"],
} as const;

const said = fc.constantFrom(
  ...Object.entries(words).flatMap(([keyword, all]) => all.map((word) => ({ keyword, word }))),
);
/** Blanks, punctuation, emoji, and marks that nobody sees, such as those of right-to-left text. */
const around = fc
  .array(
    fc.oneof(
      fc.constantFrom(" ", "\n", "\u00a0", ".", "!", "…", ")", '"', "“", "*"),
      fc.constantFrom("🛑", "👍🏽", "❤️", "\u200b", "\u200f", "\u2068", "\u2069", "\ufeff"),
    ),
    { maxLength: 5 },
  )
  .map((parts) => parts.join(""));

/** A word in any mixture of cases. */
const mixed = ({
  word,
  keyword,
}: {
  word: string;
  keyword: string;
}): fc.Arbitrary<{ text: string; keyword: string }> =>
  fc.array(fc.boolean(), { minLength: word.length, maxLength: word.length }).map((up) => ({
    keyword,
    text: [...word].map((c, i) => (up[i] === true ? c : c.toLowerCase())).join(""),
  }));

describe("a consent keyword", () => {
  it("is recognized in any case, whatever is around it that is no letter or digit", () => {
    fc.assert(
      fc.property(
        said.chain(mixed),
        around,
        around,
        fc.boolean(),
        ({ text, keyword }, before, after, isOptedOut) => {
          const counts = keyword !== "opt_in" || isOptedOut;
          expect(
            keywordOf(`${before}${text}${after}`, isOptedOut),
            "A keyword counts in any case, and an opt-in only after an opt-out.",
          ).toBe(counts ? keyword : null);
        },
      ),
    );
  });

  it("is recognized with any amount of blanks and punctuation", () => {
    for (const much of [" ".repeat(5_000), "!".repeat(5_000), " .".repeat(5_000)]) {
      expect([keywordOf(`STOP${much}`, false), suspectsOptOut(`STOP${much}`)]).toEqual([
        "opt_out",
        false,
      ]);
    }
    expect(keywordOf(`${" ".repeat(5_000)}stop`, false)).toBe("opt_out");
  });

  it.each([
    "ＳＴＯＰ！",
    "𝐒𝐓𝐎𝐏",
    "S\u200bTOP",
    "S.T.O.P.",
    "Stop all",
    "OPT-OUT",
    "opt  out",
    "OPT\u00a0OUT",
    "ARRE\u0302T",
  ])("%j opts out", (text) => {
    expect([keywordOf(text, false), suspectsOptOut(text)]).toEqual(["opt_out", false]);
  });

  it("must be the whole message", () => {
    const other = fc
      .stringMatching(/^[a-z0-9]{1,10}$/)
      // STOP ALL and UN-STOP are keywords.
      .filter((word) => word !== "all" && word !== "un");
    fc.assert(
      fc.property(
        said.chain(mixed),
        other,
        fc.boolean(),
        fc.boolean(),
        ({ text }, word, first, isOptedOut) => {
          expect(
            keywordOf(first ? `${word} ${text}` : `${text} ${word}`, isOptedOut),
            "A keyword with another word is no keyword.",
          ).toBeNull();
        },
      ),
    );
  });

  it.each(["Re: move", "re:move", "St: art"])("is not what a colon parts: %s", (text) => {
    expect([keywordOf(text, true), suspectsOptOut(text)]).toEqual([null, false]);
  });

  it.each(["STOP:", ":stop:", "Stop :)"])("may have colons around it: %s", (text) => {
    expect(keywordOf(text, false)).toBe("opt_out");
  });

  it.each(["Yes!", "start"])(
    "%s opts a contact in that has opted out, and otherwise means nothing",
    (text) => {
      expect(keywordOf(text, true)).toBe("opt_in");
      expect(keywordOf(text, false)).toBeNull();
    },
  );
});

describe("an opt-out is suspected", () => {
  it.each([
    "please stop texting me",
    "Stop it!!",
    "no, stop.",
    "ok stop now pls",
    "I said stop",
    "stop stop stop",
    "\u2068please un\u00adsubscribe me\u2069",
    "I revoke my consent",
    "Please opt me out of this",
    "Unsubscribe me",
    "How do I unsubscribe?",
    "Take me off your list",
    "Remove my number please",
    "Don’t message me again",
    "do not text me",
    "Hi, can you stop sending these? Thanks",
    "no more texts",
    "Wrong person. Leave me alone!",
    "lose my number",
    "stpo",
    "Sotp.",
    "STOPPP",
    "unsubcribe",
    "unsbuscirbe",
    "unsuscribe pls",
  ])("%s", (text) => {
    expect(suspectsOptOut(text)).toBe(true);
  });

  it.each([
    "don't stop",
    "Please don’t stop texting me",
    "The bus stop is closed",
    "bus stop",
    "Stop by tomorrow?",
    "Stop at 5th street",
    "I can't stop laughing",
    "never stop",
    "shop",
    "top",
    "step",
    "spot",
    "cancel my order",
    "by the end of the day",
    "subscribe",
    "I want to subscribe",
    "don't unsubscribe me",
    "If you don't text me by five I'll leave",
    "why don't you text me?",
    "remove the onions please",
    "undecided",
    "more texts please",
    "",
  ])("not: %s", (text) => {
    expect(suspectsOptOut(text)).toBe(false);
  });

  it("not for keywords, and not for the engine's own texts, which another engine may receive", () => {
    for (const word of [...words.opt_out, ...words.opt_in, ...words.help]) {
      expect(suspectsOptOut(word)).toBe(false);
    }
    for (const text of [standardConsent.optOutText, standardConsent.optInText]) {
      expect([keywordOf(text, true), suspectsOptOut(text)]).toEqual([null, false]);
    }
  });

  it("in linear time for every text", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 3_000 }), (text) => {
        expect(typeof suspectsOptOut(text), "Every text gets an answer.").toBe("boolean");
      }),
    );
  });
});
