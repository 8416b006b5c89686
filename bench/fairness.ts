import { setTimeout as sleep } from "node:timers/promises";
import { memory } from "../adapters/storage/memory/index.ts";
import { postgres } from "../adapters/storage/postgres/index.ts";
import { sqlite } from "../adapters/storage/sqlite/index.ts";
import type { MessagingEngine } from "../src/engine.ts";
import type { StoragePort } from "../src/ports/storage.ts";
import type { OutboundMessage, Transport } from "../src/ports/transport.ts";
import { startPostgres } from "../test/support/postgres/server.ts";
import { instantCarrier, text, withEngineOn, withTempFile } from "./support/engines.ts";
import { count, ratio, scaled, table } from "./support/measure.ts";
import { poolSize, withDatabase } from "./support/postgres-databases.ts";

/** How long the carrier takes to answer, in milliseconds. */
const answerMs = 20;
/** The batches of the mailing, and the messages of each: as many as one request may have. */
const batches = 10;
const perBatch = scaled(1_000);
/** How many single messages are sent while no mailing runs. */
const singles = scaled(500);
/** The first single messages are not measured. */
const warmUp = 50;

/**
 * How long a single message waits for its carrier's call beside a mailing of the same account, and
 * how much slower the mailing is beside single messages that never stop.
 */
export async function fairness(): Promise<string> {
  const results = [
    await measure("memory", memory()),
    await withTempFile((file) => measure("SQLite", sqlite({ file }))),
    await onPostgres(),
  ];
  console.log(
    `\nMilliseconds from \`send\` to the carrier's call, for single messages one after another,` +
      ` alone and beside a mailing of ${count(batches * perBatch)} batched messages of the same` +
      ` account (the carrier answers after ${answerMs} ms)\n`,
  );
  console.log(
    table(
      [
        "storage",
        "p50 alone",
        "p50 beside",
        "ratio",
        "p99 alone",
        "p99 beside",
        "ratio",
        "singles",
      ],
      results.map(({ name, alone, beside }) => [
        name,
        ...compared(quantile(alone, 0.5), quantile(beside.waits, 0.5)),
        ...compared(quantile(alone, 0.99), quantile(beside.waits, 0.99)),
        count(beside.waits.length),
      ]),
    ),
  );
  console.log("\nMessages of the mailing per second, accepted to delivered\n");
  console.log(
    table(
      ["storage", "alone", "beside singles", "ratio"],
      results.map(({ name, mailing, beside }) => [
        name,
        count(mailing),
        count(beside.mailing),
        ratio(beside.mailing / mailing),
      ]),
    ),
  );
  const ratios = results.map(
    ({ name, alone, beside }) =>
      `${ratio(quantile(beside.waits, 0.99) / quantile(alone, 0.99))} on ${name}`,
  );
  return `fairness: p99 of singles beside a mailing ${ratios.join(", ")} of alone`;
}

interface Result {
  readonly name: string;
  /** The waits of single messages without a mailing, in milliseconds. */
  readonly alone: readonly number[];
  /** The messages per second of a mailing without single messages. */
  readonly mailing: number;
  readonly beside: { readonly waits: readonly number[]; readonly mailing: number };
}

async function onPostgres(): Promise<Result> {
  await using server = await startPostgres();
  return await withDatabase(server.url, (database) =>
    measure("PostgreSQL", postgres({ pool: database.pool({ max: poolSize }) })),
  );
}

function measure(name: string, storage: StoragePort): Promise<Result> {
  const line = slowCarrier();
  return withEngineOn(
    storage,
    async (engine) => {
      await engine.start();
      await sendSingles(engine, line, (sent) => sent === warmUp);
      const before = await sendSingles(engine, line, (sent) => sent === singles);
      const mailing = await sendMailing(engine, 0);
      let isOver = false;
      const [besideMailing, waits] = await Promise.all([
        sendMailing(engine, 1).finally(() => {
          isOver = true;
        }),
        sendSingles(engine, line, () => isOver),
      ]);
      // Measured before and after, because other load on the machine comes and goes.
      const after = await sendSingles(engine, line, (sent) => sent === singles);
      const alone = [...before, ...after];
      return { name, alone, mailing, beside: { waits, mailing: besideMailing } };
    },
    { transports: [line.transport] },
  );
}

interface Line {
  readonly transport: Transport;
  /** Resolves when the carrier is called for a message to this recipient. */
  readonly called: (to: string) => Promise<void>;
}

/** A carrier that accepts everything after `answerMs` and sends no receipts. */
function slowCarrier(): Line {
  const waiting = new Map<string, () => void>();
  const instant = instantCarrier();
  return {
    transport: {
      ...instant,
      async send(message: OutboundMessage, attempt) {
        waiting.get(message.to)?.();
        await sleep(answerMs);
        return instant.send(message, attempt);
      },
    },
    called: (to) => new Promise((resolve) => void waiting.set(to, resolve)),
  };
}

/** Sends single messages one after another. Returns how long each waited for its carrier's call. */
async function sendSingles(
  { messages }: MessagingEngine,
  { called }: Line,
  isEnough: (sent: number) => boolean,
): Promise<readonly number[]> {
  const waits: number[] = [];
  while (!isEnough(waits.length)) {
    const to = `+1212${String(1_000_000 + (waits.length % singles)).padStart(7, "0")}`;
    const call = called(to);
    const began = performance.now();
    await Promise.all([messages.send({ to, body: text }), call]);
    waits.push(performance.now() - began);
  }
  return waits;
}

/** Sends a mailing to new recipients. Returns its messages per second until all are delivered. */
async function sendMailing(engine: MessagingEngine, mailing: number): Promise<number> {
  const total = batches * perBatch;
  const { promise: allDelivered, resolve } = Promise.withResolvers<void>();
  let left = total;
  const prefix = `+1646${mailing}`;
  engine.on("message.sent", ({ data: { to } }) => {
    if (to.startsWith(prefix) && --left === 0) resolve();
  });
  const began = performance.now();
  for (let batch = 0; batch < batches; batch++) {
    await engine.messages.batch({
      messages: Array.from({ length: perBatch }, (_, i) => ({
        to: `${prefix}${String(batch * perBatch + i).padStart(6, "0")}`,
        body: text,
      })),
    });
  }
  await allDelivered;
  return (total * 1_000) / (performance.now() - began);
}

function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
}

function compared(alone: number, beside: number): string[] {
  return [alone.toFixed(1), beside.toFixed(1), ratio(beside / alone)];
}
