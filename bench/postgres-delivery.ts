import { known, meet, recipient, text } from "./engines.ts";
import { concurrently, type Contender, medians } from "./measure.ts";
import { busy, withDatabase, withPostgresEngine } from "./postgres-databases.ts";
import { type QueueKind, queues } from "./postgres-queues.ts";
import { count, ratio, table } from "./table.ts";

const items = 2_000;
const rounds = 3;
const atOnce = 256;

const ours = "tidings, accepted to delivered";
const theirs = ({ name }: QueueKind): string => `${name}, enqueued to processed`;

/** From acceptance to delivered, beside queues from a job's enqueuing to the end of a task that does nothing. */
export async function postgresDelivery(server: string): Promise<string> {
  const contenders = [engine(server), ...queues.map((kind) => queue(server, kind))];
  const rates = await medians(contenders, rounds);
  const own = rates.get(ours) ?? 0;
  console.log(
    `\nPostgreSQL: a second from the first to the last, ${atOnce} at once, ${count(items)} in all\n`,
  );
  console.log(
    table(
      ["", "a second", "ours of it"],
      [...rates].map(([name, rate]) => [name, count(rate), ratio(own / rate)]),
    ),
  );
  console.log(
    `\n  tidings: concurrency ${busy.concurrency}, laneConcurrency ${busy.laneConcurrency}`,
  );
  for (const { name, settings } of queues) console.log(`  ${name}: ${settings}`);
  const ratios = queues.map(
    (kind) => `${ratio(own / (rates.get(theirs(kind)) ?? 1))} of ${kind.name}`,
  );
  return `delivered ${count(own)} a second (${ratios.join(", ")})`;
}

function engine(server: string): Contender {
  return {
    name: ours,
    run: () =>
      withPostgresEngine(
        server,
        async (each) => {
          await meet(each);
          const first = countdown(known);
          const all = countdown(items);
          let sent = first.count;
          each.on("message.sent", () => sent());
          await each.start();
          await first.done;
          sent = all.count;
          const began = performance.now();
          await concurrently(items, atOnce, (i) =>
            each.messages.send(
              { to: recipient("new", i), body: text },
              { idempotencyKey: `send-${i}` },
            ),
          );
          await all.done;
          return { items, ms: performance.now() - began };
        },
        busy,
      ),
  };
}

function queue(server: string, kind: QueueKind): Contender {
  return {
    name: theirs(kind),
    run: () =>
      withDatabase(server, async (database) => {
        await using each = await kind.open(database);
        const first = countdown(known);
        const all = countdown(items);
        let processed = first.count;
        await concurrently(known, atOnce, (i) => each.enqueue(i));
        await each.work(() => processed());
        await first.done;
        processed = all.count;
        const began = performance.now();
        await concurrently(items, atOnce, (i) => each.enqueue(known + i));
        await all.done;
        return { items, ms: performance.now() - began };
      }),
  };
}

/** Resolves when it was counted so many times. */
function countdown(times: number): { readonly count: () => void; readonly done: Promise<void> } {
  let left = times;
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    done: promise,
    count: () => {
      if (--left === 0) resolve();
    },
  };
}
