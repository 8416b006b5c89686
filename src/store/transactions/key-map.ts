import type { KeyValue } from "../../ports/index.ts";

/** Where a key ends: its value, and the branches of the keys that continue it. */
interface Branch<V> {
  value: V | undefined;
  next: Map<KeyValue, Branch<V>> | undefined;
}

/**
 * A map whose keys are lists. It is a tree with a level for each part of a key, so a look-up builds
 * no text. To write a key as one string and hash it takes several times longer. A key that was
 * deleted keeps its branch.
 */
export class KeyMap<V> {
  readonly #root: Branch<V> = emptyBranch();

  get(key: readonly KeyValue[]): V | undefined {
    let branch: Branch<V> | undefined = this.#root;
    for (const part of key) {
      branch = branch.next?.get(part);
      if (branch === undefined) return undefined;
    }
    return branch.value;
  }

  /** Returns the value that the key had before. */
  set(key: readonly KeyValue[], value: V): V | undefined {
    const branch = this.#branch(key);
    const before = branch.value;
    branch.value = value;
    return before;
  }

  /** Returns the value of a key. A key that has none gets the value that `make` returns. */
  getOrInsert(key: readonly KeyValue[], make: () => V): V {
    return (this.#branch(key).value ??= make());
  }

  delete(key: readonly KeyValue[]): void {
    let branch: Branch<V> | undefined = this.#root;
    for (const part of key) branch = branch?.next?.get(part);
    if (branch !== undefined) branch.value = undefined;
  }

  /** Returns all values, in no order. */
  values(): V[] {
    const found: V[] = [];
    collect(this.#root, found);
    return found;
  }

  #branch(key: readonly KeyValue[]): Branch<V> {
    let branch = this.#root;
    for (const part of key) {
      branch.next ??= new Map<KeyValue, Branch<V>>();
      let next = branch.next.get(part);
      if (next === undefined) branch.next.set(part, (next = emptyBranch()));
      branch = next;
    }
    return branch;
  }
}

const emptyBranch = <V>(): Branch<V> => ({ value: undefined, next: undefined });

function collect<V>({ value, next }: Branch<V>, found: V[]): void {
  if (value !== undefined) found.push(value);
  for (const branch of next?.values() ?? []) collect(branch, found);
}
