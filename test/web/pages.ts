/** Pages with a small build of their own, mounted in every way. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import {
  createServer,
  request as send,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import express from "express";
import { Hono } from "hono";
import Koa from "koa";
import bodyParser from "koa-bodyparser";
import { onTestFinished } from "vitest";
import { MessagingEngine } from "../../adapters/entry.ts";
import { expressHandler } from "../../adapters/http/express.ts";
import { fetchHandler } from "../../adapters/http/fetch.ts";
import { koaHandler } from "../../adapters/http/koa.ts";
import { nodeHandler } from "../../adapters/http/node.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import type { PageOptions } from "../../adapters/web/shared/server/options.ts";
import { mountPage, type PageMount } from "../../adapters/web/shared/server/page.ts";
import type { EngineOptions } from "../../src/host/options/options.ts";
import { silent } from "../../src/ports/logger.ts";
import { overFetch } from "../api/servers.ts";

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** A build as Vite writes it, with an imported chunk, and a file that the manifest does not name. */
export function builtFolder(script = `export const text = "${"page ".repeat(200)}";\n`): URL {
  const folder = mkdtempSync(join(tmpdir(), "tidings-page-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "assets"));
  const manifest = {
    "_shared-b2.js": { file: "assets/shared-b2.js", css: ["assets/shared-c3.css"] },
    "main.tsx": {
      file: "assets/main-a1.js",
      isEntry: true,
      imports: ["_shared-b2.js"],
      css: ["assets/main-d4.css"],
    },
  };
  const files = {
    "manifest.json": JSON.stringify(manifest),
    "assets/main-a1.js": script,
    "assets/shared-b2.js": "export {};\n",
    "assets/shared-c3.css": ":root { color: black }\n",
    "assets/main-d4.css": "p { margin: 0 }\n",
    "assets/secret.js": "export {};\n",
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  return pathToFileURL(`${folder}/`);
}

export function engineOf(options: Partial<EngineOptions<undefined>> = {}): MessagingEngine {
  const engine = new MessagingEngine({
    storage: memory(),
    transports: [sandbox()],
    logger: silent,
    ...options,
  });
  onTestFinished(() => engine.stop());
  return engine;
}

export const pageOf = (
  engine: MessagingEngine,
  options: PageOptions = {},
  folder: URL = builtFolder(),
): PageMount =>
  mountPage(engine, options, { subject: "inboxHandler", name: "inbox", title: "Inbox", folder });

export interface PageMounting {
  readonly name: string;
  readonly prefix: string;
  readonly listener: (page: PageMount) => Listener;
}

function koa(): Koa {
  const app = new Koa();
  app.silent = true;
  return app;
}

/** The address of every request of these tests: they all come over the loopback. */
const remoteAddress = (): string => "127.0.0.1";

export const mountings: readonly PageMounting[] = [
  { name: "node:http", prefix: "", listener: (page) => nodeHandler(page) },
  {
    name: "node:http under a path",
    prefix: "/desk",
    listener: (page) => nodeHandler(page, { basePath: "/desk" }),
  },
  { name: "Express", prefix: "", listener: (page) => express().use(expressHandler(page)) },
  {
    name: "Express under a path, in a router, after express.json()",
    prefix: "/staff/desk",
    listener: (page) =>
      express()
        .use(express.json())
        .use("/staff", express.Router().use("/desk", expressHandler(page))),
  },
  { name: "Koa", prefix: "", listener: (page) => koa().use(koaHandler(page)).callback() },
  {
    name: "Koa under a path, after koa-bodyparser",
    prefix: "/desk",
    listener: (page) =>
      koa()
        .use(bodyParser())
        .use(koaHandler(page, { basePath: "/desk" }))
        .callback(),
  },
  {
    name: "fetch",
    prefix: "",
    listener: (page) => overFetch(fetchHandler(page, { remoteAddress })),
  },
  {
    name: "fetch under a path in Hono",
    prefix: "/desk",
    listener: (page) => {
      const handler = fetchHandler(page, { basePath: "/desk", remoteAddress });
      const app = new Hono()
        .all("/desk", (context) => handler(context.req.raw))
        .all("/desk/*", (context) => handler(context.req.raw));
      return overFetch((request) => Promise.resolve(app.fetch(request)));
    },
  },
];

/** What a browser sends, and how the server answers. */
export interface Asked {
  readonly method?: string;
  /** The path below the mount point. */
  readonly path: string;
  /** Sent in place of those that a page sends, or besides. Null leaves one out. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: unknown;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly bytes: Buffer;
  readonly json: () => Record<string, unknown>;
}

export interface Site {
  readonly port: number;
  /** The address of the mount point, without a final slash. */
  readonly base: string;
  /** Sends a request as the page in a browser does, with what `headers` changes. */
  readonly ask: (asked: Asked) => Promise<Answered>;
  /** Opens a stream: its text so far, and whether it has ended. */
  readonly follow: (asked: Asked) => Promise<{ text: () => string; isOver: () => boolean }>;
}

export async function siteOf(
  page: PageMount,
  { prefix, listener }: Pick<PageMounting, "prefix" | "listener"> = mountings[0] ?? never(),
): Promise<Site> {
  const server = createServer(listener(page));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as AddressInfo;
  const open = (asked: Asked): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { method = "GET", path, headers = {}, body } = asked;
      const own = {
        Host: `localhost:${port}`,
        "Tidings-Page": "1",
        ...(method === "GET" ? {} : { "Sec-Fetch-Site": "same-origin" }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      };
      const sent = Object.entries(own).flatMap(([name, value]) =>
        value === null ? [] : [[name, value] as const],
      );
      const out = send(
        { host: "127.0.0.1", port, method, path: `${prefix}${path}`, setHost: false },
        resolve,
      );
      for (const [name, value] of sent) out.setHeader(name, value);
      out.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  return {
    port,
    base: `http://localhost:${port}${prefix}`,
    async ask(asked) {
      const answer = await open(asked);
      const bytes = Buffer.concat(await answer.toArray());
      const text = bytes.toString();
      return {
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        text,
        bytes,
        json: () => JSON.parse(text) as Record<string, unknown>,
      };
    },
    async follow(asked) {
      const answer = await open(asked);
      if (answer.statusCode !== 200) throw new Error(`The stream got ${answer.statusCode}.`);
      let text = "";
      let isOver = false;
      answer.on("data", (chunk: Buffer) => (text += chunk.toString()));
      answer.on("close", () => (isOver = true));
      return { text: () => text, isOver: () => isOver };
    },
  };
}

/** Signs in with the page's token. Returns the cookie. */
export async function signIn(site: Site, page: PageMount): Promise<string> {
  const body = { token: page.token };
  const { status, headers } = await site.ask({ method: "POST", path: "/session", body });
  if (status !== 204) throw new Error(`The sign-in got ${status}.`);
  return headers["set-cookie"]?.[0]?.split(";", 1).join("") ?? "";
}

function never(): never {
  throw new Error("unreachable");
}
