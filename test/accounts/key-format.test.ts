import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { drawKey, hashKey, isWellFormedKey } from "../../src/accounts/keys/key-format.ts";
import type { Random } from "../../src/ports/random.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const mode = fc.constantFrom("live" as const, "sandbox" as const);

/** A random source that repeats the given bytes. */
const bytesFrom = (source: ArrayLike<number>): Random => {
  let at = 0;
  return {
    bytes: (count) => Uint8Array.from({ length: count }, () => source[at++ % source.length] ?? 0),
  };
};
const random = fc
  .uint8Array({ minLength: 32, maxLength: 64 })
  .filter((bytes) => bytes.some((byte) => byte < 248));

describe("an API key's text", () => {
  it("contains its mode and is recognized", () => {
    fc.assert(
      fc.property(mode, random, (of, bytes) => {
        const { text } = drawKey(of, bytesFrom(bytes));
        expect(text, `A key of the mode ${of} begins with its mode.`).toMatch(
          of === "live" ? /^tdg_live_[0-9A-Za-z]{38}$/ : /^tdg_test_[0-9A-Za-z]{38}$/,
        );
        expect(isWellFormedKey(text), "A key that was drawn is well-formed.").toBe(true);
      }),
    );
  });

  it("is rejected without a look-up if any one character is wrong", () => {
    const change = fc.tuple(
      mode,
      random,
      fc.nat(46),
      fc.constantFrom(...alphabet.split(""), "_", "-", " ", "é", "\n"),
    );
    fc.assert(
      fc.property(change, ([of, bytes, place, character]) => {
        const { text } = drawKey(of, bytesFrom(bytes));
        fc.pre(text[place] !== character);
        expect(
          isWellFormedKey(text.slice(0, place) + character + text.slice(place + 1)),
          `A key with another character at place ${place} is not recognized.`,
        ).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it("is rejected if it is cut, lengthened or of the other mode", () => {
    const { text } = drawKey("sandbox", bytesFrom([1, 2, 3]));
    for (const wrong of [
      "",
      text.slice(1),
      `${text}a`,
      `${text}\n`,
      ` ${text}`,
      text.replace("test", "live"),
    ]) {
      expect(isWellFormedKey(wrong)).toBe(false);
    }
  });

  it("ends with the CRC-32 of the rest, in base 62", () => {
    fc.assert(
      fc.property(mode, random, (of, bytes) => {
        const { text } = drawKey(of, bytesFrom(bytes));
        const number = text
          .slice(-6)
          .split("")
          .reduce((sum, digit) => sum * 62 + alphabet.indexOf(digit), 0);
        expect(number, `The last six characters of ${text} are the checksum of the others.`).toBe(
          crc32(text.slice(0, -6)),
        );
      }),
    );
  });

  it("draws each of the 62 characters equally often", () => {
    const counts = new Map<string, number>();
    const every = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const source = bytesFrom(every);
    // 31 keys of 32 characters use up four rounds of all 248 bytes that count.
    for (let drawn = 0; drawn < 31; drawn += 1) {
      for (const character of drawKey("live", source).text.slice(9, 41)) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    expect(counts.size).toBe(62);
    expect(new Set(counts.values())).toEqual(new Set([16]));
  });

  it("is stored as its SHA-256 and its last four characters", () => {
    const { text, hash, last_four } = drawKey("live", bytesFrom([7, 8, 9]));
    expect(hash).toBe(createHash("sha256").update(text).digest("hex"));
    expect(hash).toBe(hashKey(text));
    expect(text.endsWith(last_four)).toBe(true);
    expect(last_four).toHaveLength(4);
  });
});
