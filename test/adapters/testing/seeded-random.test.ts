import fc from "fast-check";
import { expect, test } from "vitest";
import { seededRandom, simulated } from "../../../adapters/testing/index.ts";
import { idSource } from "../../../src/kernel/ids.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

test("a seed repeats the same draws of all sizes", () => {
  fc.assert(
    fc.property(fc.double(), fc.array(fc.nat({ max: 40 })), (seed, counts) => {
      const [one, other] = [seededRandom(seed), seededRandom(seed)];
      for (const count of counts) {
        const drawn = one.bytes(count);
        expect(drawn, "A draw has as many bytes as requested.").toHaveLength(count);
        expect(hex(other.bytes(count)), "The same seed gives the same bytes.").toBe(hex(drawn));
      }
    }),
  );
});

test("different seeds draw different bytes", () => {
  const seeds = [0, 1, 2, -1, 0.5, 2 ** 32, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER];
  expect(new Set(seeds.map((seed) => hex(seededRandom(seed).bytes(16)))).size).toBe(seeds.length);
});

test("the bytes of a seed are the same on every machine and in every version", () => {
  expect(hex(seededRandom(1).bytes(16))).toBe("341c6faeda919be8889b35f15a495a9c");
});

test("bytes are spread evenly", () => {
  const counts = Array.from({ length: 256 }, () => 0);
  const draws = 256_000;
  for (const byte of seededRandom(7).bytes(draws)) counts[byte] = (counts[byte] ?? 0) + 1;
  const expected = draws / 256;
  const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  // 255 degrees of freedom: mean 255, and above 330 once in a thousand.
  expect(chiSquare).toBeLessThan(330);
});

test("one seed gives the same ids at the same times", async () => {
  const history = async () => {
    const { clock, random } = simulated({ seed: 5 });
    const drawId = idSource(clock, random);
    const ids = [drawId("msg"), drawId("msg")];
    await clock.advance(10);
    return [...ids, drawId("ct")];
  };
  expect(await history()).toEqual(await history());
});
