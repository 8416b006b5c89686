/** Two stores on one storage, as two processes have them. The reads of the first are counted. */
import { onTestFinished } from "vitest";
import { seededRandom, virtualClock } from "../../adapters/testing/index.ts";
import { silent } from "../../src/ports/logger.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { Store } from "../../src/store/store.ts";
import type { UnscopedTx } from "../../src/store/transactions/transaction.ts";
import { letWork } from "../support/engines/let-work.ts";
import { withGroups } from "../support/storage/groups.ts";
import type { Ground } from "../support/storage/storages.ts";
import { itemById, items, schema, type Item } from "./commands.ts";

/** How long a process keeps no rows after one of them turned out to be outdated. */
export const distrustMs = 10_000;

export const recent = { hold: "recent" } as const;

export async function twoProcesses(
  ground: Ground,
  change: (port: StoragePort) => StoragePort = (port) => port,
) {
  const counts = { reads: 0 };
  const port = change(ground.connect());
  const counted = withGroups(port, {
    read(lookups, group) {
      counts.reads += lookups.length;
      return group.read(lookups);
    },
  });
  const options = { schema, logger: silent };
  const clocks = [virtualClock(), virtualClock()] as const;
  const [clock, otherClock] = clocks;
  const one = new Store({ ...options, port: counted, clock, random: seededRandom(1) });
  const other = new Store({
    ...options,
    port: ground.connect(),
    clock: otherClock,
    random: seededRandom(2),
  });
  for (const store of [one, other]) await store.open();
  onTestFinished(async () => {
    for (const store of [one, other]) await store.close();
  });

  /** Runs a command on the first store. Returns also how often it ran, and how much it read. */
  const measured = async <T>(work: (tx: UnscopedTx) => Promise<T>) => {
    const before = counts.reads;
    let runs = 0;
    const result = await one.commitUnscoped((tx) => {
      runs++;
      return work(tx);
    });
    return { result, runs, reads: counts.reads - before };
  };

  /** Reads the token of a row that the first store may keep. */
  const recall = (id: string) =>
    measured(async (tx) => (await tx.get(itemById, [id], recent))?.token);

  const spend = clocks.map(letWork);
  /** Advances the time of both. */
  const pass = (ms: number): void => {
    for (const each of spend) each(ms);
  };

  return { one, other, clock, pass, measured, recall };
}

/** Writes a token to a row, or inserts the row. */
export async function put(tx: UnscopedTx, id: string, token: string): Promise<void> {
  const row = await tx.get(itemById, [id]);
  if (row === undefined) tx.insert(items, item(id, token));
  else tx.update(items, row, { token });
}

export async function remove(tx: UnscopedTx, id: string): Promise<void> {
  const row = await tx.get(itemById, [id]);
  if (row !== undefined) tx.remove(items, row);
}

/** Lets a store keep rows: it keeps only those of collections that it has looked for. */
export async function keep(store: Store, rows: Readonly<Record<string, string>>): Promise<void> {
  await store.commitUnscoped(async (tx) => void (await tx.get(itemById, ["none"], recent)));
  await store.commitUnscoped(async (tx) => {
    for (const [id, token] of Object.entries(rows)) await put(tx, id, token);
  });
}

export async function tokenOf(store: Store, id: string): Promise<string | undefined> {
  return (await store.unscopedReads.get(itemById, [id]))?.token;
}

function item(id: string, token: string): Item {
  return { id, owner: "nobody", label: null, token };
}
