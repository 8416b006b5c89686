import {
  createContacts,
  deliver,
  dispatcherSettings,
  existingContacts,
} from "../support/engines.ts";
import {
  concurrently,
  count,
  countdown,
  medians,
  ratio,
  scaled,
  table,
  type Contender,
} from "../support/measure.ts";
import { poolSize, withDatabase, withPostgresEngine } from "../support/postgres-databases.ts";
import { queues, type QueueKind } from "./queues.ts";

const items = scaled(2_000);
const rounds = 3;
const atOnce = 256;

const ours = "tidings, accepted to delivered";
const theirs = ({ name }: QueueKind): string => `${name}, enqueued to processed`;

/**
 * Messages per second from acceptance to delivery, and jobs per second of job queues from enqueuing
 * to the end of a task that does nothing.
 */
export async function postgresDelivery(server: string): Promise<string> {
  const contenders = [engine(server), ...queues.map((kind) => queue(server, kind))];
  const rates = await medians(contenders, rounds);
  const own = rates.get(ours) ?? 0;
  console.log(
    "\nPostgreSQL: messages or jobs per second, from the first accepted to the last done" +
      ` (${count(items)} in all, ${atOnce} at a time, a pool of ${poolSize}, median of ` +
      `${rounds} rounds)\n`,
  );
  console.log(
    table(
      ["", "per second", "ratio of tidings to it"],
      [...rates].map(([name, rate]) => [name, count(rate), ratio(own / rate)]),
    ),
  );
  const { concurrency, laneConcurrency } = dispatcherSettings;
  console.log("\n  Settings:");
  console.log(`  tidings: concurrency ${concurrency}, laneConcurrency ${laneConcurrency}`);
  for (const { name, settings } of queues) console.log(`  ${name}: ${settings}`);
  const ratios = queues.map(
    (kind) => `${ratio(own / (rates.get(theirs(kind)) ?? 1))} of ${kind.name}`,
  );
  return `${count(own)} deliveries per second (${ratios.join(", ")})`;
}

function engine(server: string): Contender {
  return {
    name: ours,
    run: () =>
      withPostgresEngine(
        server,
        async (each) => {
          await createContacts(each);
          return deliver(each, "new", items, atOnce);
        },
        dispatcherSettings,
      ),
  };
}

function queue(server: string, kind: QueueKind): Contender {
  return {
    name: theirs(kind),
    run: () =>
      withDatabase(server, async (database) => {
        await using each = await kind.open(database);
        const first = countdown(existingContacts);
        const all = countdown(items);
        let processed = first.count;
        await concurrently(existingContacts, atOnce, (i) => each.enqueue(i));
        await each.work(() => processed());
        await first.done;
        processed = all.count;
        const began = performance.now();
        await concurrently(items, atOnce, (i) => each.enqueue(existingContacts + i));
        await all.done;
        return { items, ms: performance.now() - began };
      }),
  };
}
