import type { Random } from "../ports/index.ts";

/**
 * Bytes that one seed repeats exactly, on every machine. Any number is a seed, and different numbers are different ones.
 * For tests alone: who has seen some of the bytes can tell the rest.
 */
export function seededRandom(seed: number): Random {
  const next = words(seed);
  return {
    bytes(count) {
      const drawn = new Uint8Array(count);
      for (let at = 0, word = 0; at < count; at += 1, word >>>= 8) {
        if (at % 4 === 0) word = next();
        drawn[at] = word;
      }
      return drawn;
    },
  };
}

/** Chris Doty-Humphrey's sfc32 (PractRand): 128 bits of state, words of 32 bits. */
function words(seed: number): () => number {
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
  // The first words still show the seed.
  for (let round = 0; round < 16; round += 1) next();
  return next;
}
