import fc from "fast-check";

const surrogates = { first: 0xd800, count: 0x800 };

/**
 * The characters of any text, for `fc.string({ unit: anyCharacter })`. The unit `"binary"` makes
 * the same texts, but first maps each of a million characters to its number, in each process.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat({ max: 0x10ffff - surrogates.count }).map(
  (n) => String.fromCodePoint(n < surrogates.first ? n : n + surrogates.count),
  (text) => {
    const [character = "", more] = String(text);
    const code = character.codePointAt(0);
    if (code === undefined || more !== undefined || !character.isWellFormed()) {
      throw new Error("This is not one character.");
    }
    return code < surrogates.first ? code : code - surrogates.count;
  },
);
