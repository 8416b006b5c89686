/** One way to do the same work. Made afresh for each round. */
export interface Contender {
  readonly name: string;
  /** Does the work; answers how much it did in how many milliseconds, without what it took to get ready. */
  run(): Promise<Work>;
}

export interface Work {
  readonly items: number;
  readonly ms: number;
}

/**
 * The median rate of each contender, in items a second. In each round every contender has its turn, so that what else the machine
 * does hits all of them alike; every other round they go in the opposite order.
 */
export async function medians(
  contenders: readonly Contender[],
  rounds: number,
): Promise<ReadonlyMap<string, number>> {
  const rates = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const { name, run } of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const { items, ms } = await run();
      rates.get(name)?.push((items * 1_000) / ms);
    }
  }
  return new Map([...rates].map(([name, each]) => [name, median(each)]));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = low] =
    sorted.length % 2 === 0 ? sorted.slice(middle - 1, middle + 1) : sorted.slice(middle);
  return sorted.length % 2 === 0 ? (low + high) / 2 : low;
}

/** Runs `work` for 0, 1 … `times` - 1, so many at a time. Answers how long it took, in milliseconds. */
export async function concurrently(
  times: number,
  atOnce: number,
  work: (i: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  const began = performance.now();
  const one = async (): Promise<void> => {
    while (next < times) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return performance.now() - began;
}
