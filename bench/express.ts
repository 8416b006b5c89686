import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { recipient, text, withTempFile } from "./engines.ts";
import { type Contender, count, medians, ratio, scaled, table, type Work } from "./measure.ts";

const requests = scaled(6_000);
const warmUp = scaled(1_000);
const connections = 64;
const rounds = 5;

const bare = "bare Express handler";
const onSqlite = "POST /v1/messages on SQLite";
const onMemory = "POST /v1/messages on memory";

/** POST /v1/messages through Express, and a bare handler that parses and returns the same JSON. */
export function express(): Promise<string> {
  return withTempFile(async (file) => {
    const [sqlite, memory] = await Promise.all([serve(file), serve("")]);
    try {
      const contenders: Contender[] = [
        { name: bare, run: () => measured(memory, "/bare") },
        { name: onSqlite, run: () => measured(sqlite, "/v1/messages") },
        { name: onMemory, run: () => measured(memory, "/v1/messages") },
      ];
      // The first requests run before the code is optimized.
      for (const { run } of contenders) await run();
      const rates = await medians(contenders, rounds);
      const base = rates.get(bare) ?? 1;
      console.log(
        `\nRequests per second over ${connections} keep-alive connections` +
          ` (client and server in separate processes, ${count(requests)} requests, median of ` +
          `${rounds} rounds)\n`,
      );
      console.log(
        table(
          ["", "per second", "ratio to bare"],
          [...rates].map(([name, rate]) => [name, count(rate), ratio(rate / base)]),
        ),
      );
      const [sqliteRate = 0, memoryRate = 0] = [rates.get(onSqlite), rates.get(onMemory)];
      return (
        `express: ${ratio(sqliteRate / base)} of a bare handler's requests on SQLite, ` +
        `${ratio(memoryRate / base)} on memory`
      );
    } finally {
      await Promise.all([sqlite.stop(), memory.stop()]);
    }
  });
}

interface ServerProcess {
  readonly port: number;
  readonly secret: string;
  stop(): Promise<void>;
}

async function serve(file: string): Promise<ServerProcess> {
  const script = new URL("./express-server.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, file], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const { port, secret } = JSON.parse(line) as { port: number; secret: string };
  return {
    port,
    secret,
    async stop() {
      const ended = once(child, "exit");
      child.kill();
      await ended;
    },
  };
}

/** Makes every idempotency key of the benchmark a new one. */
let sent = 0;

async function measured({ port, secret }: ServerProcess, path: string): Promise<Work> {
  const prepared = Array.from({ length: warmUp + requests }, () => {
    const headers = { Authorization: `Bearer ${secret}`, "Idempotency-Key": `load-${sent}` };
    const body = JSON.stringify({ to: recipient("existing", sent++), body: text });
    return postRequest(path, headers, body);
  });
  await load(port, prepared.slice(0, warmUp));
  return { items: requests, ms: await load(port, prepared.slice(warmUp)) };
}

/**
 * Sends prepared requests over plain sockets and returns the milliseconds that it took. It parses
 * as little of the answers as possible, so that the client needs less CPU than the server. Throws
 * on any answer but a 201.
 */
async function load(port: number, prepared: readonly Buffer[]): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => opened(port)));
  let next = 0;
  const began = performance.now();
  await Promise.all(sockets.map((socket) => exchange(socket, () => prepared[next++])));
  const ms = performance.now() - began;
  for (const socket of sockets) socket.destroy();
  return ms;
}
function postRequest(
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Buffer {
  const lines = Object.entries({
    Host: "localhost",
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(body)),
    ...headers,
  });
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\n` +
      `${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`,
  );
}

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket));
    socket.setNoDelay(true);
    socket.once("error", reject);
  });
}

/** Sends one request after another over a socket, until there are no more. */
function exchange(socket: Socket, next: () => Buffer | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = "";
    const send = (): void => {
      const request = next();
      if (request === undefined) resolve();
      else socket.write(request);
    };
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      received += chunk;
      const head = received.indexOf("\r\n\r\n");
      if (head === -1) return;
      const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1];
      if (received.length < head + 4 + Number(length)) return;
      if (!received.startsWith("HTTP/1.1 201 ")) return reject(new Error(received));
      received = "";
      send();
    });
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the server closed the connection")));
    send();
  });
}
