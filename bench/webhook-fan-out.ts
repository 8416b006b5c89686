import { meet, send, withEngine } from "./engines.ts";
import { concurrently, type Contender, medians } from "./measure.ts";
import { count, ratio, table } from "./table.ts";
import { subscribe, toThisMachine } from "./webhook-engines.ts";

const rounds = 3;
const items = 10_000;
const atOnce = 256;

/** What webhooks cost who sends to new recipients: none, many that are not told of new contacts, and two that are. */
const crowds = [
  { name: "no webhooks", others: 0, listening: 0 },
  { name: "1 that doesn't match", others: 1, listening: 0 },
  { name: "1,000 that don't match", others: 1_000, listening: 0 },
  { name: "2 that match", others: 0, listening: 2 },
  { name: "2 of 1,000 that match", others: 998, listening: 2 },
] as const;

/**
 * The engine accepts messages and hands nothing over: what is measured is the transaction that makes deliveries. In time of the processor,
 * which what else runs on the machine changes little.
 */
export async function fanOut(): Promise<string> {
  const contenders = crowds.map(contender);
  // The first sends meet cold code.
  for (const { run } of contenders.slice(0, 2)) await run();
  const rates = await medians(contenders, rounds);
  const base = rates.get(crowds[0].name) ?? 1;
  console.log(
    `\nSends to new recipients on SQLite, ${atOnce} at once, in a second of the processor's time\n`,
  );
  console.log(
    table(
      ["", "a second", "of none"],
      [...rates].map(([name, rate]) => [name, count(rate), ratio(rate / base)]),
    ),
  );
  const of = (name: string): string => ratio((rates.get(name) ?? 0) / base);
  return `sends beside 1,000 webhooks that don't match ${of("1,000 that don't match")}, for 2 that match ${of("2 that match")}`;
}

function contender({ name, others, listening }: (typeof crowds)[number]): Contender {
  const url = "http://127.0.0.1:9/";
  return {
    name,
    run: () =>
      withEngine(
        "SQLite",
        async (one) => {
          await meet(one);
          await subscribe(one, others, { url, events: ["message.*", "contact.updated"] });
          await subscribe(one, listening, { url, events: ["contact.created"] });
          const before = process.cpuUsage();
          await concurrently(items, atOnce, (i) => send(one, "new", i));
          const { user, system } = process.cpuUsage(before);
          return { items, ms: (user + system) / 1_000 };
        },
        toThisMachine(),
      ),
  };
}
