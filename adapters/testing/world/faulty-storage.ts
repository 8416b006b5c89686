import { TidingsError } from "../../../src/kernel/index.ts";
import {
  type Group,
  StorageConflict,
  type StoragePort,
  type Write,
} from "../../../src/ports/index.ts";
import { describeWrites, idsIn } from "./describe-writes.ts";
import { WorldLocks } from "./engine-locks.ts";
import { callWhileAlive } from "./engine-run.ts";
import { maxDelayMs } from "./faults.ts";
import type { Call } from "./port-calls.ts";
import type { RunContext } from "./run-context.ts";

/**
 * One engine's connection to the storage of the world. It behaves like a database over a network:
 * calls are slow, fail, or lose their answers, and commits conflict with those of others.
 */
export function faultyStorage<Tx extends object | undefined>(context: RunContext): StoragePort<Tx> {
  const { world, run } = context;
  const { dice, clock, storage } = world;
  const link = new StorageLink(context);
  const connection = storage.connect({
    async onTheWay(what, call) {
      for (let left = dice.between(0, world.maxYields); left > 0; left--) {
        await storage.yieldToEventLoop();
      }
      if (what === "read" && context.occurs("readSlow", { call: what, ...call })) {
        await clock.sleep(dice.between(1, maxDelayMs.read));
      }
      if (what === "commit" && context.occurs("commitSlow", { call: what, ...call })) {
        await clock.sleep(dice.between(1, maxDelayMs.commit));
      }
    },
    onCommit(writes) {
      link.note(writes, "committed");
      world.observe.onCommit?.(run, writes);
    },
  });
  const locks = new WorldLocks(context);
  link.onCut = (until) => {
    connection.disconnect();
    locks.loseUntil(until);
  };
  void run.ended.then(() => {
    connection.disconnect();
    locks.lose();
  });
  const guarded = <T>(call: () => Promise<T>): Promise<T> => callWhileAlive(run, call);
  const groupOf = (group: Group): Group => ({
    read: (lookups) => guarded(() => link.read(lookups, () => group.read(lookups))),
    commit: (writes) =>
      guarded(() =>
        link
          .ask({ call: "commit", writes }, () => commit(context, link, group, writes))
          .catch(endGroup(group)),
      ),
    abort: () => group.abort(),
  });
  const host = connection.host?.bind(connection);
  const transaction = connection.transaction?.bind(connection);
  const isInsideTransaction = connection.isInsideTransaction?.bind(connection);

  return {
    capabilities: connection.capabilities,
    open: (schema) => guarded(() => link.read([], () => connection.open(schema))),
    migrate: (schema) => guarded(() => connection.migrate(schema)),
    migrationSql: (schema, from) => connection.migrationSql(schema, from),
    begin: (how) => groupOf(connection.begin(how)),
    ...(host === undefined ? {} : { host: (handle) => groupOf(host(handle)) }),
    ...(transaction === undefined
      ? {}
      : {
          // The cast is safe: the handle comes from the storage that the user gave to the world.
          transaction: (work) =>
            guarded(() =>
              link.ask({ call: "commit" }, () =>
                transaction((handle) => Promise.race([work(handle as Tx), gone(run)])),
              ),
            ),
        }),
    ...(isInsideTransaction === undefined ? {} : { isInsideTransaction }),
    reader: {
      get: (lookups) => guarded(() => link.read(lookups, () => connection.reader.get(lookups))),
      range: (range) => guarded(() => link.read([range], () => connection.reader.range(range))),
      search: (searches) =>
        guarded(() => link.read(searches, () => connection.reader.search(searches))),
    },
    watch(listener) {
      world.watchers.add(run);
      const stop = storage.watch(() => {
        if (
          !run.isAlive ||
          link.isCut ||
          context.occurs("notificationLost", { call: "notification" })
        ) {
          return;
        }
        listener();
      });
      return () => {
        world.watchers.delete(run);
        stop();
      };
    },
    engineLocks: {
      take: () => guarded(() => link.read([], () => locks.take())),
      findFree: (ids) => guarded(() => link.read([], () => locks.findFree(ids))),
    },
    yieldToEventLoop: () => guarded(() => storage.yieldToEventLoop()),
    close: () => Promise.resolve(),
  };
}

