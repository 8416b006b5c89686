import { seededRandom } from "../../src/testing/seeded-random.ts";

/** What chance decides. One seed throws the same numbers; what meets them is real time, so a run is not repeated exactly. */
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

  /** True in so many of a hundred. */
  percent(share: number): boolean {
    return this.#draw() * 100 < share;
  }

  /** One of the names, each as likely as its weight of the sum says. */
  pick<T extends string>(weights: Readonly<Record<T, number>>): T {
    const entries = Object.entries(weights) as [T, number][];
    let left = this.#draw() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    throw new RangeError("nothing to pick from");
  }
}
