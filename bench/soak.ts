import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { MessagingEngine } from "../adapters/entry.ts";
import { nodeHandler } from "../adapters/http/node.ts";
import { postgres } from "../adapters/storage/postgres/index.ts";
import { sqlite } from "../adapters/storage/sqlite/index.ts";
import { startPostgres } from "../test/support/postgres/server.ts";
import { createContacts, recipient, text, withEngineOn, withTempFile } from "./support/engines.ts";
import { listen, type Listening } from "./support/listen.ts";
import { count, table } from "./support/measure.ts";
import { poolSize, withDatabase } from "./support/postgres-databases.ts";
import { localHttp, startReceiver } from "./webhooks/fixtures.ts";

const sampleMs = 5_000;
/** The pause between two rounds of load on each engine. A round has 4 sends and a text. */
const roundMs = 100;
const streams = 5;
const eventsPerStream = 100;

/** What a process holds at one moment. Memory is in bytes. */
interface Sample {
  readonly minute: number;
  readonly heap: number;
  /** Buffers and other memory of objects, outside of the heap. */
  readonly external: number;
  /** Memory of the process, without mapped files if the system counts them apart. */
  readonly resident: number;
  readonly handles: number;
  readonly delayP99Ms: number;
}

/** Whether memory and handles of a process grow under a steady load. */
export async function soak(minutes: number): Promise<string> {
  await using server = await startPostgres();
  using receiver = await startReceiver();
  let samples: readonly Sample[] = [];
  await withTempFile((file) =>
    withEngineOn(
      sqlite({ file }),
      (first) =>
        withDatabase(server.url, (database) =>
          withEngineOn(
            postgres({ pool: database.pool({ max: poolSize }) }),
            async (second) => {
              await using load = await startLoad([first, second], receiver.url);
              samples = await watch(minutes);
              console.log(`\n  ${count(load.sent())} messages, ${load.failures()} failures`);
            },
            localHttp(),
          ),
        ),
      localHttp(),
    ),
  );
  // Caches and pools fill first.
  const settled = minutes >= 20 ? 10 : Math.min(2, minutes / 2);
  const late = samples.filter(({ minute }) => minute > settled);
  const mb = (of: (sample: Sample) => number): string => slope(late, (one) => of(one) / 2 ** 20);
  return (
    `soak: per hour after minute ${settled} of ${minutes}, ` +
    `heap ${mb(({ heap }) => heap)} MB, buffers ${mb(({ external }) => external)} MB, ` +
    `resident memory ${mb(({ resident }) => resident)} MB, ` +
    `handles ${slope(late, ({ handles }) => handles)}`
  );
}

/** Samples this process for some minutes, and prints the last sample of each minute. */
async function watch(minutes: number): Promise<readonly Sample[]> {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const samples: Sample[] = [];
  const began = performance.now();
  const head = ["minute", "heap MB", "buffers MB", "resident MB", "handles", "delay p99 ms"];
  console.log(`\nA process under steady load on SQLite and PostgreSQL\n\n${table(head, [])}`);
  delay.enable();
  for (let next = sampleMs; next <= minutes * 60_000; next += sampleMs) {
    await setTimeout(began + next - performance.now());
    const delayP99Ms = delay.percentile(99) / 1e6;
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    const sample: Sample = {
      minute: next / 60_000,
      heap: heapUsed,
      external,
      resident: residentBytes(),
      handles: process.getActiveResourcesInfo().length,
      delayP99Ms,
    };
    samples.push(sample);
    delay.reset();
    if (Number.isInteger(sample.minute)) console.log(line(head, sample));
  }
  delay.disable();
  return samples;
}

function line(head: readonly string[], sample: Sample): string {
  const mb = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
  const { minute, heap, external, resident, handles, delayP99Ms } = sample;
  const cells = [mb(heap), mb(external), mb(resident), String(handles), delayP99Ms.toFixed(1)];
  const [, last = ""] = table(head, [[String(minute), ...cells]]).split("\n");
  return last;
}

/** SQLite maps its file into memory, and these pages belong to the system's cache. */
function residentBytes(): number {
  const all = process.memoryUsage.rss();
  if (process.platform !== "linux") return all;
  const [, kilobytes] =
    /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return kilobytes === undefined ? all : Number(kilobytes) * 1_024;
}

