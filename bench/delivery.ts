import { bullmq, bullmqSettings, hasRedis } from "./bullmq.ts";
import { prepare, replay } from "./sqlite-replay.ts";
import {
  createContacts,
  deliver,
  dispatcherSettings,
  withEngine,
  type StorageName,
} from "./support/engines.ts";
import { compare, count, ratio, scaled, table, type Contender } from "./support/measure.ts";

const items = scaled(10_000);
const rounds = 5;
const atOnce = 256;

const raw = "node:sqlite, the same rows";
const bull = "BullMQ, added to completed";
const ours = (storage: StorageName): string => `tidings on ${storage}`;

/**
 * Messages per second from acceptance to delivery, by a carrier that accepts at once. Beside them,
 * node:sqlite that writes the same rows in the same transactions, and BullMQ if the machine has a
 * Redis server.
 */
export async function delivery(): Promise<string> {
  const prepared = await prepare({ recipients: "new", items, atOnce, until: "delivered" });
  const isRedisThere = hasRedis();
  const results = await compare(
    [
      contender("SQLite"),
      contender("memory"),
      { name: raw, run: () => replay(prepared, "writes only") },
      ...(isRedisThere ? [{ name: bull, run: () => bullmq(items, atOnce) }] : []),
    ],
    rounds,
  );
  const rateOf = (name: string): number => results.get(name)?.perSecond ?? Number.NaN;
  const ratioOf = (storage: StorageName, peer: string): string =>
    ratio(rateOf(ours(storage)) / rateOf(peer));
  console.log(
    `\nMessages or jobs per second, from the first accepted to the last done (${count(items)} ` +
      `to new recipients, ${atOnce} at a time, median of ${rounds} rounds)\n`,
  );
  console.log(
    table(
      ["", "per second", "CPU µs in Node", "SQLite ÷ this", "memory ÷ this"],
      [...results].map(([name, { perSecond, cpuUs }]) => [
        name,
        count(perSecond),
        count(cpuUs),
        ratioOf("SQLite", name),
        ratioOf("memory", name),
      ]),
    ),
  );
  const { concurrency, laneConcurrency } = dispatcherSettings;
  console.log(`\n  tidings: concurrency ${concurrency}, laneConcurrency ${laneConcurrency}`);
  console.log(
    isRedisThere
      ? `  BullMQ: ${bullmqSettings}`
      : "  BullMQ was left out: there is no redis-server on the PATH.",
  );
  const peers = isRedisThere ? `, ${ratioOf("SQLite", bull)} of BullMQ` : "";
  return (
    `delivery: ${count(rateOf(ours("SQLite")))} messages per second on SQLite ` +
    `(${ratioOf("SQLite", raw)} of node:sqlite${peers})`
  );
}

function contender(storage: StorageName): Contender {
  return {
    name: ours(storage),
    run: () =>
      withEngine(
        storage,
        async (engine) => {
          await createContacts(engine);
          return deliver(engine, "new", items, atOnce);
        },
        dispatcherSettings,
      ),
  };
}
