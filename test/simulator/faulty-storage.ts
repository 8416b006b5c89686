import { TidingsError } from "../../src/kernel/errors.ts";
import {
  type Group,
  StorageConflict,
  type StoragePort,
  type Write,
} from "../../src/ports/storage.ts";
import { longest } from "./faults.ts";
import { type Life, never } from "./life.ts";
import { summary } from "./writes.ts";
import type { World } from "./world.ts";

/** One engine's connection to the storage that all share: as to a database over a network, that others use too. */
export function faultyStorage(world: World, life: Life, crash: (why: string) => void): StoragePort {
  const { ground, storage, latestTurn, dice, clock } = world;
  let cuts = 0;
  let cutUntil = -Infinity;

  const connection = storage.connect({
    async onTheWay(what) {
      for (let turns = dice.between(0, latestTurn); turns > 0; turns--) await ground.turn();
      const { readDelayed, commitDelayed } = world.faults;
      if (what === "read" && dice.chance(readDelayed)) {
        await clock.sleep(dice.between(1, longest.read));
      }
      if (what === "commit" && dice.chance(commitDelayed)) {
        await clock.sleep(dice.between(1, longest.commit));
      }
    },
    landed(writes) {
      note(writes, "committed");
      world.committed(life, writes);
    },
  });
  void life.died.then(() => connection.disconnect());

  const note = (writes: readonly Write[], says: string): void =>
    world.trace.note([life.name, ...about(writes)], `${life.name} ${says}: ${summary(writes)}`);

  /** Asks over the connection; what was asked when that is lost is not answered, whatever became of it. */
  const ask = async <T>(work: () => T | Promise<T>): Promise<T> => {
    if (clock.now() < cutUntil) throw unavailable("The storage can't be reached.");
    if (dice.chance(world.faults.connectionLost)) {
      cuts++;
      cutUntil = clock.now() + dice.between(1, longest.outage);
      life.outages.push({ from: clock.now(), until: cutUntil });
      connection.disconnect();
      world.trace.note([life.name], `${life.name} loses its connection`);
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
      note(writes, "could not commit");
      throw unavailable("Nothing was written.");
    }
    await group.commit(writes);
    if (dice.chance(faults.crashAtCommit)) return crash("after a commit, before its answer");
    if (dice.chance(faults.commitFailsAfter)) {
      note(writes, "was told nothing of its commit");
      throw unavailable("It can't be known what was written.");
    }
    if (dice.chance(faults.commitStalled)) {
      note(writes, "stalls after its commit");
      const ms = dice.between(longest.commit, longest.stall);
      life.outages.push({ from: clock.now(), until: clock.now() + ms });
      await clock.sleep(ms);
    }
  };

  return {
    capabilities: connection.capabilities,
    open: (schema) => life.guard(read(() => ground.open(schema))),
    migrate: (schema) => life.guard(ground.migrate(schema)),
    migrationSql: (schema, from) => ground.migrationSql(schema, from),
    begin(how): Group {
      const group = connection.begin(how);
      return {
        read: (lookups) => (life.alive ? life.guard(read(() => group.read(lookups))) : never()),
        commit: (writes) =>
          life.alive ? life.guard(ask(() => commit(group, writes)).catch(over(group))) : never(),
        abort: () => group.abort(),
      };
    },
    reader: {
      get: (lookups) => life.guard(read(() => connection.reader.get(lookups))),
      range: (range) => life.guard(read(() => connection.reader.range(range))),
      search: (searches) => life.guard(read(() => connection.reader.search(searches))),
    },
    watch(listener) {
      world.watchers.add(life);
      const stop = ground.watch?.(() => {
        if (!life.alive || clock.now() < cutUntil || dice.chance(world.faults.noticeLost)) return;
        listener();
      });
      return () => {
        world.watchers.delete(life);
        stop?.();
      };
    },
    turn: () => (life.alive ? life.guard(ground.turn()) : never()),
    close: () => Promise.resolve(),
  };
}

/** A group whose commit failed is over. */
function over(group: Group): (error: unknown) => Promise<never> {
  return async (error) => {
    await group.abort();
    throw error;
  };
}

function unavailable(message: string): TidingsError {
  return new TidingsError("storage_unavailable", message);
}

/** The messages, conversations and contacts that writes are about. */
function about(writes: readonly Write[]): string[] {
  const ids = new Set<string>();
  for (const write of writes) {
    if ("key" in write) for (const part of write.key) if (isId(part)) ids.add(part);
    if (!("row" in write)) continue;
    for (const column of [
      "id",
      "message_id",
      "conversation_id",
      "contact_id",
      "webhook_id",
      "event_id",
      "agent_id",
      "key",
    ]) {
      const id = write.row[column];
      if (isId(id)) ids.add(id);
    }
  }
  return [...ids];
}

function isId(value: unknown): value is string {
  return typeof value === "string" && /^(msg|conv|att|ct|wcs|wh|evt|run|agt)_/.test(value);
}
