import { type Group, silent, type StoragePort, type Write } from "../../ports/index.ts";
import { Store } from "../../store/index.ts";
import { seededRandom } from "../seeded-random.ts";
import { virtualClock } from "../virtual-clock.ts";
import { schema } from "./collections.ts";

export type Cases = { readonly [sentence: string]: (ports: OpenPorts) => Promise<void> };

/** Makes connections for one test, and closes them all at its end. */
export class OpenPorts {
  readonly #connect: () => StoragePort;
  readonly #opened: { close(): Promise<void> }[] = [];

  constructor(connect: () => StoragePort) {
    this.#connect = connect;
  }

  async port(): Promise<StoragePort> {
    const port = this.#connect();
    this.#opened.push(port);
    await port.open(schema);
    return port;
  }

  /** `beforeCommit` runs before each commit reaches the storage: what others do in that moment, or a wait. */
  async store(beforeCommit?: (writes: readonly Write[]) => void | Promise<void>): Promise<Store> {
    const port = this.#connect();
    const store = new Store({
      port: beforeCommit === undefined ? port : intercepted(port, beforeCommit),
      schema,
      clock: virtualClock(),
      random: seededRandom(this.#opened.length),
      logger: silent,
    });
    this.#opened.push(store);
    await store.open();
    return store;
  }

  async close(): Promise<void> {
    for (const each of this.#opened.toReversed()) await each.close();
  }
}

/** Commits as one group. */
export async function write(port: StoragePort, ...writes: readonly Write[]): Promise<void> {
  await port.begin().commit(writes);
}

function intercepted(
  port: StoragePort,
  beforeCommit: (writes: readonly Write[]) => void | Promise<void>,
): StoragePort {
  return {
    capabilities: port.capabilities,
    reader: port.reader,
    open: (described) => port.open(described),
    migrate: (described) => port.migrate(described),
    migrationSql: (described, from) => port.migrationSql(described, from),
    begin(how): Group {
      const group = port.begin(how);
      return {
        read: (lookups) => group.read(lookups),
        abort: () => group.abort(),
        async commit(writes) {
          await beforeCommit(writes);
          await group.commit(writes);
        },
      };
    },
    turn: () => port.turn(),
    close: () => port.close(),
  };
}
