/** Every way to mount the API, over real sockets. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import express from "express";
import { Hono } from "hono";
import Koa from "koa";
import bodyParser from "koa-bodyparser";
import { expressHandler } from "../../adapters/http/express.ts";
import { fetchHandler } from "../../adapters/http/fetch.ts";
import { koaHandler } from "../../adapters/http/koa.ts";
import { nodeHandler } from "../../adapters/http/node.ts";
import type { Mountable } from "../../src/api/http.ts";

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

export interface Mounting {
  readonly name: string;
  readonly prefix: string;
  /** Middleware before the handler, which may answer or change malformed requests. */
  readonly before: "nothing" | "express.json" | "koa-bodyparser" | "Request";
  readonly listener: (engine: Mountable) => Listener;
}

export const mountings: readonly Mounting[] = [
  { name: "node:http", prefix: "", before: "nothing", listener: (engine) => nodeHandler(engine) },
  {
    name: "node:http under a path",
    prefix: "/api",
    before: "nothing",
    listener: (engine) => nodeHandler(engine, { basePath: "/api" }),
  },
  {
    name: "Express",
    prefix: "",
    before: "nothing",
    listener: (engine) => express().use(expressHandler(engine)),
  },
  {
    name: "Express under a path",
    prefix: "/api",
    before: "nothing",
    listener: (engine) => express().use("/api", expressHandler(engine)),
  },
  {
    name: "Express under a path after express.json()",
    prefix: "/api",
    before: "express.json",
    listener: (engine) => express().use(express.json()).use("/api", expressHandler(engine)),
  },
  {
    name: "Koa",
    prefix: "",
    before: "nothing",
    listener: (engine) => koa().use(koaHandler(engine)).callback(),
  },
  {
    name: "Koa under a path",
    prefix: "/api",
    before: "nothing",
    listener: (engine) =>
      koa()
        .use(koaHandler(engine, { basePath: "/api" }))
        .callback(),
  },
  {
    name: "Koa after koa-bodyparser",
    prefix: "",
    before: "koa-bodyparser",
    listener: (engine) => koa().use(bodyParser()).use(koaHandler(engine)).callback(),
  },
  {
    name: "fetch",
    prefix: "",
    before: "Request",
    listener: (engine) => overFetch(fetchHandler(engine)),
  },
  {
    name: "fetch under a path in Hono",
    prefix: "/api",
    before: "Request",
    listener: (engine) => {
      const handler = fetchHandler(engine, { basePath: "/api" });
      const app = new Hono().all("/api/*", (context) => handler(context.req.raw));
      return overFetch((request) => Promise.resolve(app.fetch(request)));
    },
  },
];

/** Koa without its log of disconnected clients. */
function koa(): Koa {
  const app = new Koa();
  app.silent = true;
  return app;
}

/** Serves a fetch function over node:http, as an edge server would. */
export function overFetch(handler: (request: Request) => Promise<Response>): Listener {
  return (message, response) => {
    const left = new AbortController();
    response.once("close", () => left.abort());
    const { method = "GET", url = "/", rawHeaders } = message;
    const headers = new Headers();
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      headers.append(rawHeaders[i] ?? "", rawHeaders[i + 1] ?? "");
    }
    const body = method === "GET" || method === "HEAD" ? null : Readable.toWeb(message);
    const init = {
      method,
      headers,
      body: body as ReadableStream<Uint8Array> | null,
      duplex: "half",
      signal: left.signal,
    } as const;
    void (async () => {
      const answer = await handler(new Request(`http://localhost${url}`, init));
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).flushHeaders();
      if (answer.body !== null) {
        const reader = answer.body.getReader();
        response.once("close", () => void reader.cancel().catch(() => undefined));
        for (let read = await reader.read(); !read.done; read = await reader.read()) {
          if (!response.write(read.value)) await drained(response);
        }
      }
      response.end();
    })().catch(() => response.destroy());
  };
}

async function drained(response: ServerResponse): Promise<void> {
  const either = new AbortController();
  const { signal } = either;
  await Promise.race([
    once(response, "drain", { signal }),
    once(response, "close", { signal }),
  ]).catch(() => undefined);
  either.abort();
}

export interface Running extends AsyncDisposable {
  readonly port: number;
  readonly server: Server;
  /** The base URL of the API, with the mount's prefix. */
  readonly base: string;
}

export async function serve(
  { listener, prefix }: Pick<Mounting, "listener" | "prefix">,
  engine: Mountable,
): Promise<Running> {
  const server = createServer(listener(engine));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    server,
    base: `http://127.0.0.1:${port}${prefix}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
