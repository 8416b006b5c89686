/** The part of a map that `getOrInsert` uses. */
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