/** The network between one engine and the storage. */
class StorageLink {
  /** Called when the connection is lost, with the time at which it will be back. */
  onCut: (until: number) => void = () => {};
  readonly #context: RunContext;
  #cuts = 0;
  #cutUntil = -Infinity;
  #isPartitioned = false;

  constructor(context: RunContext) {
    this.#context = context;
  }

  get isCut(): boolean {
    const { world, isCutOff } = this.#context;
    return isCutOff("storage") || world.clock.now() < this.#cutUntil;
  }

  note(writes: readonly Write[], text: string): void {
    const { world, run } = this.#context;
    world.story.note(
      [run.name, ...idsIn(writes)],
      `${run.name} ${text}: ${describeWrites(writes)}`,
    );
  }

  /** Makes a call. If the connection is lost meanwhile, the caller gets no answer. */
  async ask<T>(call: Call, work: () => T | Promise<T>): Promise<T> {
    const { world, run, occurs, isCutOff } = this.#context;
    const { clock, dice } = world;
    if (isCutOff("storage")) {
      if (!this.#isPartitioned) this.#cut(Infinity);
      this.#isPartitioned = true;
      throw unavailable("The storage cannot be reached.");
    }
    this.#isPartitioned = false;
    if (clock.now() < this.#cutUntil) throw unavailable("The storage cannot be reached.");
    if (occurs("connectionLost", call)) {
      this.#cut(clock.now() + dice.between(1, maxDelayMs.outage));
      world.story.note([run.name], `${run.name} loses its connection to the storage`);
      throw unavailable("The connection was lost.");
    }
    const before = this.#cuts;
    const lost = (): TidingsError => unavailable("The connection was lost before the answer came.");
    try {
      const answer = await work();
      if (this.#cuts !== before || isCutOff("storage")) throw lost();
      return answer;
    } catch (error) {
      throw this.#cuts === before ? error : lost();
    }
  }

  read<T>(reads: NonNullable<Call["reads"]>, work: () => T | Promise<T>): Promise<T> {
    const call: Call = { call: "read", reads };
    return this.ask(call, () => {
      if (this.#context.occurs("readFails", call)) {
        throw unavailable("The storage could not be read.");
      }
      return work();
    });
  }

  #cut(until: number): void {
    const { world, run } = this.#context;
    this.#cuts++;
    this.#cutUntil = until === Infinity ? -Infinity : until;
    run.outages.push({ from: world.clock.now(), until });
    this.onCut(until);
  }
}

async function commit(
  { world, run, occurs, crash }: RunContext,
  link: StorageLink,
  group: Group,
  writes: readonly Write[],
): Promise<void> {
  const { dice, clock } = world;
  const call: Call = { call: "commit", writes };
  if (occurs("crashBeforeCommit", call)) return crash("before a commit");
  if (occurs("commitConflicts", call)) {
    throw new StorageConflict("simulated", { isLocked: dice.chance(0.5) });
  }
  if (occurs("commitFailsBefore", call)) {
    link.note(writes, "fails to commit");
    throw unavailable("Nothing was written.");
  }
  await group.commit(writes);
  if (occurs("crashAfterCommit", call)) return crash("after a commit, before its answer");
  if (occurs("commitFailsAfter", call)) {
    link.note(writes, "does not learn that it committed");
    throw unavailable("The outcome of the commit is unknown.");
  }
  if (occurs("commitStalls", call)) {
    link.note(writes, "stalls after its commit");
    const ms = dice.between(maxDelayMs.commit, maxDelayMs.stall);
    run.outages.push({ from: clock.now(), until: clock.now() + ms });
    await clock.sleep(ms);
  }
}

/** Rejects when the process ends, so that the database rolls the transaction back. */
async function gone(run: RunContext["run"]): Promise<never> {
  await run.ended;
  throw unavailable("The process has ended.");
}

/** Aborts a group whose commit failed, and passes the error on. */
function endGroup(group: Group): (error: unknown) => Promise<never> {
  return async (error) => {
    await group.abort();
    throw error;
  };
}

function unavailable(message: string): TidingsError {
  return new TidingsError("storage_unavailable", message);
}
