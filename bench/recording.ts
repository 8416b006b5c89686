/**
 * Records what an engine reads and writes at the storage port, so that it can be repeated without
 * it.
 */
import type { Access, Group, Lookup, StoragePort, Write } from "../src/ports/storage.ts";
import { createContacts, type Recipients, send, withEngineOn } from "./engines.ts";
import { concurrently } from "./measure.ts";

/** The reads and writes of one commit. */
export interface Recorded {
  readonly reads: readonly Lookup[];
  readonly writes: readonly Write[];
}

export interface Recording {
  readonly before: readonly Recorded[];
  readonly sends: readonly Recorded[];
  readonly items: number;
}

/** Records `items` sends, `atOnce` at a time, and the commits before them. */
export function record(
  storage: StoragePort,
  recipients: Recipients,
  items: number,
  atOnce: number,
): Promise<Recording> {
  const recorded: Recorded[] = [];
  return withEngineOn(recording(storage, recorded), async (engine) => {
    await createContacts(engine);
    const before = recorded.splice(0);
    await concurrently(items, atOnce, (i) => send(engine, recipients, i));
    return { before, sends: recorded.splice(0), items };
  });
}

function recording(port: StoragePort, recorded: Recorded[]): StoragePort {
  const begin = (how?: Access): Group => {
    const group = port.begin(how);
    const reads: Lookup[] = [];
    return {
      read(lookups) {
        reads.push(...lookups);
        return group.read(lookups);
      },
      commit(writes) {
        recorded.push({ reads, writes });
        return group.commit(writes);
      },
      abort: () => group.abort(),
    };
  };
  return {
    capabilities: port.capabilities,
    reader: port.reader,
    open: (to) => port.open(to),
    migrate: (to) => port.migrate(to),
    migrationSql: (to, from) => port.migrationSql(to, from),
    begin,
    yieldToEventLoop: () => port.yieldToEventLoop(),
    close: () => port.close(),
  };
}
