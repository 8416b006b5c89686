/** What an engine reads and writes, as it comes to the storage port: to be done again without the engine. */
import type { Access, Group, Lookup, StoragePort, Write } from "../src/ports/storage.ts";
import { meet, type Recipients, send, withEngineOn } from "./engines.ts";
import { concurrently } from "./measure.ts";

/** What one commit read and wrote. */
export interface Recorded {
  readonly reads: readonly Lookup[];
  readonly writes: readonly Write[];
}

export interface Recording {
  readonly before: readonly Recorded[];
  readonly sends: readonly Recorded[];
  readonly items: number;
}

/** Records `items` sends, `atOnce` at a time, and all that came before them. */
export function record(
  storage: StoragePort,
  recipients: Recipients,
  items: number,
  atOnce: number,
): Promise<Recording> {
  const recorded: Recorded[] = [];
  return withEngineOn(recording(storage, recorded), async (engine) => {
    await meet(engine);
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
    turn: () => port.turn(),
    close: () => port.close(),
  };
}
