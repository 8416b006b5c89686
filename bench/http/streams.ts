import type { Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { recipient, text, withTempFile } from "../support/engines.ts";
import {
  concurrently,
  count,
  median,
  medians,
  ratio,
  scaled,
  table,
  type Contender,
  type Work,
} from "../support/measure.ts";
import { load, opened, postRequest, serve, type ServerProcess } from "./load.ts";

const requests = scaled(10_000);
const connections = 16;
const rounds = 8;
/** Each key may have 100 streams, and each account 1,000. */
const perKey = scaled(100);
/** Each of these gets every event. */
const perReadingKey = scaled(10);
const accounts = 10;

const none = "no streams";
const idle = `${count(accounts * 10 * perKey)} streams of other accounts`;
const unmatched = `${count(10 * perKey)} streams of this account that never match`;
const matching = `${count(10 * perReadingKey)} streams of this account that get every event`;

/**
 * POST /v1/messages to new contacts while event streams are open, on one SQLite file. Each request
 * causes two events: the contact and its conversation are created.
 */
export function streams(): Promise<string> {
  return withTempFile(async (file) => {
    const server = await serve(file, accounts);
    const streamsOf = (keys: readonly string[], path: string, length = perKey): Stream[] =>
      keys.flatMap((key) => Array.from({ length }, () => ({ key, path })));
    const all = "/v1/events/stream";
    const rare = "/v1/events/stream?types=webhook.disabled";
    const cpuTimes = new Map<string, number[]>();
    const contender = (name: string, open: readonly Stream[]): Contender => ({
      name,
      async run() {
        const { cpuTime, ...work } = await measured(server, open);
        cpuTimes.set(name, [...(cpuTimes.get(name) ?? []), cpuTime]);
        return work;
      },
    });
    const contenders = [
      contender(none, []),
      contender(idle, streamsOf(server.others, all)),
      contender(unmatched, streamsOf(server.own, rare)),
      contender(matching, streamsOf(server.own, all, perReadingKey)),
    ];
    try {
      // The first requests run before the code is optimized.
      for (let i = 0; i < 4; i++) await measured(server, []);
      const rates = await medians(contenders, rounds);
      const base = rates.get(none) ?? 1;
      const cpuOf = (name: string): number => median(cpuTimes.get(name) ?? []);
      console.log(
        `\nPOST /v1/messages per second over ${connections} connections, while streams are open` +
          ` (server in its own process, ${count(requests)} requests, median of ${rounds} rounds)\n`,
      );
      console.log(
        table(
          ["", "per second", "ratio to none", "CPU µs each", "ratio to none"],
          [...rates].map(([name, rate]) => [
            name,
            count(rate),
            ratio(rate / base),
            count(cpuOf(name)),
            ratio(cpuOf(name) / cpuOf(none)),
          ]),
        ),
      );
      return (
        `streams: ${ratio((rates.get(idle) ?? 0) / base)} of the requests beside ${idle}, each for ` +
        `${ratio(cpuOf(idle) / cpuOf(none))} of the CPU time`
      );
    } finally {
      await server.stop();
    }
  });
}

interface Stream {
  readonly key: string;
  readonly path: string;
}

let sent = 0;

interface Measured extends Work {
  /** The CPU time of the server for one request, in microseconds. Other load hardly affects it. */
  readonly cpuTime: number;
}

async function measured(server: ServerProcess, streams: readonly Stream[]): Promise<Measured> {
  const { port, secret } = server;
  const open: Socket[] = [];
  await concurrently(streams.length, 50, async (i) => {
    const stream = streams[i];
    if (stream !== undefined) open.push(await openStream(port, stream));
  });
  const prepared = Array.from({ length: requests }, () => {
    const headers = { Authorization: `Bearer ${secret}`, "Idempotency-Key": `load-${sent}` };
    const body = JSON.stringify({ to: recipient("new", sent++), body: text });
    return postRequest("/v1/messages", headers, body);
  });
  let ms = 0;
  const { total } = await server.cpuOf(async () => {
    ms = await load(port, connections, prepared);
  });
  for (const socket of open) socket.destroy();
  // The next run must not pay for the end of these streams.
  if (open.length > 0) await setTimeout(1_000);
  return { items: requests, ms, cpuTime: total / requests };
}

/** Resolves when the response has begun. Throws on any answer but a 200. */
async function openStream(port: number, { key, path }: Stream): Promise<Socket> {
  const socket = await opened(port);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  const head = await new Promise<string>((resolve, reject) => {
    socket.once("data", (chunk: Buffer) => resolve(chunk.toString("latin1")));
    socket.once("error", reject);
  });
  if (!head.startsWith("HTTP/1.1 200 ")) throw new Error(head);
  socket.resume();
  return socket;
}
