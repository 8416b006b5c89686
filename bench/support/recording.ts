/**
 * Records what an engine reads and writes at the storage port, so that it can be repeated without
 * it.
 */
import type { Access, Group, Lookup, StoragePort, Write } from "../../src/ports/storage.ts";
import {
  createContacts,
  deliver,
  dispatcherSettings,
  send,
  withEngineOn,
  type Recipients,
} from "./engines.ts";
import { concurrently } from "./measure.ts";

/** The reads and writes of one commit. */
export interface Recorded {
  readonly reads: readonly Lookup[];
  readonly writes: readonly Write[];
}

/** The work that is recorded: sends until they are accepted, or until they are delivered. */
export interface Recordable {
  readonly recipients: Recipients;
  readonly items: number;
  /** How many sends wait at a time. */
  readonly atOnce: number;
  readonly until: "accepted" | "delivered";
}

export interface Recording {
  /** The commits that set up the contacts. */
  readonly before: readonly Recorded[];
  /** The commits of the work. */
  readonly work: readonly Recorded[];
}

export function record(
  storage: StoragePort,
  { recipients, items, atOnce, until }: Recordable,
): Promise<Recording> {
  const recorded: Recorded[] = [];
  return withEngineOn(
    recording(storage, recorded),
    async (engine) => {
      await createContacts(engine);
      const before = recorded.splice(0);
      if (until === "delivered") {
        await deliver(engine, recipients, items, atOnce, () => before.push(...recorded.splice(0)));
      } else await concurrently(items, atOnce, (i) => send(engine, recipients, i));
      return { before, work: recorded.splice(0) };
    },
    dispatcherSettings,
  );
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
