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

/** The part of a map or a cache that `getOrInsert` uses. */
interface MapLike<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: NoInfer<V>): unknown;
}

/** Returns the value of a key. A key that has none gets the value that `make` returns. */
export function getOrInsert<K, V>(map: MapLike<K, V>, key: K, make: () => NoInfer<V>): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
