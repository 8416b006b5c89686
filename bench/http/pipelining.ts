import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { count, scaled, table } from "../support/measure.ts";
import { opened } from "./load.ts";
import type { ServerCost } from "./pipelining-server.ts";

const requests = scaled(2_000);
/** How long the client reads nothing. */
const unreadMs = 3_000;

const contenders = {
  bare: "bare node:http handler with the document as bytes",
  node: "the engine on node:http",
  express: "the engine on Express",
};

/**
 * A client sends requests for the OpenAPI document on one connection and reads no response for a
 * while. Another client sends one request after another meanwhile.
 */
export async function pipelining(): Promise<string> {
  const rows: string[][] = [];
  const costs: Measured[] = [];
  for (const [kind, name] of Object.entries(contenders)) {
    const cost = await measured(kind);
    costs.push(cost);
    rows.push([
      name,
      count(cost.handled),
      cost.delayMs.toFixed(0),
      (cost.memory / 1_048_576).toFixed(0),
      cost.otherMs.toFixed(0),
      count(cost.answered),
    ]);
  }
  console.log(
    `\n${count(requests)} pipelined requests for /v1/openapi.json whose responses are not read ` +
      `for ${unreadMs / 1_000} s\n`,
  );
  console.log(
    table(
      [
        "",
        "handled unread",
        "longest event loop delay, ms",
        "memory, MiB",
        "slowest request of another client, ms",
        "answered when read",
      ],
      rows,
    ),
  );
  const [bare, onNode] = costs;
  return (
    `pipelining: ${count(onNode?.handled ?? 0)} of ${count(requests)} unread requests handled ` +
    `(bare: ${count(bare?.handled ?? 0)})`
  );
}

interface Measured extends ServerCost {
  /** The longest time of a request on another connection. */
  readonly otherMs: number;
  /** Responses that came when the client read them. */
  readonly answered: number;
}

async function measured(kind: string): Promise<Measured> {
  const server = fork(new URL("./pipelining-server.ts", import.meta.url), [kind]);
  const [port] = (await once(server, "message")) as [number];
  const [unread, other] = await Promise.all([opened(port), opened(port)]);
  try {
    // The document is made at the first request for it.
    await ask(other, get("/v1/openapi.json"));
    for (let i = 0; i < 1_000; i++) await ask(other, get("/v1/health/live"));
    await tell<string>(server, "begin");
    unread.pause();
    unread.write(get("/v1/openapi.json").repeat(requests));
    const otherMs = await slowestDuring(setTimeout(unreadMs), other);
    const cost = await tell<ServerCost>(server, "end");
    return { ...cost, otherMs, answered: await answersOf(unread) };
  } finally {
    unread.destroy();
    other.destroy();
    server.disconnect();
  }
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

async function tell<Answer>(server: ChildProcess, message: "begin" | "end"): Promise<Answer> {
  const answer = once(server, "message");
  server.send(message);
  const [told] = (await answer) as [Answer];
  return told;
}

/** Sends a request and reads its response, which has a length. */
async function ask(socket: Socket, request: string): Promise<void> {
  socket.write(request);
  let received = "";
  let end = Infinity;
  while (received.length < end) {
    const [chunk] = (await once(socket, "data")) as [Buffer];
    received += chunk.toString("latin1");
    const head = received.indexOf("\r\n\r\n");
    if (head !== -1) end = head + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1]);
  }
}

async function slowestDuring(period: Promise<unknown>, socket: Socket): Promise<number> {
  let slowest = 0;
  const state = { isOver: false };
  void period.then(() => (state.isOver = true));
  while (!state.isOver) {
    const began = performance.now();
    await ask(socket, get("/v1/health/live"));
    slowest = Math.max(slowest, performance.now() - began);
    await setTimeout(1);
  }
  return slowest;
}

/** Reads the responses until all have begun, or none comes for a while. */
async function answersOf(socket: Socket): Promise<number> {
  let answered = 0;
  let rest = "";
  socket.on("data", (chunk: Buffer) => {
    const text = rest + chunk.toString("latin1");
    answered += text.split("HTTP/1.1 200").length - 1;
    // The last bytes may be the beginning of a response.
    rest = text.slice(-11);
  });
  socket.resume();
  for (let before = -1; answered < requests && before !== answered;) {
    before = answered;
    await setTimeout(2_000);
  }
  return answered;
}
