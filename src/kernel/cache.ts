import { LRUCache } from "lru-cache";

/**
 * Creates a cache that holds at most `max` entries and drops the least recently used one first.
 * With the library's option `max` it would allocate all entries at once, which takes milliseconds.
 * The total size has the same bound, and the memory grows with the entries.
 */
export function boundedCache<Key extends string, Value extends object | number | boolean>(
  max: number,
): LRUCache<Key, Value> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
}
