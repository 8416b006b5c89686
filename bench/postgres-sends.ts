import type { MessagingEngine } from "../src/engine.ts";
import { known, meet, type Recipients, send } from "./engines.ts";
import { concurrently, type Contender, medians } from "./measure.ts";
import { poolSize, withDatabase, withPostgresEngine } from "./postgres-databases.ts";
import { type Queue, type QueueKind, queues } from "./postgres-queues.ts";
import { prepareGroups, prepareSingles, replayGroups, replaySingles } from "./postgres-raw.ts";
import { count, ratio, table } from "./table.ts";

const rounds = 3;
/** How many wait at a time, and how many are measured of ours and of all others, which take longer. */
const loads = [
  { atOnce: 1, ours: 300, others: 300 },
  { atOnce: 16, ours: 1_500, others: 1_000 },
  { atOnce: 256, ours: 6_000, others: 2_000 },
] as const;
type Load = (typeof loads)[number];
const [, , most] = loads;
const everyone = ["existing", "new"] as const;

const engine = (recipients: Recipients, { atOnce }: Load): string =>
  `${atOnce} at once: tidings, ${recipients} recipients`;
const jobs = ({ name, verb }: QueueKind, { atOnce }: Load): string =>
  `${atOnce} at once: ${name} ${verb}`;
const single = (recipients: Recipients): string =>
  `${most.atOnce} at once: raw, ${recipients} recipients`;
const bulk = (recipients: Recipients): string => `raw in bulk, ${recipients} recipients`;

/**
 * Sends in process, beside what queues take to accept a job, and beside the rows that a send writes, written by hand: row by row in one
 * transaction a send, on a pool of the same size, and in bulk for 128 sends at a time on one connection.
 */
export function postgresSends(server: string): Promise<string> {
  return withPostgresEngine(server, async (each) => {
    await meet(each);
    return withQueues(server, queues, async (opened) => {
      const contenders = loads.flatMap((load) => [
        ...everyone.map((recipients) => ourSends(each, recipients, load)),
        ...opened.map(([kind, queue]) => theirSends(kind, queue, load)),
      ]);
      for (const recipients of everyone) contenders.push(...(await raws(server, recipients)));
      return report(await medians(contenders, rounds));
    });
  });
}

type Opened = readonly (readonly [QueueKind, Queue])[];

async function withQueues<T>(
  server: string,
  [kind, ...others]: readonly QueueKind[],
  use: (opened: Opened) => Promise<T>,
): Promise<T> {
  if (kind === undefined) return use([]);
  return withDatabase(server, async (database) => {
    await using queue = await kind.open(database);
    await concurrently(known, most.atOnce, (i) => queue.enqueue(i));
    return await withQueues(server, others, (opened) => use([[kind, queue], ...opened]));
  });
}

/** No two sends have a number in common: each has a key, and maybe a recipient, of its own. */
let sent = 0;

function ourSends(each: MessagingEngine, recipients: Recipients, load: Load): Contender {
  const { atOnce, ours: items } = load;
  return {
    name: engine(recipients, load),
    run: async () => ({
      items,
      ms: await concurrently(items, atOnce, () => send(each, recipients, sent++)),
    }),
  };
}

function theirSends(kind: QueueKind, queue: Queue, load: Load): Contender {
  const { atOnce, others: items } = load;
  return {
    name: jobs(kind, load),
    run: async () => ({ items, ms: await concurrently(items, atOnce, (i) => queue.enqueue(i)) }),
  };
}

async function raws(server: string, recipients: Recipients): Promise<Contender[]> {
  const [singles, groups] = [
    await prepareSingles(recipients, most.others),
    await prepareGroups(recipients, most.ours),
  ];
  return [
    { name: single(recipients), run: () => replaySingles(server, singles, most.atOnce) },
    { name: bulk(recipients), run: () => replayGroups(server, groups) },
  ];
}

function report(rates: ReadonlyMap<string, number>): string {
  const rate = (name: string): number => rates.get(name) ?? 0;
  const ratios = (recipients: Recipients, load: Load): number[] => {
    const bases = queues.map((kind) => jobs(kind, load));
    if (load === most) bases.push(single(recipients), bulk(recipients));
    return bases.map((base) => rate(engine(recipients, load)) / rate(base));
  };
  const lines = loads.flatMap((load) => [
    ...everyone.map((recipients) => {
      const name = engine(recipients, load);
      return [name, count(rate(name)), ...ratios(recipients, load).map(ratio)];
    }),
    ...queues.map((kind) => [jobs(kind, load), count(rate(jobs(kind, load)))]),
  ]);
  const raw = everyone.flatMap((recipients) => [single(recipients), bulk(recipients)]);
  console.log(`\nPostgreSQL: accepted a second, in process, a pool of ${poolSize}\n`);
  console.log(
    table(
      ["", "a second", ...queues.map(({ name }) => `of ${name}`), "of raw", "of raw in bulk"],
      [...lines, ...raw.map((name) => [name, count(rate(name))])],
    ),
  );
  const told = everyone.map((recipients) => {
    const of = queues.map(({ name }, i) => `${ratio(ratios(recipients, most)[i] ?? 0)} of ${name}`);
    return `${count(rate(engine(recipients, most)))} sends a second to ${recipients} recipients (${of.join(", ")})`;
  });
  return told.join(", ");
}
