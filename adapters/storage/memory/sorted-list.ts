/** How many entries lie in one array: moving so many at an insertion costs less than finding the place. */
const chunkSize = 256;

interface Entry<V> {
  readonly key: string;
  readonly value: V;
}

/**
 * Entries in the order of their keys, in arrays of bounded length. Not a library's tree: the one that is kept well
 * enough is CommonJS whose default export Node and the test runners unwrap differently.
 */
export class SortedList<V> {
  readonly #chunks: Entry<V>[][] = [[]];

  /** Puts an entry in, or in the place of the one with an equal key. */
  set(key: string, value: V): void {
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at] ?? [];
    const place = this.#placeIn(chunk, key);
    const there = chunk[place];
    chunk.splice(place, there?.key === key ? 1 : 0, { key, value });
    if (chunk.length > chunkSize) {
      // What is appended in order leaves full arrays behind, what is strewn about leaves halves.
      const half =
        at === this.#chunks.length - 1 && place === chunkSize ? chunkSize : chunkSize / 2;
      this.#chunks.splice(at + 1, 0, chunk.splice(half));
    }
  }

  delete(key: string): void {
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at] ?? [];
    const place = this.#placeIn(chunk, key);
    if (chunk[place]?.key !== key) return;
    chunk.splice(place, 1);
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.splice(at, 1);
  }

  /** The first entry that is not below `key`. */
  firstFrom(key: string): Entry<V> | undefined {
    const chunk = this.#chunks[this.#chunkOf(key)] ?? [];
    return chunk[this.#placeIn(chunk, key)];
  }

  /** Entries from `key` on, upwards. The list must not change meanwhile. */
  *upFrom(key: string): Generator<Entry<V>> {
    let at = this.#chunkOf(key);
    let place = this.#placeIn(this.#chunks[at] ?? [], key);
    for (; at < this.#chunks.length; at++, place = 0) {
      const chunk = this.#chunks[at] ?? [];
      for (let i = place; i < chunk.length; i++) {
        const entry = chunk[i];
        if (entry !== undefined) yield entry;
      }
    }
  }

  /** Entries below `key`, downwards. The list must not change meanwhile. */
  *downFrom(key: string): Generator<Entry<V>> {
    let at = this.#chunkOf(key);
    let place = this.#placeIn(this.#chunks[at] ?? [], key);
    for (; at >= 0; at--, place = this.#chunks[at]?.length ?? 0) {
      const chunk = this.#chunks[at] ?? [];
      for (let i = place - 1; i >= 0; i--) {
        const entry = chunk[i];
        if (entry !== undefined) yield entry;
      }
    }
  }

  /** The first array whose last key is not below `key`; the last array when all are. */
  #chunkOf(key: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      const last = this.#chunks[middle]?.at(-1);
      if (last === undefined || last.key < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The place of the first entry of an array that is not below `key`. */
  #placeIn(chunk: readonly Entry<V>[], key: string): number {
    let low = 0;
    let high = chunk.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const entry = chunk[middle];
      if (entry !== undefined && entry.key < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
