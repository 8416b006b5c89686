import type { Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { recipient, text, withTempFile } from "./engines.ts";
import { load, opened, postRequest, serve, type ServerProcess } from "./http-load.ts";
import {
  concurrently,
  type Contender,
  count,
  medians,
  ratio,
  scaled,
  table,
  type Work,
} from "./measure.ts";

const requests = scaled(3_000);
const connections = 16;
const rounds = 6;
/** Each key may have 100 streams, and each account 1,000. */
const perKey = scaled(100);
const accounts = 10;

const none = "no streams";
const idle = `${count(accounts * 10 * perKey)} streams of other accounts`;
const unmatched = `${count(10 * perKey)} streams of this account that never match`;
const matching = `${count(10 * perKey)} streams of this account that get every event`;

/** POST /v1/messages while event streams are open, on one SQLite file. */
export function streams(): Promise<string> {
  return withTempFile(async (file) => {
    const server = await serve(file, accounts);
    const streamsOf = (keys: readonly string[], path: string): Stream[] =>
      keys.flatMap((key) => Array.from({ length: perKey }, () => ({ key, path })));
    const all = "/v1/events/stream";
    const rare = "/v1/events/stream?types=webhook.disabled";
    const contenders: Contender[] = [
      { name: none, run: () => measured(server, []) },
      { name: idle, run: () => measured(server, streamsOf(server.others, all)) },
      {
        name: unmatched,
        run: () => measured(server, streamsOf(server.own, rare)),
      },
      { name: matching, run: () => measured(server, streamsOf(server.own, all)) },
    ];
    try {
      // The first requests run before the code is optimized.
      for (let i = 0; i < 4; i++) await measured(server, []);
      const rates = await medians(contenders, rounds);
      const base = rates.get(none) ?? 1;
      console.log(
        `\nPOST /v1/messages per second over ${connections} connections, while streams are open` +
          ` (server in its own process, ${count(requests)} requests, median of ${rounds} rounds)\n`,
      );
      console.log(
        table(
          ["", "per second", "ratio to none"],
          [...rates].map(([name, rate]) => [name, count(rate), ratio(rate / base)]),
        ),
      );
      return `streams: ${ratio((rates.get(idle) ?? 0) / base)} of the requests beside ${idle}`;
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

async function measured(server: ServerProcess, streams: readonly Stream[]): Promise<Work> {
  const { port, secret } = server;
  const open: Socket[] = [];
  await concurrently(streams.length, 50, async (i) => {
    const stream = streams[i];
    if (stream !== undefined) open.push(await openStream(port, stream));
  });
  const prepared = Array.from({ length: requests }, () => {
    const headers = { Authorization: `Bearer ${secret}`, "Idempotency-Key": `load-${sent}` };
    const body = JSON.stringify({ to: recipient("existing", sent++), body: text });
    return postRequest("/v1/messages", headers, body);
  });
  const ms = await load(port, connections, prepared);
  for (const socket of open) socket.destroy();
  // The next run must not pay for the end of these streams.
  if (open.length > 0) await setTimeout(1_000);
  return { items: requests, ms };
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
