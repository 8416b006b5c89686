import { Agent, request } from "node:http";
import { signatureHeaders, signingKey } from "../../src/webhooks/sending/signature.ts";
import { withEngine, type StorageName } from "../support/engines.ts";
import {
  concurrently,
  count,
  medians,
  ratio,
  scaled,
  table,
  type Contender,
  type Work,
} from "../support/measure.ts";
import { createEvent, localHttp, startReceiver, type Receiver } from "./fixtures.ts";
import type { Arrival } from "./receiver-process.ts";

const rounds = 5;
const warmUp = scaled(2_000);
/** How many requests an engine has under way at a webhook in fifo order, and at any other one. */
const loads = [
  { atOnce: 1, ordering: "fifo", items: scaled(2_000) },
  { atOnce: 8, ordering: "none", items: scaled(5_000) },
] as const;
type Load = (typeof loads)[number];

/**
 * Deliveries per second of committed events to one receiver that answers at once, compared with
 * loops that only post to the same receiver.
 */
export async function throughput(): Promise<string> {
  using receiver = await startReceiver();
  const body = await sampleBody();
  const contenders = loads.flatMap((load) => [
    { name: bare(load), run: () => postedByLoop(receiver, load, body, false) },
    { name: signed(load), run: () => postedByLoop(receiver, load, body, true) },
    engine("SQLite", receiver, load),
    engine("memory", receiver, load),
  ]);
  const rates = await medians(contenders, rounds);
  const of = (name: string, loop: string): string =>
    ratio((rates.get(name) ?? 0) / (rates.get(loop) ?? 1));
  const lines = loads.flatMap((load) =>
    [bare(load), signed(load), engineName("SQLite", load), engineName("memory", load)].map(
      (name) => [name, count(rates.get(name) ?? 0), of(name, bare(load)), of(name, bare(loads[0]))],
    ),
  );
  console.log(
    "\nWebhook deliveries per second of committed events to one receiver in its own process" +
      ` (median of ${rounds} rounds)\n`,
  );
  console.log(
    table(
      ["", "per second", "ratio to POSTs, same load", `ratio to POSTs, ${loads[0].atOnce} at once`],
      lines,
    ),
  );
  const ratios = loads.map((load) => of(engineName("SQLite", load), bare(load)));
  return (
    `deliveries on SQLite reach ${ratios.join(" / ")} of the rate of bare POSTs at ` +
    `${loads.map(({ atOnce }) => atOnce).join(" / ")} at once`
  );
}

const bare = ({ atOnce }: Load): string => `${atOnce} at once: bare keep-alive POSTs`;
const signed = ({ atOnce }: Load): string => `${atOnce} at once: signed keep-alive POSTs`;
const engineName = (storage: StorageName, { atOnce }: Load): string =>
  `${atOnce} at once: tidings on ${storage}`;

function engine(storage: StorageName, receiver: Receiver, load: Load): Contender {
  const { items, ordering } = load;
  return {
    name: engineName(storage, load),
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
            await concurrently(times, 64, (i) => createEvent(one, i));
            return measured(receiver, times, () => one.webhooks.update(id, { status: "enabled" }));
          };
          // The first deliveries run before the code is optimized.
          await drained(warmUp);
          return drained(items);
        },
        localHttp(),
      ),
  };
}

async function postedByLoop(
  receiver: Receiver,
  { items, atOnce }: Load,
  body: string,
  isSigned: boolean,
): Promise<Work> {
  const posted = (times: number): Promise<Work> =>
    measured(receiver, times, () => postAll(receiver.url, body, { times, atOnce, isSigned }));
  await posted(warmUp);
  return posted(items);
}

interface Posts {
  readonly times: number;
  readonly atOnce: number;
  /**
   * Sign each request, as every sender of webhooks must. Otherwise all carry the same signature.
   */
  readonly isSigned: boolean;
}

const keys = [signingKey(Buffer.alloc(32).toString("base64"))];

/** The least work of any sender: posts the body over kept connections, and reads each answer. */
async function postAll(
  url: string,
  body: string,
  { times, atOnce, isSigned }: Posts,
): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const bytes = Buffer.from(body);
  const headersNow = () => ({
    "content-type": "application/json",
    "content-length": bytes.length,
    ...signatureHeaders({ id: "evt_bare", at: Date.now(), body: bytes }, keys),
  });
  const unchanged = headersNow();
  const post = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const headers = isSigned ? headersNow() : unchanged;
      request(url, { method: "POST", agent, headers }, (answer) =>
        answer.resume().once("end", resolve),
      )
        .once("error", reject)
        .end(bytes);
    });
  await concurrently(times, atOnce, post);
  agent.destroy();
}

/** Measures from the first arrival to the last. */
async function measured(
  receiver: Receiver,
  items: number,
  send: () => Promise<unknown>,
): Promise<Work> {
  const arriving = receiver.arrivals(items);
  await send();
  const arrivals = await arriving;
  return { items: items - 1, ms: (arrivals.at(-1) as Arrival).at - (arrivals[0] as Arrival).at };
}

/** The body of such an event's delivery. */
function sampleBody(): Promise<string> {
  return withEngine("memory", async (one) => {
    await createEvent(one, 0);
    const { data } = await one.events.list({ type: "message.received" });
    return JSON.stringify(data[0]);
  });
}
