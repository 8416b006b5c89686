import type { KeyValue } from "../../ports/index.ts";
import { KeyMap } from "./key-map.ts";

/**
 * A map that forgets what was inserted long ago. It has two generations. After `size` insertions,
 * the new one becomes the old one, and the former old one is dropped.
 * So it has at least the last `size` insertions, and at most twice as many. A key that is deleted
 * still counts as one, since it keeps its memory.
 */
export class Generations<V> {
  readonly #size: number;
  #new = new KeyMap<V>();
  #old = new KeyMap<V>();
  /** The number of keys that were inserted into the new generation. */
  #count = 0;

  /** `size`: the number of insertions in a generation. */
  constructor(size: number) {
    this.#size = size;
  }

  get(key: readonly KeyValue[]): V | undefined {
    return this.#new.get(key) ?? this.#old.get(key);
  }

  set(key: readonly KeyValue[], value: V): void {
    if (this.#new.set(key, value) === undefined) this.#countInsertion();
  }

  delete(key: readonly KeyValue[]): void {
    this.#new.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#new = new KeyMap<V>();
    this.#old = new KeyMap<V>();
    this.#count = 0;
  }

  #countInsertion(): void {
    if (++this.#count < this.#size) return;
    this.#old = this.#new;
    this.#new = new KeyMap<V>();
    this.#count = 0;
  }
}
