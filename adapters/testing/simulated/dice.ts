import { seededRandom } from "./seeded-random.ts";

/** Random choices from a seed. The same seed draws the same choices. */
export class Dice {
  readonly #random;

  /**
   * Any number is a seed.
   * @throws TidingsError `invalid_option` when the seed is not a number
   */
  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** From 0 up to, but not including, 1. */
  number(): number {
    const [a = 0, b = 0, c = 0, d = 0] = this.#random.bytes(4);
    return (a + b * 2 ** 8 + c * 2 ** 16 + d * 2 ** 24) / 2 ** 32;
  }

  /** True with the given probability. Draws nothing if that is 0. */
  chance(probability: number): boolean {
    return probability > 0 && this.number() < probability;
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.number() * (max - min + 1));
  }

  /** One item, each equally likely. */
  pick<const T extends readonly [unknown, ...unknown[]]>(from: T): T[number];
  /** One item, each equally likely. Undefined if there is none. */
  pick<T>(from: readonly T[]): T | undefined;
  pick<T>(from: readonly T[]): T | undefined {
    return from[this.between(0, from.length - 1)];
  }

  /**
   * One item, likely in proportion to its weight.
   * @throws RangeError when no item has a positive weight
   */
  weighted<T extends { readonly weight: number }>(from: readonly T[]): T {
    let left = this.number() * from.reduce((sum, { weight }) => sum + weight, 0);
    for (const each of from) {
      left -= each.weight;
      if (left < 0) return each;
    }
    throw new RangeError("weighted() needs at least one item with a positive weight");
  }
}
