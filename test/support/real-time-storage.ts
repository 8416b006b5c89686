/**
 * A storage whose calls take real time, for engines on a virtual clock. The virtual clock stands
 * still while a call is under way: it advances only when the event loop is idle, and this keeps the
 * event loop busy.
 */
import { setImmediate } from "node:timers/promises";
import type { Group, StoragePort, Write } from "../../src/ports/storage.ts";

/**
 * `onCommit` is called after each commit. `watch` replaces the storage's notifications. Rate limits
 * are left to the engine, since the storage's own clock is not the virtual one.
 */
export function realTimeStorage(
  port: StoragePort,
  onCommit: () => void,
  watch: (listener: () => void) => () => void,
): StoragePort {
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
    async transaction<T>(work: (handle: object) => Promise<T>): Promise<T> {
      if (port.transaction === undefined) throw new TypeError("the storage has no transactions");
      // Beginning and ending take real time. The work in between may wait for virtual time.
      let release = hold();
      try {
        return await port.transaction(async (handle) => {
          release();
          try {
            return await work(handle);
          } finally {
            release = hold();
          }
        });
      } finally {
        release();
        onCommit();
      }
    },
    reader: {
      get: (lookups) => held(port.reader.get(lookups)),
      range: (range) => held(port.reader.range(range)),
      search: (searches) => held(port.reader.search(searches)),
    },
    watch,
    turn: () => port.turn(),
    close: () => held(port.close()),
  };
}

let callsUnderWay = 0;
/** A second loop would double the time of each event-loop turn. */
let isLooping = false;

/** Holds virtual time until the call settles. Returns the call itself. */
export function held<T>(call: T): T {
  if (!(call instanceof Promise)) return call;
  const release = hold();
  call.then(release, release);
  return call;
}

/** Holds virtual time. Returns a function that releases it. */
function hold(): () => void {
  let isHeld = true;
  callsUnderWay++;
  if (!isLooping) void keepEventLoopBusy();
  return () => {
    if (isHeld) callsUnderWay--;
    isHeld = false;
  };
}

/** Sleeps briefly before each turn, to leave the processor to the database server. */
async function keepEventLoopBusy(): Promise<void> {
  isLooping = true;
  while (callsUnderWay > 0) {
    Atomics.wait(sleepCell, 0, 0, sleepMs);
    await setImmediate();
  }
  isLooping = false;
}
const sleepMs = 0.1;
const sleepCell = new Int32Array(new SharedArrayBuffer(4));
