/**
 * A server process for `pipelining.ts`. Its argument is how requests are handled: `bare`, `node` or
 * `express`. Its parent sends `begin` and `end`, and gets what it cost in between.
 */
import { createServer, type RequestListener } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import expressApp from "express";
import { MessagingEngine } from "../../adapters/entry.ts";
import { expressHandler } from "../../adapters/http/express.ts";
import { nodeHandler } from "../../adapters/http/node.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { Mountable } from "../../src/api/index.ts";
import { instantCarrier } from "../support/engines.ts";
import { listen } from "../support/listen.ts";

/** What the requests cost the server. */
export interface ServerCost {
  /** How many requests were handled. */
  readonly handled: number;
  /** The longest time for which the event loop stood still, in milliseconds. */
  readonly delayMs: number;
  /** The growth of the process's memory, at its peak, in bytes. */
  readonly memory: number;
}

const path = "/v1/openapi.json";
let handled = 0;
const engine = new MessagingEngine({ storage: memory(), transports: [instantCarrier()] });
const counted: Mountable = {
  api: {
    handle(request) {
      if (request.path === path) handled++;
      return engine.api.handle(request);
    },
  },
};

/** Sends bytes that it has in memory. */
async function bare(): Promise<RequestListener> {
  const { url, close } = await listen(nodeHandler(engine));
  const document = await fetch(url + path);
  const bytes = Buffer.from(await document.arrayBuffer());
  await close();
  return (request, response) => {
    if (request.url === path) handled++;
    const body = request.url === path ? bytes : '{"status":"ok"}';
    const length = Buffer.byteLength(body);
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": length });
    response.end(body);
  };
}

const listeners: Readonly<Record<string, () => RequestListener | Promise<RequestListener>>> = {
  bare,
  node: () => nodeHandler(counted),
  express: () => expressApp().use(expressHandler(counted)),
};
const listener = await listeners[process.argv[2] ?? ""]?.();

const delay = monitorEventLoopDelay({ resolution: 1 });
let before = 0;
let peak = 0;
const sample = (): void => {
  peak = Math.max(peak, process.memoryUsage.rss());
};
let sampling: NodeJS.Timeout | undefined;
process.on("message", (message) => {
  if (message === "begin") {
    handled = 0;
    before = peak = process.memoryUsage.rss();
    sampling = setInterval(sample, 5);
    delay.enable();
    // The first measurement takes a moment, and a delay before it would not count.
    setTimeout(() => process.send?.("begun"), 100);
    return;
  }
  // Later, so that a delay that has just ended is measured.
  setTimeout(() => {
    sample();
    clearInterval(sampling);
    delay.disable();
    const cost: ServerCost = { handled, delayMs: delay.max / 1e6, memory: peak - before };
    process.send?.(cost);
  }, 100);
});
process.once("disconnect", () => process.exit());
// A server that stood still must not close the connections that it could not serve meanwhile.
const server = createServer({ keepAliveTimeout: 0 }, listener).listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(typeof address === "object" && address !== null ? address.port : 0);
});
