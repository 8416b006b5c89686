import { setTimeout as sleep } from "node:timers/promises";
import type { MessagingEngine } from "../src/engine.ts";
import { type StorageName, withEngine } from "./engines.ts";
import { median } from "./measure.ts";
import { monotonic, type Receiver, startReceiver } from "./receiver.ts";
import { table } from "./table.ts";
import { happen, subscribe, toThisMachine } from "./webhook-engines.ts";

const rounds = 3;
const hanging = 1_000;
/** Deliveries that wait for each of those that hang. */
const backlog = 8;
/** People who write: each is a new contact once. */
const known = 100;
/** Of the healthy one: how many are measured, and how long after each other they happen. */
const events = 400;
const everyMs = 25;
/** Short of the usual, so that attempts at those that hang end and begin while it is measured. */
const deadlineSeconds = 5;

/** How long from commit to arrival, at one healthy receiver alone, and beside a thousand that accept and never answer. */
export async function isolation(): Promise<string> {
  const lines: string[][] = [];
  const told: string[] = [];
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
    lines.push([`${storage}: alone`, ms(of(alone, "p50")), ms(of(alone, "p99")), ""]);
    const times = (of(beside, "p99") / of(alone, "p99")).toFixed(1);
    lines.push([
      `${storage}: beside ${hanging} that hang`,
      ms(of(beside, "p50")),
      ms(of(beside, "p99")),
      times,
    ]);
    told.push(`${times} on ${storage}`);
  }
  console.log(`\nMilliseconds from commit to arrival, one event every ${everyMs} ms\n`);
  console.log(table(["", "p50", "p99", "of alone"], lines));
  return `p99 beside ${hanging} webhooks that hang, of alone: ${told.join(", ")}`;
}

interface Latencies {
  readonly p50: number;
  readonly p99: number;
}

async function latencies(storage: StorageName, times: number): Promise<Latencies> {
  using receiver = await startReceiver();
  // Awaited here: the receiver goes when this is over.
  return await withEngine(
    storage,
    async (one) => {
      await subscribe(one, 1, { url: receiver.url, events: ["message.received"] });
      const committed = new Map<string, number>();
      one.on("message.received", ({ id }) => void committed.set(id, monotonic()));
      await one.start();
      const told = async (count: number): Promise<readonly number[]> => {
        const arriving = receiver.arrivals(count);
        const began = monotonic();
        for (let i = 0; i < count; i++) {
          await sleep(Math.max(0, began + i * everyMs - monotonic()));
          await happen(one, i);
        }
        return (await arriving).map(({ id, at }) => at - (committed.get(id) ?? NaN));
      };
      // It is known to answer, nothing is cold, and whoever writes is known, when the others come.
      await told(known);
      if (times > 0) await hang(one, receiver, times);
      // By then as many of them hang as may.
      await told(known);
      const sorted = (await told(events)).toSorted((a, b) => a - b);
      const at = (share: number): number => sorted[Math.floor(share * sorted.length)] ?? NaN;
      return { p50: at(0.5), p99: at(0.99) };
    },
    { ...toThisMachine(), webhooks: { deadlineSeconds } },
  );
}

/** Half of them are the healthy one's own account's. */
async function hang(one: MessagingEngine, { url }: Receiver, times: number): Promise<void> {
  const { account } = await one.accounts.create({ name: "Of the other half" });
  for (const each of [one, one.account(account.id)]) {
    await subscribe(each, times / 2, { url: `${url}/silent`, events: ["contact.created"] });
    for (let i = 0; i < backlog; i++) {
      await each.contacts.create({ phone: `+1312556${String(i).padStart(4, "0")}` });
    }
  }
}

const ms = (value: number): string => value.toFixed(1);
