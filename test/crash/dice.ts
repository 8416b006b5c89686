import { seededRandom } from "../../adapters/testing/simulated/seeded-random.ts";

/**
 * Random choices from a seed. The same seed draws the same numbers, but the engines run in real
 * time, so a run is not repeated exactly.
 */
export class Dice {
  readonly #draw: () => number;

  constructor(seed: number) {
    const random = seededRandom(seed);
    this.#draw = () => new DataView(random.bytes(4).buffer).getUint32(0) / 2 ** 32;
  }

  /** From `low` up to, but not including, `high`. */
  between(low: number, high: number): number {
    return low + this.#draw() * (high - low);
  }

  whole(low: number, high: number): number {
    return Math.floor(this.between(low, high));
  }

  /** True with a probability of `share` percent. */
  percent(share: number): boolean {
    return this.#draw() * 100 < share;
  }

  /** One of the names, likely in proportion to its weight. */
  pick<T extends string>(weights: Readonly<Record<T, number>>): T {
    const entries = Object.entries(weights) as [T, number][];
    let left = this.#draw() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    throw new RangeError("pick() needs at least one name with a positive weight");
  }
}
