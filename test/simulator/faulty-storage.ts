import { TidingsError } from "../../src/kernel/errors.ts";
import {
  type Group,
  StorageConflict,
  type StoragePort,
  type Write,
} from "../../src/ports/storage.ts";
import { maxDelayMs } from "./faults.ts";
import { type Lifetime, never } from "./lifetime.ts";
import { describeWrites, idsIn } from "./describe-writes.ts";
import { SimulatedLocks } from "./simulated-locks.ts";
import type { World } from "./world.ts";

/**
 * One engine's connection to the shared storage. It behaves like a database over a network: calls
 * are slow, fail, or lose their answers, and commits conflict with those of others.
 */
export function faultyStorage(
  world: World,
  lifetime: Lifetime,
  crash: (why: string) => void,
): StoragePort {
  const { database, storage, maxYields, dice, clock } = world;
  let cuts = 0;
  let cutUntil = -Infinity;

  const connection = storage.connect({
    async onTheWay(what) {
      for (let left = dice.between(0, maxYields); left > 0; left--) {
        await database.yieldToEventLoop();
      }
      const { readDelayed, commitDelayed } = world.faults;
      if (what === "read" && dice.chance(readDelayed)) {
        await clock.sleep(dice.between(1, maxDelayMs.read));
      }
      if (what === "commit" && dice.chance(commitDelayed)) {
        await clock.sleep(dice.between(1, maxDelayMs.commit));
      }
    },
    onCommit(writes) {
      note(writes, "committed");
      world.onCommit(lifetime, writes);
    },
  });
  const locks = new SimulatedLocks(world, lifetime);
  void lifetime.ended.then(() => {
    connection.disconnect();
    locks.lose();
  });

  const note = (writes: readonly Write[], text: string): void =>
    world.trace.note(
      [lifetime.name, ...idsIn(writes)],
      `${lifetime.name} ${text}: ${describeWrites(writes)}`,
    );

  /** Makes a call. If the connection is lost meanwhile, the caller gets no answer. */
  const ask = async <T>(work: () => T | Promise<T>): Promise<T> => {
    if (clock.now() < cutUntil) throw unavailable("The storage cannot be reached.");
    if (dice.chance(world.faults.connectionLost)) {
      cuts++;
      cutUntil = clock.now() + dice.between(1, maxDelayMs.outage);
      lifetime.outages.push({ from: clock.now(), until: cutUntil });
      connection.disconnect();
      locks.loseUntil(cutUntil);
      world.trace.note([lifetime.name], `${lifetime.name} loses its connection`);
      throw unavailable("The connection was lost.");
    }
    const before = cuts;
    const lost = (): TidingsError => unavailable("The connection was lost before the answer came.");
    try {
      const answer = await work();
      if (cuts !== before) throw lost();
      return answer;
    } catch (error) {
      throw cuts === before ? error : lost();
    }
  };

  const read = <T>(work: () => T | Promise<T>): Promise<T> =>
    ask(() => {
      if (dice.chance(world.faults.readFails)) throw unavailable("The storage could not be read.");
      return work();
    });

  const commit = async (group: Group, writes: readonly Write[]): Promise<void> => {
    const { faults } = world;
    if (dice.chance(faults.crashAtCommit)) return crash("before a commit");
    if (dice.chance(faults.commitConflicts)) throw new StorageConflict("simulated");
    if (dice.chance(faults.commitFailsBefore)) {
      note(writes, "fails to commit");
      throw unavailable("Nothing was written.");
    }
    await group.commit(writes);
    if (dice.chance(faults.crashAtCommit)) return crash("after a commit, before its answer");
    if (dice.chance(faults.commitFailsAfter)) {
      note(writes, "does not learn that it committed");
      throw unavailable("The outcome of the commit is unknown.");
    }
    if (dice.chance(faults.commitStalled)) {
      note(writes, "stalls after its commit");
      const ms = dice.between(maxDelayMs.commit, maxDelayMs.stall);
      lifetime.outages.push({ from: clock.now(), until: clock.now() + ms });
      await clock.sleep(ms);
    }
  };

  return {
    capabilities: connection.capabilities,
    open: (schema) => lifetime.guard(read(() => database.open(schema))),
    migrate: (schema) => lifetime.guard(database.migrate(schema)),
    migrationSql: (schema, from) => database.migrationSql(schema, from),
    begin(how): Group {
      const group = connection.begin(how);
      return {
        read: (lookups) =>
          lifetime.isAlive ? lifetime.guard(read(() => group.read(lookups))) : never(),
        commit: (writes) =>
          lifetime.isAlive
            ? lifetime.guard(ask(() => commit(group, writes)).catch(endGroup(group)))
            : never(),
        abort: () => group.abort(),
      };
    },
    reader: {
      get: (lookups) => lifetime.guard(read(() => connection.reader.get(lookups))),
      range: (range) => lifetime.guard(read(() => connection.reader.range(range))),
      search: (searches) => lifetime.guard(read(() => connection.reader.search(searches))),
    },
    watch(listener) {
      world.storageWatchers.add(lifetime);
      const stop = database.watch?.(() => {
        const isReached = lifetime.isAlive && clock.now() >= cutUntil;
        if (!isReached || dice.chance(world.faults.notificationLost)) return;
        listener();
      });
      return () => {
        world.storageWatchers.delete(lifetime);
        stop?.();
      };
    },
    engineLocks: {
      take: () => lifetime.guard(read(() => locks.take())),
      findFree: (ids) => lifetime.guard(read(() => locks.findFree(ids))),
    },
    yieldToEventLoop: () =>
      lifetime.isAlive ? lifetime.guard(database.yieldToEventLoop()) : never(),
    close: () => Promise.resolve(),
  };
}

/** A group whose commit failed must be aborted. */
function endGroup(group: Group): (error: unknown) => Promise<never> {
  return async (error) => {
    await group.abort();
    throw error;
  };
}

function unavailable(message: string): TidingsError {
  return new TidingsError("storage_unavailable", message);
}
