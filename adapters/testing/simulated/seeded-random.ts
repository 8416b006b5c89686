import { option, optionsObject, parseOptions } from "../../../src/kernel/index.ts";
import type { Random } from "../../../src/ports/index.ts";

/** The option `seed`: any number. */
export const seedOption = option<number>("a number", (seed) => typeof seed === "number");

const argumentsSchema = optionsObject({ seed: seedOption });

/**
 * Random bytes that depend only on the seed. Any number is a seed. Different numbers give different
 * bytes. For tests only: the bytes are predictable.
 * @throws TidingsError `invalid_option` when the seed is not a number
 */
export function seededRandom(seed: number): Random {
  parseOptions("seededRandom: ", argumentsSchema, { seed });
  const nextWord = sfc32(seed);
  return {
    bytes(count) {
      const drawn = new Uint8Array(count);
      for (let at = 0, word = 0; at < count; at += 1, word >>>= 8) {
        if (at % 4 === 0) word = nextWord();
        drawn[at] = word;
      }
      return drawn;
    },
  };
}

/** The generator sfc32 by Chris Doty-Humphrey (PractRand): 128 bits of state, 32-bit words. */
function sfc32(seed: number): () => number {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, seed);
  let a = bits.getInt32(0);
  let b = bits.getInt32(4);
  let c = 0;
  let counter = 1;
  const next = (): number => {
    const word = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + word) | 0;
    return word >>> 0;
  };
  // The first words are correlated with the seed.
  for (let round = 0; round < 16; round += 1) next();
  return next;
}
