import type { MessagingEngine } from "../../src/engine.ts";
import { createContacts, existingContacts, send, type Recipients } from "../support/engines.ts";
import {
  concurrently,
  count,
  medians,
  ratio,
  scaled,
  table,
  type Contender,
} from "../support/measure.ts";
import { poolSize, withDatabase, withPostgresEngine } from "../support/postgres-databases.ts";
import { queues, type Queue, type QueueKind } from "./queues.ts";
import { prepareGroups, prepareSingles, replayGroups, replaySingles } from "./replay.ts";

const rounds = 3;
/** How many calls wait at a time, and how many are measured. The other contenders are slower. */
const loads = [
  { atOnce: 1, ours: scaled(300), others: scaled(300) },
  { atOnce: 16, ours: scaled(1_500), others: scaled(1_000) },
  { atOnce: 256, ours: scaled(6_000), others: scaled(2_000) },
] as const;
type Load = (typeof loads)[number];
const [, , heaviest] = loads;
const allRecipients = ["existing", "new"] as const;

const engine = (recipients: Recipients, { atOnce }: Load): string =>
  `${atOnce} at once: tidings, ${recipients} recipients`;
const jobs = ({ name, verb }: QueueKind, { atOnce }: Load): string =>
  `${atOnce} at once: ${name} ${verb}`;
const single = (recipients: Recipients): string =>
  `${heaviest.atOnce} at once: row by row, ${recipients} recipients`;
const bulk = (recipients: Recipients): string => `in bulk, ${recipients} recipients`;

/**
 * Sends in process; job queues that accept a job; and hand-written statements for the rows of a
 * send: row by row in one transaction per send, and in bulk for up to 128 sends on one connection.
 */
export function postgresSends(server: string): Promise<string> {
  return withPostgresEngine(server, async (each) => {
    await createContacts(each);
    return withQueues(server, queues, async (opened) => {
      const contenders = loads.flatMap((load) => [
        ...allRecipients.map((recipients) => ourSends(each, recipients, load)),
        ...opened.map(([kind, queue]) => theirSends(kind, queue, load)),
      ]);
      for (const recipients of allRecipients) {
        contenders.push(...(await replays(server, recipients)));
      }
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
    await concurrently(existingContacts, heaviest.atOnce, (i) => queue.enqueue(i));
    return await withQueues(server, others, (opened) => use([[kind, queue], ...opened]));
  });
}

/** Makes the key, and the new recipient, of every send a new one. */
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

async function replays(server: string, recipients: Recipients): Promise<Contender[]> {
  const [singles, groups] = [
    await prepareSingles(recipients, heaviest.others),
    await prepareGroups(recipients, heaviest.ours),
  ];
  return [
    { name: single(recipients), run: () => replaySingles(server, singles, heaviest.atOnce) },
    { name: bulk(recipients), run: () => replayGroups(server, groups) },
  ];
}

function report(rates: ReadonlyMap<string, number>): string {
  const rate = (name: string): number => rates.get(name) ?? 0;
  const ratios = (recipients: Recipients, load: Load): number[] => {
    const bases = queues.map((kind) => jobs(kind, load));
    if (load === heaviest) bases.push(single(recipients), bulk(recipients));
    return bases.map((base) => rate(engine(recipients, load)) / rate(base));
  };
  const lines = loads.flatMap((load) => [
    ...allRecipients.map((recipients) => {
      const name = engine(recipients, load);
      return [name, count(rate(name)), ...ratios(recipients, load).map(ratio)];
    }),
    ...queues.map((kind) => [jobs(kind, load), count(rate(jobs(kind, load)))]),
  ]);
  const replayed = allRecipients.flatMap((recipients) => [single(recipients), bulk(recipients)]);
  console.log(
    "\nPostgreSQL: accepted messages or jobs per second, in process" +
      ` (a pool of ${poolSize}, median of ${rounds} rounds), and the ratio of tidings to the ` +
      "others\n",
  );
  console.log(
    table(
      ["", "per second", ...queues.map(({ name }) => `to ${name}`), "to row by row", "to bulk"],
      [...lines, ...replayed.map((name) => [name, count(rate(name))])],
    ),
  );
  const summaries = allRecipients.map((recipients) => {
    const of = queues.map(
      ({ name }, i) => `${ratio(ratios(recipients, heaviest)[i] ?? 0)} of ${name}`,
    );
    return (
      `${count(rate(engine(recipients, heaviest)))} sends per second to ${recipients} ` +
      `recipients (${of.join(", ")})`
    );
  });
  return summaries.join(", ");
}
