import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { MessagingEngine } from "../../adapters/entry.ts";
import { postgres } from "../../adapters/storage/postgres/index.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { silent } from "../../src/ports/logger.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { temporaryFile } from "../adapters/storage/sqlite/files.ts";
import { carrier, type Carrier } from "../support/engines/carrier.ts";
import { eventually } from "../support/eventually.ts";
import { database, migrated } from "../support/postgres/test-database.ts";

interface Place {
  connect(): StoragePort;
  /** Lets a transaction of the host application lock what every command of the engine needs. */
  lock(): Promise<{ unlock(): Promise<void> }>;
}

const places: readonly { readonly name: string; readonly open: () => Promise<Place> }[] = [
  {
    name: "SQLite",
    async open() {
      const file = await temporaryFile();
      return {
        connect: () => sqlite({ file }),
        async lock() {
          const other = new DatabaseSync(file);
          onTestFinished(() => other.close());
          other.exec("BEGIN IMMEDIATE");
          return { unlock: async () => other.exec("ROLLBACK") };
        },
      };
    },
  },
  {
    name: "PostgreSQL",
    async open() {
      const where = await database(await migrated());
      return {
        connect: () => postgres({ pool: where.pool() }),
        async lock() {
          const other = await where.pool().connect();
          onTestFinished(() => other.release(true));
          await other.query("BEGIN; LOCK TABLE tidings_jobs");
          return { unlock: async () => void (await other.query("ROLLBACK")) };
        },
      };
    },
  },
];

describe.each(places)("on $name, while another transaction holds a lock, an engine", ({ open }) => {
  async function started(storage: StoragePort, line: Carrier): Promise<MessagingEngine> {
    const engine = new MessagingEngine({ storage, transports: [line], logger: silent });
    onTestFinished(() => engine.stop({ deadlineMs: 0 }));
    await engine.start();
    return engine;
  }
  const hello = { to: "+15005550001", body: "Hello" };

  it("stops within seconds of its deadline, and the next one continues its work", async () => {
    const place = await open();
    const asked = Promise.withResolvers<void>();
    const hangs = carrier({
      send(_, { signal }) {
        asked.resolve();
        return new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("aborted")));
        });
      },
    });
    const one = await started(place.connect(), hangs);
    await one.messages.send(hello);
    await asked.promise;
    const { unlock } = await place.lock();
    const refused = one.messages.send(hello).catch((error: unknown) => error);
    // One wait for the lock takes 5 s, and on PostgreSQL up to 15. A stop makes several, one after
    // the other.
    const stopped = one.stop({ deadlineMs: 100 }).then(() => "stopped");
    expect(await Promise.race([stopped, sleep(8_000, "waits")])).toBe("stopped");
    expect(await refused).toMatchObject({ code: "storage_unavailable" });
    await unlock();
    const line = carrier();
    const two = await started(place.connect(), line);
    await two.messages.send({ to: "+15005550002", body: "Next" });
    await eventually(() => expect(line.calls).toHaveLength(1));
    const { data } = await two.messages.list({ limit: 10 });
    expect(data).toHaveLength(2);
  });

  it("stops in time also if another one on the same storage object stops too", async () => {
    const place = await open();
    const storage = place.connect();
    const both = [await started(storage, carrier()), await started(storage, carrier())];
    await place.lock();
    const sending = both.map((each) =>
      each.messages.send(hello).then(
        () => "sent",
        () => "refused",
      ),
    );
    const stopping = both.map((each) => each.stop({ deadlineMs: 100 }));
    const stopped = Promise.all(stopping).then(() => "stopped");
    expect(await Promise.race([stopped, sleep(8_000, "waits")])).toBe("stopped");
    expect(await Promise.all(sending)).toEqual(["refused", "refused"]);
  });
});
