import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { MessagingEngine } from "../../adapters/entry.ts";
import { startPostgres } from "../../test/support/postgres/server.ts";
import { withTempFile } from "../support/engines.ts";
import { concurrently, count, median, ratio, scaled, table } from "../support/measure.ts";
import { windowMs } from "./clone-rows.ts";
import {
  GrownDatabase,
  grownEngine,
  postgresDatabases,
  seedMessages,
  sqliteDatabases,
  writeSeed,
  type Databases,
} from "./grown-database.ts";

const sizes = [10_000, 100_000, 1_000_000, 5_000_000];
const rounds = scaled(41);
/** The first rounds run before the code is optimized and the caches are filled. */
const warmUps = scaled(20);
const startRounds = scaled(9);
/** How many sends are timed together. */
const atOnce = 32;

/** One measurement. Returns how many milliseconds a unit of its work took. */
type Measure = (engine: MessagingEngine, database: GrownDatabase, round: number) => Promise<number>;

type Page = Promise<{ readonly data: readonly unknown[] }>;

const measures: Readonly<Record<string, Measure>> = {
  "sends to existing contacts, to delivered": (engine, database, round) =>
    sends(engine, (i) => database.contact(part(round * atOnce + i)).phone),
  "sends to new contacts, to delivered": (engine, _, round) =>
    sends(engine, (i) => `+1220${String(round * atOnce + i).padStart(7, "0")}`),
  "inbound message of an existing contact": async ({ sandbox }, database, round) => {
    const from = database.contact(part(round)).phone;
    const began = performance.now();
    await sandbox.inbound({ from, body: "Is my table ready?" });
    return performance.now() - began;
  },
  "page of the inbox": page(({ conversations }) => conversations.list({ status: "open" })),
  "page of a thread": page(({ conversations }, database, at) =>
    conversations.messages(database.contact(at).conversation),
  ),
  "search: a name of 50 contacts": page(({ contacts }, database, at) =>
    contacts.search({ q: database.contact(at).family }),
  ),
  "search: a word of one message": page(({ conversations }, database, at) =>
    conversations.search({ q: database.contact(at).word }),
  ),
  "page of messages": page(({ messages }) => messages.list()),
  "page of events": page(({ events }) => events.list()),
  "page of webhook deliveries": page(({ webhooks }, { webhook }) => webhooks.deliveries(webhook)),
};

/** A place between 0 and 1, far from the places of the rounds before. */
const part = (round: number): number => (round * 0.618_034) % 1;

function page(
  read: (engine: MessagingEngine, database: GrownDatabase, at: number) => Page,
): Measure {
  return async (engine, database, round) => {
    const began = performance.now();
    const { data } = await read(engine, database, part(round));
    const ms = performance.now() - began;
    if (data.length === 0) throw new Error("a page of the benchmark is empty");
    return ms;
  };
}

async function sends(engine: MessagingEngine, to: (i: number) => string): Promise<number> {
  let left = atOnce;
  const allDelivered = new Promise<void>((resolve) => {
    const onSent = (): void => {
      if (--left > 0) return;
      engine.off("message.sent", onSent);
      resolve();
    };
    engine.on("message.sent", onSent);
  });
  const recipients = Array.from({ length: atOnce }, (_, i) => to(i));
  const began = performance.now();
  await concurrently(atOnce, atOnce, (i) =>
    engine.messages.send({ to: recipients[i] ?? "", body: "Your table is booked for 7 pm." }),
  );
  await allDelivered;
  return (performance.now() - began) / atOnce;
}

/**
 * How much slower everything is with up to `max` messages than with ten thousand. `storage` is
 * `sqlite`, `postgres`, or both if it is left out.
 */
export async function scale(max: number, storage?: string): Promise<string> {
  const copies = sizes.filter((size) => size <= max).map((size) => size / seedMessages);
  const ratios: string[] = [];
  if (storage !== "postgres") {
    const highest = await withTempFile((file) => compare(sqliteDatabases(dirname(file)), copies));
    ratios.push(`${highest} times as long on SQLite`);
  }
  if (storage !== "sqlite") {
    await using server = await startPostgres();
    ratios.push(`${await compare(postgresDatabases(server.url), copies)} times on PostgreSQL`);
  }
  return (
    `scale: with ${count(Math.max(...copies) * seedMessages)} messages instead of ` +
    `${count(Math.min(...copies) * seedMessages)}, work takes at most ${ratios.join(", ")} ` +
    "(--max 5000000 measures up to 5 million messages)"
  );
}

