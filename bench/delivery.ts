import { createContacts, recipient, type StorageName, text, withEngine } from "./engines.ts";
import { concurrently, type Contender, count, medians, ratio, scaled, table } from "./measure.ts";

const items = scaled(3_000);
const rounds = 5;
const atOnce = 256;

/** Messages per second from acceptance to delivery, by a carrier that accepts at once. */
export async function delivery(): Promise<string> {
  const rates = await medians([contender("SQLite"), contender("memory")], rounds);
  const [onSqlite = 0, onMemory = 1] = [rates.get("SQLite"), rates.get("memory")];
  console.log(
    `\nMessages per second from acceptance to delivery` +
      ` (${count(items)} new recipients, ${atOnce} sends at a time, median of ${rounds} rounds)\n`,
  );
  console.log(
    table(
      ["storage", "per second", "ratio to memory"],
      [...rates].map(([name, rate]) => [name, count(rate), ratio(rate / onMemory)]),
    ),
  );
  return `delivery: ${count(onSqlite)} messages per second on SQLite`;
}

function contender(storage: StorageName): Contender {
  return {
    name: storage,
    run: () =>
      withEngine(storage, async (engine) => {
        await createContacts(engine);
        const sentTo = new Set<string>();
        const allDelivered = new Promise<void>((resolve) => {
          let left = items;
          engine.on("message.sent", ({ data: { to } }) => {
            if (sentTo.has(to) && --left === 0) resolve();
          });
        });
        await engine.start();
        const began = performance.now();
        await concurrently(items, atOnce, (i) => {
          const to = recipient("new", i);
          sentTo.add(to);
          return engine.messages.send({ to, body: text }, { idempotencyKey: `send-${i}` });
        });
        await allDelivered;
        return { items, ms: performance.now() - began };
      }),
  };
}
