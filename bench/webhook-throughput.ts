import { withEngine, type StorageName } from "./engines.ts";
import { barePosts } from "./bare-posts.ts";
import { concurrently, type Contender, medians, type Work } from "./measure.ts";
import { type Arrival, type Receiver, startReceiver } from "./receiver.ts";
import { count, ratio, table } from "./table.ts";
import { happen, toThisMachine } from "./webhook-engines.ts";

const rounds = 5;
const warmUp = 2_000;
/** How many requests are under way at once: what an engine allows a webhook whose order matters, and any other one. */
const ways = [
  { atOnce: 1, ordering: "fifo", items: 2_000 },
  { atOnce: 8, ordering: "none", items: 5_000 },
] as const;
type Way = (typeof ways)[number];

/**
 * Events that are committed, to one receiver that answers at once, beside bare loops that post to the same receiver: so many at once, and
 * one after the other.
 */
export async function throughput(): Promise<string> {
  using receiver = await startReceiver();
  const body = await sampleBody();
  const contenders = ways.flatMap((way) => [
    { name: bare(way), run: () => barePosted(receiver, way, body, false) },
    { name: signed(way), run: () => barePosted(receiver, way, body, true) },
    engine("SQLite", receiver, way),
    engine("memory", receiver, way),
  ]);
  const rates = await medians(contenders, rounds);
  const of = (name: string, loop: string): string =>
    ratio((rates.get(name) ?? 0) / (rates.get(loop) ?? 1));
  const lines = ways.flatMap((way) =>
    [bare(way), signed(way), engineName("SQLite", way), engineName("memory", way)].map((name) => [
      name,
      count(rates.get(name) ?? 0),
      of(name, bare(way)),
      of(name, bare(ways[0])),
    ]),
  );
  console.log(
    `\nDeliveries a second of committed events to one receiver in a process of its own\n`,
  );
  console.log(table(["", "a second", "of bare", "of a bare loop"], lines));
  const told = ways.map((way) => of(engineName("SQLite", way), bare(way)));
  return `deliveries on SQLite of bare POSTs at ${ways.map(({ atOnce }) => atOnce).join(" / ")} at once: ${told.join(" / ")}`;
}

const bare = ({ atOnce }: Way): string => `${atOnce} at once: bare keep-alive POSTs`;
const signed = ({ atOnce }: Way): string => `${atOnce} at once: the same, each signed`;
const engineName = (storage: StorageName, { atOnce }: Way): string =>
  `${atOnce} at once: ${storage}`;

function engine(storage: StorageName, receiver: Receiver, way: Way): Contender {
  const { items, ordering } = way;
  return {
    name: engineName(storage, way),
    run: () =>
      withEngine(
        storage,
        async (one) => {
          const { id } = await one.webhooks.create({
            url: receiver.url,
            events: ["message.received"],
            ordering,
          });
          await one.start();
          const drained = async (times: number): Promise<Work> => {
            await one.webhooks.update(id, { status: "paused" });
            await concurrently(times, 64, (i) => happen(one, i));
            return measured(receiver, times, () => one.webhooks.update(id, { status: "enabled" }));
          };
          // The first ones meet cold code.
          await drained(warmUp);
          return drained(items);
        },
        toThisMachine(),
      ),
  };
}

async function barePosted(
  receiver: Receiver,
  { items, atOnce }: Way,
  body: string,
  isSigned: boolean,
): Promise<Work> {
  const posted = (times: number): Promise<Work> =>
    measured(receiver, times, () =>
      barePosts(receiver.url, body, { times, atOnce, signed: isSigned }),
    );
  await posted(warmUp);
  return posted(items);
}

/** From the first arrival to the last. */
async function measured(
  receiver: Receiver,
  items: number,
  send: () => Promise<unknown>,
): Promise<Work> {
  const told = receiver.arrivals(items);
  await send();
  const arrivals = await told;
  return { items: items - 1, ms: (arrivals.at(-1) as Arrival).at - (arrivals[0] as Arrival).at };
}

/** What such an event's delivery says. */
function sampleBody(): Promise<string> {
  return withEngine("memory", async (one) => {
    await happen(one, 0);
    const { data } = await one.events.list({ type: "message.received" });
    return JSON.stringify(data[0]);
  });
}
