/** A storage whose calls take real time. The virtual clock stands still during each call. */
import { holdTime } from "../../../adapters/testing/simulated/settle.ts";
import type { EngineLocks } from "../../../src/ports/engine-locks.ts";
import type { Group, StoragePort, Write } from "../../../src/ports/storage.ts";

/**
 * `onCommit` is called after each commit. `watch` replaces the storage's notifications. Rate limits
 * are left to the engine, since the storage's own clock is not the virtual one.
 */
export function realTimeStorage<Tx extends object | undefined>(
  port: StoragePort<Tx>,
  onCommit: () => void,
  watch: (listener: () => void) => () => void,
): StoragePort<Tx> {
  const group = (inner: Group): Group => ({
    read: (lookups) => held(inner.read(lookups)),
    abort: () => held(inner.abort()),
    async commit(writes: readonly Write[]) {
      await held(inner.commit(writes));
      onCommit();
    },
  });
  return {
    capabilities: port.capabilities,
    open: (schema) => held(port.open(schema)),
    migrate: (schema) => held(port.migrate(schema)),
    migrationSql: (schema, from) => port.migrationSql(schema, from),
    begin: (how) => group(port.begin(how)),
    host: (handle) => {
      if (port.host === undefined) throw new TypeError("the storage cannot join a transaction");
      return group(port.host(handle));
    },
    async transaction<T>(work: (handle: Tx) => Promise<T>): Promise<T> {
      if (port.transaction === undefined) throw new TypeError("the storage has no transactions");
      // Begin and commit take real time. The work inside may wait for virtual time.
      let release = holdTime();
      try {
        return await port.transaction(async (handle) => {
          release();
          try {
            return await work(handle);
          } finally {
            release = holdTime();
          }
        });
      } finally {
        release();
        onCommit();
      }
    },
    isInsideTransaction: () => port.isInsideTransaction?.() ?? false,
    reader: {
      get: (lookups) => held(port.reader.get(lookups)),
      range: (range) => held(port.reader.range(range)),
      search: (searches) => held(port.reader.search(searches)),
    },
    watch,
    ...(port.engineLocks === undefined ? {} : { engineLocks: locks(port.engineLocks) }),
    yieldToEventLoop: () => port.yieldToEventLoop(),
    close: () => held(port.close()),
  };
}

function locks(inner: EngineLocks): EngineLocks {
  return {
    graceMs: inner.graceMs,
    take: async () => {
      const lock = await held(inner.take());
      return (
        lock && { id: lock.id, isHeld: () => lock.isHeld(), release: () => held(lock.release()) }
      );
    },
    findFree: (ids) => held(inner.findFree(ids)),
  };
}

/** Virtual time stands still until the call settles. */
export function held<T>(call: T): T {
  if (!(call instanceof Promise)) return call;
  const release = holdTime();
  call.then(release, release);
  return call;
}
