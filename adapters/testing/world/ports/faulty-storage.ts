import { TidingsError } from "../../../../src/kernel/index.ts";
import {
  StorageConflict,
  type Group,
  type StoragePort,
  type Write,
} from "../../../../src/ports/index.ts";
import { callWhileAlive } from "../engine-run.ts";
import { maxDelayMs } from "../faults.ts";
import type { RunContext } from "../run-context.ts";
import { describeWrites, idsIn } from "./describe-writes.ts";
import { SimulatedEngineLock } from "./engine-lock.ts";
import type { Call } from "./port-calls.ts";
import type { Connection } from "./shared-storage.ts";

/**
 * One engine's connection to the storage of the world. It behaves like a database over a network:
 * calls are slow, fail, or lose their answers, and commits conflict with those of others.
 */
export function faultyStorage<Tx extends object | undefined>(context: RunContext): StoragePort<Tx> {
  const { world, run } = context;
  const link = new StorageLink(context);
  const connection = connect(context, link);
  const lock = new SimulatedEngineLock(context);
  link.onCut = (until) => {
    connection.disconnect();
    lock.loseUntil(until);
  };
  void run.ended.then(() => {
    connection.disconnect();
    lock.lose();
  });
  return {
    capabilities: connection.capabilities,
    open: (schema) => link.read([], () => connection.open(schema)),
    migrate: (schema) => callWhileAlive(run, () => connection.migrate(schema)),
    migrationSql: (schema, from) => connection.migrationSql(schema, from),
    begin: (how) => faultyGroup(context, link, connection.begin(how)),
    ...hostMethods<Tx>(context, link, connection),
    reader: {
      get: (lookups) => link.read(lookups, () => connection.reader.get(lookups)),
      range: (range) => link.read([range], () => connection.reader.range(range)),
      search: (searches) => link.read(searches, () => connection.reader.search(searches)),
    },
    watch: (listener) => watch(context, link, listener),
    engineLocks: {
      graceMs: 0,
      take: () => link.read([], () => lock.take()),
      findFree: (ids) => link.read([], () => lock.findFree(ids)),
    },
    yieldToEventLoop: () => callWhileAlive(run, () => world.storage.yieldToEventLoop()),
    close: () => Promise.resolve(),
  };
}

/** A connection on which calls take time. */
function connect({ world, run, occurs }: RunContext, link: StorageLink): Connection {
  const { dice, clock, storage } = world;
  return storage.connect({
    async delay(stage, call) {
      for (let left = dice.between(0, world.maxYields); left > 0; left--) {
        await storage.yieldToEventLoop();
      }
      if (stage === "read" && occurs("readSlow", { call: stage, ...call })) {
        await clock.sleep(dice.between(1, maxDelayMs.read));
      }
      if (stage === "commit" && occurs("commitSlow", { call: stage, ...call })) {
        await clock.sleep(dice.between(1, maxDelayMs.commit));
      }
    },
    onCommit(writes) {
      link.note(writes, "committed");
      world.observe.onCommit?.(run, writes);
    },
  });
}

function faultyGroup(context: RunContext, link: StorageLink, group: Group): Group {
  return {
    read: (lookups) => link.read(lookups, () => group.read(lookups)),
    async commit(writes) {
      try {
        await link.ask({ call: "commit", writes }, () => commit(context, link, group, writes));
      } catch (error) {
        await group.abort();
        throw error;
      }
    },
    abort: () => group.abort(),
  };
}

/** Transactions of the host application, if the storage has them. */
function hostMethods<Tx extends object | undefined>(
  context: RunContext,
  link: StorageLink,
  connection: Connection,
): Pick<StoragePort<Tx>, "host" | "transaction" | "isInsideTransaction"> {
  const host = connection.host?.bind(connection);
  const transaction = connection.transaction?.bind(connection);
  const isInsideTransaction = connection.isInsideTransaction?.bind(connection);
  if (host === undefined || transaction === undefined || isInsideTransaction === undefined) {
    return {};
  }
  return {
    host: (handle) => faultyGroup(context, link, host(handle)),
    transaction: (work) =>
      link.ask({ call: "commit" }, () =>
        // The cast is safe: the handle comes from the storage that the user gave to the world.
        transaction((handle) => Promise.race([work(handle as Tx), rejectAtEnd(context.run)])),
      ),
    isInsideTransaction,
  };
}

function watch(
  { world, run, occurs }: RunContext,
  link: StorageLink,
  listener: () => void,
): () => void {
  world.watchers.add(run);
  const stop = world.storage.watch(() => {
    const isReached =
      run.isAlive && !link.isCut && !occurs("notificationLost", { call: "notification" });
    if (isReached) listener();
  });
  return () => {
    world.watchers.delete(run);
    stop();
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
    return isCutOff("storage") || world.clock.monotonic() < this.#cutUntil;
  }

  note(writes: readonly Write[], text: string): void {
    const { world, run } = this.#context;
    world.story.note(
      [run.name, ...idsIn(writes)],
      `${run.name} ${text}: ${describeWrites(writes)}`,
    );
  }

  /**
   * Makes a call. If the connection is lost meanwhile, the caller gets an error instead of the
   * answer. If the process ends, the call never settles.
   */
  ask<T>(call: Call, work: () => T | Promise<T>): Promise<T> {
    return callWhileAlive(this.#context.run, () => this.#ask(call, work));
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

  async #ask<T>(call: Call, work: () => T | Promise<T>): Promise<T> {
    const { world, run, occurs, isCutOff } = this.#context;
    const { clock, dice } = world;
    if (isCutOff("storage")) {
      if (!this.#isPartitioned) this.#cut(Infinity);
      this.#isPartitioned = true;
      throw unavailable("The storage cannot be reached.");
    }
    this.#isPartitioned = false;
    if (clock.monotonic() < this.#cutUntil) throw unavailable("The storage cannot be reached.");
    if (occurs("connectionLost", call)) {
      this.#cut(clock.monotonic() + dice.between(1, maxDelayMs.outage));
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

  #cut(until: number): void {
    const { world, run } = this.#context;
    this.#cuts++;
    this.#cutUntil = until === Infinity ? -Infinity : until;
    run.outages.push({ from: world.clock.monotonic(), until });
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
    run.outages.push({ from: clock.monotonic(), until: clock.monotonic() + ms });
    await clock.sleep(ms);
  }
}

/** Rejects when the process ends, so that the database rolls the transaction back. */
async function rejectAtEnd(run: RunContext["run"]): Promise<never> {
  await run.ended;
  throw unavailable("The process has ended.");
}

function unavailable(message: string): TidingsError {
  return new TidingsError("storage_unavailable", message);
}
