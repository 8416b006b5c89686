import { setTimeout as sleep } from "node:timers/promises";
import type { MessagingEngine } from "../../src/engine.ts";
import { withEngine, type StorageName } from "../support/engines.ts";
import { count, median, scaled, table } from "../support/measure.ts";
import {
  createEvent,
  createWebhooks,
  localHttp,
  monotonic,
  startReceiver,
  type Receiver,
} from "./fixtures.ts";

const rounds = 3;
const hanging = scaled(1_000);
/** The deliveries that wait for each hanging webhook. */
const backlog = 8;
/** Events before the measurement. The first of each contact also creates it. */
const warmUp = 100;
/** The events that are measured, and the time between them. */
const events = scaled(400);
const everyMs = 25;
/** Shorter than the default, so that attempts at hanging webhooks end and begin meanwhile. */
const deadlineSeconds = 5;

/**
 * The time from an event's commit to its arrival at a healthy receiver: with no other webhooks, and
 * with a thousand whose receiver never answers.
 */
export async function isolation(): Promise<string> {
  const lines: string[][] = [];
  const summaries: string[] = [];
  for (const storage of ["SQLite", "memory"] as const) {
    const alone: Latencies[] = [];
    const beside: Latencies[] = [];
    for (let round = 0; round < rounds; round++) {
      const measure = [
        async () => alone.push(await latencies(storage, 0)),
        async () => beside.push(await latencies(storage, hanging)),
      ];
      for (const each of round % 2 === 0 ? measure : measure.toReversed()) await each();
    }
    const of = (all: readonly Latencies[], name: keyof Latencies): number =>
      median(all.map((each) => each[name]));
    lines.push([`${storage}, no others`, ms(of(alone, "p50")), ms(of(alone, "p99")), ""]);
    const times = (of(beside, "p99") / of(alone, "p99")).toFixed(1);
    lines.push([
      `${storage}, ${count(hanging)} hanging`,
      ms(of(beside, "p50")),
      ms(of(beside, "p99")),
      times,
    ]);
    summaries.push(`${times} on ${storage}`);
  }
  console.log(
    "\nMilliseconds from an event's commit to its arrival at a healthy webhook" +
      ` (an event every ${everyMs} ms, median of ${rounds} rounds)\n`,
  );
  console.log(table(["other webhooks", "p50", "p99", "ratio of p99"], lines));
  return (
    `with ${count(hanging)} hanging webhooks a healthy one's p99 latency ` +
    `is multiplied by ${summaries.join(", ")}`
  );
}

interface Latencies {
  readonly p50: number;
  readonly p99: number;
}

async function latencies(storage: StorageName, times: number): Promise<Latencies> {
  using receiver = await startReceiver();
  // `await` keeps the receiver until the engine is done.
  return await withEngine(
    storage,
    async (one) => {
      await createWebhooks(one, 1, { url: receiver.url, events: ["message.received"] });
      const committed = new Map<string, number>();
      one.on("message.received", ({ id }) => void committed.set(id, monotonic()));
      await one.start();
      const delays = async (count: number): Promise<readonly number[]> => {
        const arriving = receiver.arrivals(count);
        const began = monotonic();
        for (let i = 0; i < count; i++) {
          await sleep(Math.max(0, began + i * everyMs - monotonic()));
          await createEvent(one, i);
        }
        return (await arriving).map(({ id, at }) => at - (committed.get(id) ?? NaN));
      };
      await delays(warmUp);
      if (times > 0) await addHanging(one, receiver, times);
      // Afterwards as many attempts hang as the engine allows.
      await delays(warmUp);
      const sorted = (await delays(events)).toSorted((a, b) => a - b);
      const at = (share: number): number => sorted[Math.floor(share * sorted.length)] ?? NaN;
      return { p50: at(0.5), p99: at(0.99) };
    },
    { ...localHttp(), webhooks: { deadlineSeconds } },
  );
}

/** Adds hanging webhooks: half to the healthy one's account, and half to another account. */
async function addHanging(one: MessagingEngine, { url }: Receiver, times: number): Promise<void> {
  const { account } = await one.accounts.create({ name: "Another account" });
  for (const each of [one, one.account(account.id)]) {
    await createWebhooks(each, times / 2, { url: `${url}/silent`, events: ["contact.created"] });
    for (let i = 0; i < backlog; i++) {
      await each.contacts.create({ phone: `+1312556${String(i).padStart(4, "0")}` });
    }
  }
}

const ms = (value: number): string => value.toFixed(1);
