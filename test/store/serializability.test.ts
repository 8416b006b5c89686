/**
 * Serializability: commands share commits, run ahead of commits and race other processes. Their
 * answers and the final state must match some sequential order.
 */
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { seededRandom, virtualClock, type VirtualClock } from "../../adapters/testing/index.ts";
import {
  SharedStorage,
  type ConnectionOptions,
} from "../../adapters/testing/world/ports/shared-storage.ts";
import { silent } from "../../src/ports/logger.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import type { Origin } from "../../src/store/groups/command-queue.ts";
import { Store } from "../../src/store/store.ts";
import type { UnscopedTx } from "../../src/store/transactions/transaction.ts";
import { letWork } from "../support/engines/let-work.ts";
import { runs } from "../support/runs.ts";
import { beforeCommits } from "../support/storage/groups.ts";
import { storages } from "../support/storage/storages.ts";
import {
  entriesByTopic,
  Failure,
  itemById,
  items,
  itemsByOwner,
  run,
  schema,
  sumByName,
  writerOf,
  type Command,
  type Item,
  type Step,
} from "./commands.ts";
import { serialOrder, type Answered } from "./serial-order.ts";
import { distrustMs } from "./two-processes.ts";

const ids = ["a", "b"];
const labels = ["k", "l"];
const owners = ["nobody", "anna", "claims"];
const oneOf = (values: readonly string[]) => fc.constantFrom(...values);

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constantFrom("put", "remove", "hold"),
      id: oneOf(ids),
      recent: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constantFrom("claim", "free"), label: oneOf(labels) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant("label"), id: oneOf(ids), label: oneOf(labels) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant("move"), id: oneOf(ids), owner: oneOf(owners) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constantFrom("list", "stamp"),
      owner: oneOf(owners),
      limit: fc.constantFrom(1, 2, 9),
      order: fc.constantFrom("ascending", "descending"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("add") }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant("waver"), id: oneOf(ids), recent: fc.boolean() }),
  },
) as fc.Arbitrary<Step>;

const command = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 4 }),
  fails: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  logs: fc.boolean(),
  origin: fc.constantFrom<Origin>("caller", "item", "engine"),
  /** After a millisecond, a group lets the event loop continue. */
  takesMs: fc.constantFrom(0, 0, 1, 3),
});
/** Clients that each run commands in sequence on one of the processes. */
const clients = fc.array(
  fc.record({
    process: fc.nat(2),
    /** Whether the process may keep the rows of its commits again (see `RecentRows`). */
    keepsRows: fc.boolean(),
    commands: fc.array(command, { minLength: 1, maxLength: 4 }),
  }),
  { minLength: 2, maxLength: 8 },
);
/** The initial rows. */
const first: typeof command extends fc.Arbitrary<infer T> ? T : never = {
  steps: [
    { does: "put", id: "a", recent: true },
    { does: "put", id: "b", recent: false },
    { does: "claim", label: "k" },
  ],
  fails: false,
  logs: true,
  origin: "caller",
  takesMs: 0,
};

type Clients = typeof clients extends fc.Arbitrary<infer T> ? T : never;

interface Process {
  readonly store: Store;
  readonly clock: VirtualClock;
  /** Lets time pass while a command runs, in milliseconds. */
  readonly spend: (ms: number) => void;
}

/** Processes on one storage. */
async function opened(ports: readonly StoragePort[]): Promise<readonly [Process, ...Process[]]> {
  const processes = ports.map((port, n) => {
    const clock = virtualClock();
    const spend = letWork(clock);
    const random = seededRandom(n);
    return { clock, spend, store: new Store({ port, schema, clock, random, logger: silent }) };
  });
  for (const { store } of processes) await store.open();
  onTestFinished(async () => {
    for (const { store } of processes) await store.close();
  });
  return processes as [Process, ...Process[]];
}

let worlds = 0;

