import { meet, recipient, type StorageName, text, withEngine } from "./engines.ts";
import { concurrently, type Contender, medians } from "./measure.ts";
import { count, ratio, table } from "./table.ts";

const items = 3_000;
const rounds = 5;
const atOnce = 256;

/** From acceptance to delivered, by a carrier that takes everything at once: what the dispatch costs. */
export async function delivery(): Promise<string> {
  const rates = await medians([contender("SQLite"), contender("memory")], rounds);
  const [disk = 0, ram = 1] = [rates.get("SQLite"), rates.get("memory")];
  console.log(
    `\nMessages a second from acceptance to delivered, ${atOnce} at once, ${count(items)} recipients\n`,
  );
  console.log(
    table(
      ["", "a second", "of memory"],
      [...rates].map(([name, rate]) => [name, count(rate), ratio(rate / ram)]),
    ),
  );
  return `delivered on SQLite: ${count(disk)} a second`;
}

function contender(storage: StorageName): Contender {
  return {
    name: storage,
    run: () =>
      withEngine(storage, async (engine) => {
        await meet(engine);
        const seen = new Set<string>();
        const arrived = new Promise<void>((resolve) => {
          let left = items;
          engine.on("message.sent", ({ data: { to } }) => {
            if (seen.has(to) && --left === 0) resolve();
          });
        });
        await engine.start();
        const began = performance.now();
        await concurrently(items, atOnce, (i) => {
          const to = recipient("new", i);
          seen.add(to);
          return engine.messages.send({ to, body: text }, { idempotencyKey: `send-${i}` });
        });
        await arrived;
        return { items, ms: performance.now() - began };
      }),
  };
}
