import { createContacts, send, withEngine } from "../support/engines.ts";
import {
  concurrently,
  count,
  medians,
  ratio,
  scaled,
  table,
  type Contender,
} from "../support/measure.ts";
import { createWebhooks, localHttp } from "./fixtures.ts";

const rounds = 3;
const items = scaled(10_000);
const atOnce = 256;

/** How many webhooks subscribe to other events, and how many to the events of the sends. */
const cases = [
  { name: "no webhooks", others: 0, matching: 0 },
  { name: "1 that does not match", others: 1, matching: 0 },
  { name: "1,000 that do not match", others: 1_000, matching: 0 },
  { name: "2 that match", others: 0, matching: 2 },
  { name: "2 of 1,000 that match", others: 998, matching: 2 },
] as const;

/**
 * What webhooks cost the sends that cause their events. The engine does not run its jobs, so only
 * the transaction is measured that also creates the deliveries. It is measured in CPU time, on
 * which other load has little effect.
 */
export async function fanOut(): Promise<string> {
  const contenders = cases.map(contender);
  // The first sends run before the code is optimized.
  for (const { run } of contenders.slice(0, 2)) await run();
  const rates = await medians(contenders, rounds);
  const base = rates.get(cases[0].name) ?? 1;
  console.log(
    "\nSends to new recipients per second of CPU time on SQLite" +
      ` (${count(items)} sends, ${atOnce} at a time, median of ${rounds} rounds)\n`,
  );
  console.log(
    table(
      ["webhooks", "per CPU second", "ratio to none"],
      [...rates].map(([name, rate]) => [name, count(rate), ratio(rate / base)]),
    ),
  );
  const of = (name: string): string => ratio((rates.get(name) ?? 0) / base);
  return (
    `sends keep ${of("1,000 that do not match")} of their rate with 1,000 webhooks that do ` +
    `not match, ${of("2 that match")} with 2 that match`
  );
}

function contender({ name, others, matching }: (typeof cases)[number]): Contender {
  const url = "http://127.0.0.1:9/";
  return {
    name,
    run: () =>
      withEngine(
        "SQLite",
        async (one) => {
          await createContacts(one);
          await createWebhooks(one, others, { url, events: ["message.*", "contact.updated"] });
          await createWebhooks(one, matching, { url, events: ["contact.created"] });
          const before = process.cpuUsage();
          await concurrently(items, atOnce, (i) => send(one, "new", i));
          const { user, system } = process.cpuUsage(before);
          return { items, ms: (user + system) / 1_000 };
        },
        localHttp(),
      ),
  };
}