async function expectSerial(
  processes: readonly [Process, ...Process[]],
  given: Clients,
): Promise<void> {
  const world = `world${++worlds}`;
  const done: Omit<Answered, "position">[] = [];
  const failed: Pick<Answered, "command" | "facts">[] = [];
  let count = 0;
  const give = async (
    { store, spend }: Process,
    name: string,
    { origin, takesMs, ...what }: typeof first,
  ): Promise<void> => {
    const knows = new Set(done.map(({ command }) => command.name));
    const command: Command = { world, name: `${world}/${name}`, knows, ...what };
    const given = ++count;
    try {
      const work = async (tx: UnscopedTx) => {
        spend(takesMs);
        return run(tx, command);
      };
      const facts = await store.commitUnscoped(work, { origin });
      done.push({ command, facts, given, answered: ++count });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failed.push({ command, facts: error.facts });
    }
  };
  await give(processes[0], "first", first);
  await Promise.all(
    given.map(async ({ process, keepsRows, commands }, client) => {
      const chosen = processes[process % processes.length] ?? processes[0];
      if (keepsRows) chosen.clock.step(distrustMs);
      for (const [i, each] of commands.entries()) await give(chosen, `${client}-${i}`, each);
    }),
  );

  const { left, log, sum } = await found(processes[0].store, world);
  const logged = done.filter(({ command }) => command.logs).map(({ command }) => command.name);
  expect(
    log.toSorted(),
    "The log has an entry of each command that reported success, and no other.",
  ).toEqual(logged.toSorted());
  expect(sum, "The sum counts each `add` of a command that reported success once.").toBe(
    done.flatMap(({ command }) => command.steps).filter(({ does }) => does === "add").length,
  );

  const answered = done.map((each) => {
    const position = log.indexOf(each.command.name);
    return { ...each, position: position < 0 ? undefined : position };
  });
  const order = await serialOrder(answered, left);
  expect(
    order,
    `no order of ${JSON.stringify(answered)} leaves ${JSON.stringify([...left])}`,
  ).toBeDefined();

  // A failed command may have read only committed rows and its own writes.
  const committed = new Set(done.map(({ command }) => command.name));
  for (const { command, facts } of failed) {
    const writers = facts.flatMap((fact) => Object.values(fact ?? {}).map(writerOf));
    expect(
      writers.filter((writer) => writer !== command.name && !committed.has(writer)),
      `The failed command ${command.name} read only committed rows and its own.`,
    ).toEqual([]);
  }
}

/** The final rows of a test. */
async function found({ unscopedReads: reads }: Store, world: string) {
  const whole = { order: "ascending", limit: 1_000 } as const;
  const left = new Map<string, Item>();
  for (const owner of owners) {
    for (const row of await reads.range({
      index: itemsByOwner,
      prefix: [`${world}/${owner}`],
      ...whole,
    })) {
      const { id, label, token } = row;
      left.set(id, { id, owner: row.owner, label, token });
    }
  }
  const entries = await reads.range({ index: entriesByTopic, prefix: [world], ...whole });
  const sum = await reads.get(sumByName, [`${world}/sum`]);
  return { left, log: entries.map(({ id }) => id), sum: sum?.count ?? 0 };
}

test.each(storages)(
  "concurrent commands of several processes on $name are serializable",
  async ({ open }) => {
    const ground = open({ empty: true });
    const processes = await opened([ground.connect(), ground.connect(), ground.connect()]);
    await fc.assert(
      fc.asyncProperty(clients, (given) => expectSerial(processes, given)),
      { numRuns: runs(150) },
    );
  },
);

test("concurrent commands are serializable with slow reads and commits", async () => {
  const timed = fc.asyncProperty(clients, fc.integer(), async (given, seed) => {
    const random = seededRandom(seed);
    const ground = memory();
    const storage = new SharedStorage(ground);
    const delay = async (): Promise<void> => {
      for (let turns = (random.bytes(1)[0] ?? 0) % 6; turns > 0; turns--) {
        await ground.yieldToEventLoop();
      }
    };
    await expectSerial(await opened([1, 2, 3].map(() => storage.connect({ delay }))), given);
  });
  await fc.assert(timed, { numRuns: runs(1500) });
});

test("concurrent commands that run in turn are serializable with slow commits", async () => {
  const timed = fc.asyncProperty(clients, fc.integer(), async (given, seed) => {
    const random = seededRandom(seed);
    const ground = memory();
    const slow = beforeCommits(ground, async () => {
      for (let turns = (random.bytes(1)[0] ?? 0) % 4; turns > 0; turns--) {
        await ground.yieldToEventLoop();
      }
    });
    await expectSerial(await opened([slow, slow]), given);
  });
  await fc.assert(timed, { numRuns: runs(600) });
});

type Delay = NonNullable<ConnectionOptions["delay"]>;

/** Two processes and owned rows. Calls of the first one wait for `delay` once it is set. */
async function slowWorld(rows: readonly (readonly [id: string, owner: string])[]) {
  const storage = new SharedStorage(memory());
  const slow: { delay: Delay } = { delay: () => Promise.resolve() };
  const [{ store: one }, { store: two } = { store: one }] = await opened([
    storage.connect({ delay: (...what) => slow.delay(...what) }),
    storage.connect(),
  ]);
  await two.commitUnscoped(async (tx) => {
    for (const [id, owner] of rows) tx.insert(items, { id, owner, label: null, token: "" });
  });
  const move = (id: string, owner: string): Promise<void> =>
    two.commitUnscoped(async (tx) => {
      const row = await tx.get(itemById, [id]);
      if (row !== undefined) tx.update(items, row, { owner });
    });
  return { one, move, slow };
}