/** Returns the highest ratio of the largest size to the smallest. */
async function compare(databases: Databases, copies: readonly number[]): Promise<string> {
  // All sizes begin at the same time, so that they can have the same retention.
  const start = Math.floor(Date.now() / windowMs) * windowMs - Math.max(...copies) * windowMs;
  const seed = await writeSeed(databases, start);
  const grown: GrownDatabase[] = [];
  for (const each of copies) {
    const began = performance.now();
    grown.push(await GrownDatabase.grow(databases, seed, each));
    const seconds = count((performance.now() - began) / 1_000);
    console.log(`${databases.storage}: ${count(each * seedMessages)} messages in ${seconds} s`);
  }
  const times = [...(await measureWork(grown)), ...(await measureStarts(grown))];
  const lines = times.map(([name, ms]) => {
    const [base = 1, ...larger] = ms;
    const ratios = larger.map((each) => ratio(each / base));
    return [name, ...ms.map((each) => each.toFixed(2)), ...ratios];
  });
  const names = grown.map(({ messages }) => count(messages));
  console.log(
    `\nMilliseconds on ${databases.storage} by the number of messages, a fifth as many contacts` +
      ` (medians of ${rounds} rounds after ${warmUps} unmeasured ones, of ${startRounds} for` +
      " starts), and ratios to the first\n",
  );
  console.log(table(["", ...names, ...names.slice(1)], lines));
  return ratio(Math.max(...times.map(([, ms]) => (ms.at(-1) ?? 0) / (ms[0] ?? 1))));
}

type Times = [name: string, msBySize: readonly number[]];

async function measureWork(grown: readonly GrownDatabase[]): Promise<Times[]> {
  const engines = new Map(grown.map((each) => [each, grownEngine(each.database, each.clock)]));
  try {
    for (const engine of engines.values()) await engine.start();
    const times: Times[] = [];
    for (const [name, measure] of Object.entries(measures)) {
      const ms = await interleaved(
        [...engines],
        { times: rounds, skipped: warmUps },
        ([database, engine], round) => measure(engine, database, round),
      );
      times.push([name, ms]);
    }
    return times;
  } finally {
    for (const engine of engines.values()) await engine.stop();
  }
}

/** Each start is followed by the removal of events and deliveries that expired meanwhile. */
async function measureStarts(grown: readonly GrownDatabase[]): Promise<Times[]> {
  const reaps = new Map(grown.map((each) => [each, [] as number[]]));
  const starts = await interleaved(grown, { times: startRounds }, async (database, round) => {
    database.expire((round + 1) / (startRounds + 2));
    const began = performance.now();
    await using engine = grownEngine(database.database, database.clock);
    await engine.start();
    const started = performance.now();
    await isReaped(database);
    reaps.get(database)?.push(performance.now() - started);
    return started - began;
  });
  return [
    ["start of an engine", starts],
    ["removal of expired events", grown.map((each) => median(reaps.get(each) ?? []))],
  ];
}

/** Resolves when the job that removes expired rows is scheduled again. */
async function isReaped({ database, clock }: GrownDatabase): Promise<void> {
  const { now } = clock.options.clock;
  await using session = await database.session();
  const next = (): Promise<unknown> =>
    session.run("SELECT due_at FROM tidings_jobs WHERE kind = 'reap' AND NOT leased");
  while (!(Number(await next()) > now())) await setTimeout(2);
}

/** Takes turns between the databases, so that other load affects all alike. Returns medians. */
async function interleaved<T>(
  sizes: readonly T[],
  { times, skipped = 0 }: { readonly times: number; readonly skipped?: number },
  measure: (size: T, round: number) => Promise<number>,
): Promise<number[]> {
  const results = new Map(sizes.map((size) => [size, [] as number[]]));
  for (let round = 0; round < skipped + times; round++) {
    for (const size of round % 2 === 0 ? sizes : sizes.toReversed()) {
      const ms = await measure(size, round);
      if (round >= skipped) results.get(size)?.push(ms);
    }
  }
  return [...results.values()].map(median);
}
