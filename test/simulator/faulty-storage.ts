import { TidingsError } from "../../src/errors.ts";
import { type Group, StorageConflict, type StoragePort, type Write } from "../../src/ports/storage.ts";
import { longest } from "./faults.ts";
import { type Life, never } from "./life.ts";
import { summary } from "./writes.ts";
import type { World } from "./world.ts";

/** One engine's connection to the storage that all share. */
export function faultyStorage(world: World, life: Life, crash: (why: string) => void): StoragePort {
  const { ground, dice, clock } = world;

  const read = async <T>(work: () => T | Promise<T>): Promise<T> => {
    const { readFails, readDelayed } = world.faults;
    if (dice.chance(readDelayed)) await clock.sleep(dice.between(1, longest.read));
    if (dice.chance(readFails)) throw unavailable("The storage could not be read.");
    return work();
  };

  const commit = async (group: Group, writes: readonly Write[]): Promise<void> => {
    const note = (says: string): void =>
      world.trace.note([life.name, ...about(writes)], `${life.name} ${says}: ${summary(writes)}`);
    const { faults } = world;
    if (dice.chance(faults.commitDelayed)) await clock.sleep(dice.between(1, longest.commit));
    if (!life.alive) return;
    if (dice.chance(faults.crashAtCommit)) return crash("before a commit");
    if (dice.chance(faults.commitConflicts)) throw new StorageConflict("simulated");
    if (dice.chance(faults.commitFailsBefore)) {
      note("could not commit");
      throw unavailable("Nothing was written.");
    }
    await group.commit(writes);
    note("committed");
    world.committed(life, writes);
    if (dice.chance(faults.crashAtCommit)) return crash("after a commit, before its answer");
    if (dice.chance(faults.commitFailsAfter)) {
      note("was told nothing of its commit");
      throw unavailable("It can't be known what was written.");
    }
    if (dice.chance(faults.commitStalled)) {
      note("stalls after its commit");
      await clock.sleep(dice.between(longest.commit, longest.stall));
    }
  };

  return {
    capabilities: { ...ground.capabilities, synchronous: false },
    lanes: ground.lanes,
    open: (schema) => life.guard(read(() => ground.open(schema))),
    migrate: (schema) => life.guard(ground.migrate(schema)),
    migrationSql: (schema, from) => ground.migrationSql(schema, from),
    begin(lane, how): Group {
      const group = ground.begin(lane, how);
      return {
        read: (lookups) => (life.alive ? life.guard(read(() => group.read(lookups))) : never()),
        commit: (writes) => (life.alive ? life.guard(commit(group, writes)) : never()),
        abort: () => group.abort(),
      };
    },
    reader: {
      get: (lookups) => life.guard(read(() => ground.reader.get(lookups))),
      range: (range) => life.guard(read(() => ground.reader.range(range))),
    },
    watch(listener) {
      world.watchers.add(life);
      const stop = ground.watch?.(() => {
        if (life.alive) listener();
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

function unavailable(message: string): TidingsError {
  return new TidingsError("storage_unavailable", message);
}

/** The messages and conversations that writes are about. */
function about(writes: readonly Write[]): string[] {
  const ids = new Set<string>();
  for (const write of writes) {
    if (!("row" in write)) continue;
    for (const column of ["id", "message_id", "conversation_id", "key"]) {
      const id = write.row[column];
      if (typeof id === "string" && /^(msg|conv|att)_/.test(id)) ids.add(id);
    }
  }
  return [...ids];
}