describe("the first row of a list is current", () => {
  const firstOf = async (tx: UnscopedTx, owner: string): Promise<string | undefined> =>
    (await tx.list(itemsByOwner, [owner], 1))[0]?.id;

  const takeFirst = async (tx: UnscopedTx): Promise<string | undefined> => {
    const [row] = await tx.list(itemsByOwner, ["nobody"], 1);
    if (row !== undefined) tx.update(items, row, { token: "taken" });
    return row?.id;
  };

  test("for a transaction in the same commit as one that saw another row leave the list", async () => {
    const { one, move, slow } = await slowWorld([
      ["a", "nobody"],
      ["b", "nobody"],
    ]);
    let moving: Promise<void> | undefined;
    slow.delay = async (what) => {
      if (what === "rows") await (moving ??= move("a", "anna"));
    };
    const holding = one.commitUnscoped(async (tx) => {
      const id = await firstOf(tx, "nobody");
      if (id !== undefined) await tx.get(itemById, [id], { hold: true });
      return id;
    });
    const taking = one.commitUnscoped(takeFirst);
    expect(await Promise.all([holding, taking])).toEqual(["b", "b"]);
  });

  test("for a transaction that runs ahead of a commit which knew another version of a row", async () => {
    const { one, move, slow } = await slowWorld([
      ["a", "anna"],
      ["b", "nobody"],
    ]);
    let taking: Promise<string | undefined> | undefined;
    const rowsCome = new Promise<void>((resolve) => {
      slow.delay = async (what) => {
        if (taking !== undefined && what === "rows") resolve();
        if (taking !== undefined || what !== "outcome") return;
        await move("a", "nobody");
        taking = one.commitUnscoped(takeFirst);
        await rowsCome;
      };
    });
    await one.commitUnscoped(async (tx) => void (await tx.get(itemById, ["a"], { hold: true })));
    expect(await taking).toBe("a");
  });
});

test("a transaction that read the writes of a commit which fails runs again", async () => {
  const { one, move, slow } = await slowWorld([
    ["a", "nobody"],
    ["b", "nobody"],
  ]);
  let copying: Promise<void> | undefined;
  const hasRead = new Promise<void>((resolve) => {
    slow.delay = async (what) => {
      if (copying !== undefined || what !== "commit") return;
      copying = one.commitUnscoped(async (tx) => {
        const [a, b] = [await tx.get(itemById, ["a"]), await tx.get(itemById, ["b"])];
        if (b !== undefined) tx.update(items, b, { token: a?.token ?? "" });
        resolve();
      });
      await hasRead;
      await move("a", "anna");
    };
  });
  let tries = 0;
  await one.commitUnscoped(async (tx) => {
    tries++;
    const a = await tx.get(itemById, ["a"]);
    if (a !== undefined) tx.update(items, a, { token: `try ${tries}` });
  });
  await copying;
  expect(tries).toBe(2);
  const copy = await one.unscopedReads.get(itemById, ["b"]);
  expect(["", "try 2"]).toContain(copy?.token);
});

describe("a list that is read while a commit is in progress", () => {
  const ids = ["a", "b", "c", "d", "e", "f"];
  const change = fc.constantFrom("keep", "keep", "remove", "move", "write");
  const changes = fc.tuple(...ids.map(() => change));

  async function apply(tx: UnscopedTx, drawn: readonly string[]): Promise<void> {
    for (const [i, id] of ids.entries()) {
      const row = await tx.get(itemById, [id]);
      if (row === undefined) continue;
      if (drawn[i] === "remove") tx.remove(items, row);
      if (drawn[i] === "move") tx.update(items, row, { owner: "anna" });
      if (drawn[i] === "write") tx.update(items, row, { token: "written" });
    }
  }

  test("has as many rows as it has after the commit, up to its limit", async () => {
    const stays = (each: string | undefined): boolean => each === "keep" || each === "write";
    await fc.assert(
      fc.asyncProperty(
        changes,
        changes,
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom("commit", "outcome"),
        async (committing, own, limit, moment) => {
          const { one, slow } = await slowWorld(ids.map((id) => [id, "nobody"]));
          let listing: Promise<readonly string[]> | undefined;
          const haveRead = new Promise<void>((resolve) => {
            // The list is read before the commit reaches the database, or after it.
            slow.delay = async (what) => {
              if (listing !== undefined || what !== moment) return;
              listing = one.commitUnscoped(async (tx) => {
                await apply(tx, own);
                const rows = await tx.list(itemsByOwner, ["nobody"], limit);
                resolve();
                return rows.map(({ id }) => id);
              });
              await haveRead;
            };
          });
          await one.commitUnscoped(async (tx) => {
            await apply(tx, committing);
            tx.insert(items, { id: "z", owner: "nobody", label: null, token: "" });
          });
          const left = ids.filter((_, i) => stays(committing[i]) && stays(own[i]));
          expect(
            await listing,
            `a list of up to ${limit} rows, read before the ${moment} of a commit`,
          ).toEqual([...left, "z"].slice(0, limit));
        },
      ),
      { numRuns: runs(200) },
    );
  });
});