/** The growth per hour by least squares, with twice its standard error. */
function slope(samples: readonly Sample[], of: (sample: Sample) => number): string {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, each) => sum + each, 0) / values.length;
  const x = samples.map(({ minute }) => minute / 60);
  const y = samples.map(of);
  const [meanX, meanY] = [mean(x), mean(y)];
  const spread = x.reduce((sum, each) => sum + (each - meanX) ** 2, 0);
  const growth =
    x.reduce((sum, each, i) => sum + (each - meanX) * ((y[i] ?? 0) - meanY), 0) / spread;
  const errors = y.map((each, i) => each - meanY - growth * ((x[i] ?? 0) - meanX));
  const variance = errors.reduce((sum, each) => sum + each ** 2, 0) / (samples.length - 2);
  return `${growth.toFixed(1)} ± ${(2 * Math.sqrt(variance / spread)).toFixed(1)}`;
}

interface Load extends AsyncDisposable {
  sent(): number;
  failures(): number;
}

/** Loads each engine with sends over HTTP, texts from contacts, webhooks and event streams. */
async function startLoad(engines: readonly MessagingEngine[], receiver: string): Promise<Load> {
  const stop = new AbortController();
  let [sent, failures] = [0, 0];
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (stop.signal.aborted) return;
      if (failures++ === 0) console.error(error);
      await setTimeout(roundMs);
    }
  };
  const running: Promise<void>[] = [];
  const closing: (() => Promise<void>)[] = [];
  for (const engine of engines) {
    await createContacts(engine);
    const { id, url, secret, close } = await serve(engine, receiver);
    closing.push(close);
    await engine.start();
    const headers = { Authorization: `Bearer ${secret}`, "Content-Type": "application/json" };
    const own = engine.account(id);
    const send = (kind: "existing" | "new", i: number) => async (): Promise<void> => {
      const body = JSON.stringify({ to: recipient(kind, i), body: text });
      // A signal for all requests would collect a listener of each.
      const response = await fetch(`${url}/v1/messages`, { method: "POST", headers, body });
      await response.arrayBuffer();
      if (response.status !== 201) throw new Error(`a send was answered ${response.status}`);
      sent++;
    };
    const receive = (i: number) => async (): Promise<void> => {
      await own.sandbox.inbound({ from: recipient("existing", i), body: "Is my table ready?" });
      sent++;
    };
    const rounds = async (): Promise<void> => {
      for (let i = 0; !stop.signal.aborted; i += 4) {
        const sends = [send("existing", i), send("existing", i + 1), send("existing", i + 2)];
        const all = [...sends, send("new", i), receive(i)];
        await Promise.all([setTimeout(roundMs), ...all.map(attempt)]);
      }
    };
    const readings = Array.from({ length: streams }, async () => {
      while (!stop.signal.aborted) await attempt(() => readStream(url, headers, stop.signal));
    });
    running.push(rounds(), ...readings);
  }
  return {
    sent: () => sent,
    failures: () => failures,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(running);
      for (const close of closing) await close();
    },
  };
}

/** Reads some events over a new connection. */
async function readStream(
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const response = await fetch(`${url}/v1/events/stream`, { headers, signal });
  if (response.body === null) throw new Error("a stream has no body");
  let events = 0;
  for await (const bytes of response.body.pipeThrough(new TextDecoderStream())) {
    events += bytes.split("\nevent:").length - 1;
    if (events >= eventsPerStream) break;
  }
}

interface Served extends Listening {
  readonly id: string;
  readonly secret: string | null;
}

/** Makes an account with a webhook, and serves it over HTTP. */
async function serve(engine: MessagingEngine, receiver: string): Promise<Served> {
  const plan = { name: "benchmark", requests_per_second: 100_000 };
  const { account, key } = await engine.accounts.create({ name: "Bench", plan });
  const { id } = account;
  await engine.account(id).webhooks.create({ url: receiver, events: ["message.*"] });
  return { id, secret: key.secret, ...(await listen(nodeHandler(engine))) };
}
