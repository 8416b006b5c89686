import type { Group, StoragePort, Write } from "../../src/ports/storage.ts";

/** The storage, which calls `before` ahead of each commit: a commit that other commits overtake. */
export function beforeCommits(
  storage: StoragePort,
  before: (writes: readonly Write[]) => Promise<void>,
): StoragePort {
  const begin: StoragePort["begin"] = (how) => {
    const group = storage.begin(how);
    const commit: Group["commit"] = async (writes) => {
      await before(writes);
      return group.commit(writes);
    };
    return withMethods(group, { commit });
  };
  return withMethods(storage, { begin });
}

/** The object with some of its methods replaced. */
const withMethods = <T extends object>(object: T, methods: Partial<T>): T =>
  new Proxy(object, {
    get(target, name) {
      const value: unknown = Reflect.get(name in methods ? methods : target, name);
      if (typeof value !== "function") return value;
      return (...args: readonly unknown[]): unknown => Reflect.apply(value, target, args);
    },
  });
