/** The API over HTTP/2. */
import { once } from "node:events";
import {
  connect,
  constants,
  createServer,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import fastify from "fastify";
import Koa from "koa";
import { describe, expect, onTestFinished, test } from "vitest";
import { koaHandler } from "../../adapters/http/koa.ts";
import { nodeHandler } from "../../adapters/http/node.ts";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import type { ApiRequest, ApiResponse, Mountable } from "../../src/api/http.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import { eventually } from "../support/eventually.ts";
import { keys, notes } from "./notes-api.ts";
import { world } from "./world.ts";

interface Mounting {
  readonly name: string;
  /** Starts a server and returns its port. */
  readonly serve: (engine: Mountable) => Promise<number>;
}

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

const overNode: Mounting = {
  name: "node:http2",
  serve: (engine) => listen(createServer(nodeHandler(engine))),
};

const mountings: readonly Mounting[] = [
  overNode,
  {
    name: "Koa",
    serve(engine) {
      const app = new Koa();
      app.silent = true;
      const callback = app.use(koaHandler(engine)).callback();
      return listen(createServer((request, response) => void callback(request, response)));
    },
  },
  {
    name: "Fastify",
    async serve(engine) {
      const app = fastify({ http2: true });
      app.removeAllContentTypeParsers();
      app.addContentTypeParser("*", (_request, _payload, done) => done(null));
      const messaging = nodeHandler(engine);
      app.all("/*", (request, reply) => {
        reply.hijack();
        messaging(request.raw, reply.raw);
      });
      return Number(new URL(await app.listen({ port: 0, host: "127.0.0.1" })).port);
    },
  },
];

function sessionOf(port: number): ClientHttp2Session {
  const session = connect(`http://localhost:${port}`, { settings: { initialWindowSize: 65_535 } });
  onTestFinished(() => session.destroy());
  return session;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a request with the key of the notes, and reads the whole response. */
async function ask(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string,
): Promise<Answer> {
  const stream = session.request({
    authorization: `Bearer ${keys.all}`,
    ...(body !== undefined && { "content-type": "application/json" }),
    ...headers,
  });
  stream.end(body);
  const [received] = (await once(stream, "response")) as [Answer["headers"]];
  return { status: Number(received[":status"]), headers: received, body: await textOf(stream) };
}

/** Opens a stream whose client reads only the head. */
async function open(session: ClientHttp2Session, path: string): Promise<ClientHttp2Stream> {
  const stream = session.request({ ":path": path, authorization: `Bearer ${keys.all}` });
  stream.on("error", () => undefined).pause();
  await once(stream, "response");
  return stream;
}

const codeOf = (error: unknown): unknown => error instanceof TidingsError && error.code;

/** An engine whose response is an endless stream, and how far it is. */
function endless(): Mountable & { readonly stream: { chunks: number; isOver: boolean } } {
  const stream = { chunks: 0, isOver: false };
  async function* chunks(): AsyncGenerator<string, void> {
    try {
      for (; ; stream.chunks++) {
        yield "x".repeat(10_000);
        await setImmediate();
      }
    } finally {
      stream.isOver = true;
    }
  }
  const handle = async (): Promise<ApiResponse> => ({ status: 200, headers: {}, body: chunks() });
  return { api: { handle }, stream };
}

describe.each(mountings)("$name", ({ serve }) => {
  test("serves requests, several at once on a connection", async () => {
    const engine = notes();
    const session = sessionOf(await serve(engine));
    const post = { ":method": "POST", ":path": "/v1/notes" };
    const created = await Promise.all(
      Array.from({ length: 20 }, (_, i) => ask(session, post, JSON.stringify({ title: `${i}` }))),
    );
    expect(created.map(({ status }) => status)).toEqual(created.map(() => 201));
    expect(engine.rows.size).toBe(20);

    const long = JSON.stringify({ title: "x".repeat(2_000_000) });
    expect(await ask(session, post, long)).toMatchObject({ status: 413 });
    expect(await ask(session, { ":method": "PUT", ":path": "/v1/notes" })).toMatchObject({
      status: 405,
      headers: { allow: "GET, HEAD, POST, OPTIONS" },
    });
    const listed = await ask(session, { ":path": "/v1/notes" });
    const head = await ask(session, { ":method": "HEAD", ":path": "/v1/notes" });
    expect(head).toMatchObject({ status: 200, body: "" });
    expect(head.headers["content-length"]).toBe(String(Buffer.byteLength(listed.body)));
  });

  test("tells the engine the host and the address of a request, as over HTTP/1.1", async () => {
    const requests: ApiRequest[] = [];
    const addresses: unknown[] = [];
    const session = sessionOf(
      await serve({
        api: {
          async handle(request) {
            requests.push(request);
            addresses.push(request.remoteAddress);
            return { status: 204, headers: {}, body: null };
          },
        },
      }),
    );
    await ask(session, { ":path": "/v1/notes?a=b", ":authority": "shop.example:8443", host: "x" });
    expect(requests).toMatchObject([
      { method: "GET", url: "/v1/notes?a=b", path: "/v1/notes", query: "a=b" },
    ]);
    expect(addresses).toEqual(["127.0.0.1"]);
    expect(requests[0]?.headers).toEqual([
      "Host",
      "shop.example:8443",
      "authorization",
      `Bearer ${keys.all}`,
    ]);
  });

  test("lets a stream wait for its reader, and ends it when the reader leaves", async () => {
    const { api, stream } = endless();
    const port = await serve({ api });
    for (const leave of ["the stream", "the connection"]) {
      const session = sessionOf(port);
      const reader = await open(session, "/v1/notes/stream");
      await eventually(async () => {
        const { chunks } = stream;
        for (let i = 0; i < 100; i++) await setImmediate();
        expect(stream.chunks).toBe(chunks);
      });
      expect(stream).toMatchObject({ isOver: false });
      if (leave === "the stream") reader.close(constants.NGHTTP2_CANCEL);
      else session.destroy();
      await eventually(() => expect(stream.isOver).toBe(true));
      stream.isOver = false;
    }
  });

  test("ends a stream whose reader left before the response began", async () => {
    const { api, stream } = endless();
    const hasCome = Promise.withResolvers<void>();
    const begin = Promise.withResolvers<void>();
    const signals: AbortSignal[] = [];
    const port = await serve({
      api: {
        async handle(request) {
          if (request.path !== "/v1/notes/stream") return { status: 204, headers: {}, body: null };
          hasCome.resolve();
          await begin.promise;
          signals.push(request.signal);
          return api.handle(request);
        },
      },
    });
    const session = sessionOf(port);
    const request = session.request({ ":path": "/v1/notes/stream" });
    request.on("error", () => undefined);
    await hasCome.promise;
    request.close(constants.NGHTTP2_CANCEL);
    // The server gets what the client sends in order.
    await ask(session, { ":path": "/v1/notes" });
    begin.resolve();
    await eventually(() => expect(stream.isOver).toBe(true));
    expect(signals.map(({ aborted }) => aborted)).not.toContain(false);
  });

  test.each(["before", "while"])("refuses a body that is cut off %s it is read", async (when) => {
    const outcomes: unknown[] = [];
    const began = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const reads = [
      (request: ApiRequest): Promise<unknown> => request.body(1_000),
      (request: ApiRequest): Promise<unknown> => Array.fromAsync(request.chunks()),
    ];
    const port = await serve({
      api: {
        async handle(request) {
          const i = Number(request.query);
          const left = once(request.signal, "abort");
          began[i]?.resolve();
          if (when === "before") await left;
          const whole = "the body is whole";
          outcomes.push(await reads[i]?.(request).then(() => whole, codeOf));
          return { status: 204, headers: {}, body: null };
        },
      },
    });
    for (const [i, { promise }] of began.entries()) {
      const session = sessionOf(port);
      const request = session.request({ ":method": "POST", ":path": `/v1/notes?${i}` });
      request.on("error", () => undefined).write("{}");
      await promise;
      session.destroy();
    }
    await eventually(() => expect(outcomes).toEqual(["malformed_request", "malformed_request"]));
  });

  test("breaks a response off that fails half-way, so that it does not look whole", async () => {
    const session = sessionOf(await serve(notes()));
    const path = "/v1/notes/stream?count=broken";
    const request = session.request({ ":path": path, authorization: `Bearer ${keys.all}` });
    await expect(textOf(request)).rejects.toThrow("NGHTTP2_INTERNAL_ERROR");
  });
});

test("a page without authorize works over HTTP/2 on this machine alone", async () => {
  const page = inboxHandler(world().engine);
  const session = sessionOf(await overNode.serve(page));
  const asked = { ":path": "/", ":authority": "localhost:1234" };
  expect((await ask(session, asked)).status).toBe(200);
  const other = { ":path": "/", ":authority": "attacker.example" };
  expect((await ask(session, other)).status).toBe(403);
});
