import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import type { ApiRequest, ApiResponse, Mountable } from "../../src/api/http.ts";
import { ask, parseAnswers } from "./raw-http.ts";
import { mountings, serve } from "./servers.ts";

const requests = 400;
/** Large, so that the buffers of the operating system hold few of them. */
const body = "x".repeat(200_000);
/** So many small requests are more bytes than Node reads at once. */
const smallRequests = 4_000;

interface Handled {
  /** The queries of the requests that the handler got, in order. */
  readonly queries: string[];
  /** How many are being handled now, at most. */
  atOnce: number;
}

/** Handles requests with `answer` and notes them. */
function noted(answer: (request: ApiRequest) => Promise<ApiResponse>): Mountable & Handled {
  let now = 0;
  const handled: Mountable & Handled = {
    queries: [],
    atOnce: 0,
    paths: "all",
    api: {
      async handle(request) {
        handled.queries.push(request.query);
        handled.atOnce = Math.max(handled.atOnce, ++now);
        const answered = await answer(request);
        now--;
        return answered;
      },
    },
  };
  return handled;
}

const answerWith = (text: string): Promise<ApiResponse> =>
  Promise.resolve({ status: 200, headers: { "Content-Type": "text/plain" }, body: text });

/** An API that answers the request with the query 0 only after `respond`. */
function holdingFirst(): { readonly engine: Mountable & Handled; readonly respond: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const engine = noted(async ({ query }) => {
    if (query === "0") await promise;
    return answerWith("x");
  });
  return { engine, respond: resolve };
}

/** An API whose response to the first request is long, and ends only after `goOn`. */
function streamingFirst(): { readonly engine: Mountable & Handled; readonly goOn: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  async function* chunks(): AsyncGenerator<string, void> {
    for (let i = 0; i < 100; i++) yield body;
    await promise;
  }
  const engine = noted(async ({ query }) =>
    query === "0" ? { status: 200, headers: {}, body: chunks() } : answerWith("x"),
  );
  return { engine, goOn: resolve };
}

const get = (path: string, n: number): string =>
  `GET ${path}?${n} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

const pipelined = (path: string, count = requests): string =>
  Array.from({ length: count }, (_, n) => get(path, n)).join("");

async function connected(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1" });
  await once(socket, "connect");
  return socket;
}

/** Lets the event loop run until `value` has not changed for many of its rounds. */
async function settled(value: () => number): Promise<number> {
  for (let before = -1; value() !== before;) {
    before = value();
    for (let i = 0; i < 300; i++) await new Promise((resolve) => setImmediate(resolve));
  }
  return value();
}

/** Reads until `count` responses are complete. */
async function read(socket: Socket, count: number): Promise<readonly string[]> {
  const chunks: Buffer[] = [];
  let found = 0;
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk as Buffer);
    found += (chunk as Buffer).toString("latin1").split("HTTP/1.1 200").length - 1;
    if (found >= count && (chunk as Buffer).at(-1) === "x".charCodeAt(0)) break;
  }
  return parseAnswers(Buffer.concat(chunks)).map((answer) => answer.body);
}

/** Each framework with and without a body parser. A `fetch` server handles connections itself. */
const different = mountings.filter(
  ({ before, prefix }) => before === "express.json" || (before !== "Request" && prefix === ""),
);

describe.each(different)("$name", (mounting) => {
  const path = `${mounting.prefix}/v1/notes`;

  test("a client that reads no responses gets no further requests handled", async () => {
    const engine = noted(() => answerWith(body));
    await using running = await serve(mounting, engine);
    const socket = await connected(running.port);
    socket.pause();
    socket.write(pipelined(path));
    // Only as many as the buffers of the operating system take, some 10 MB.
    expect(await settled(() => engine.queries.length)).toBeLessThan(200);
    expect(engine.atOnce).toBe(1);

    // When the client reads at last, all of its requests are answered, in order.
    const responses = await read(socket, requests);
    expect(responses).toHaveLength(requests);
    expect(engine.queries).toEqual(Array.from({ length: requests }, (_, n) => String(n)));
    expect(engine.atOnce).toBe(1);
    socket.destroy();
  });

  test("no more is read from a connection while many of its requests wait", async () => {
    const { engine, respond } = holdingFirst();
    await using running = await serve(mounting, engine);
    let bytesRead = (): number => 0;
    running.server.once("connection", (accepted) => (bytesRead = () => accepted.bytesRead));
    const socket = await connected(running.port);
    const sent = pipelined(path, smallRequests);
    socket.write(sent);
    expect(await settled(() => bytesRead())).toBeLessThan(140_000);
    expect(sent.length).toBeGreaterThan(180_000);
    expect(engine.queries).toEqual(["0"]);

    respond();
    expect(await read(socket, smallRequests)).toHaveLength(smallRequests);
    expect(bytesRead()).toBe(sent.length);
    socket.destroy();
  });

  test("no more is read while many requests wait for a stream that the client reads slowly", async () => {
    const { engine, goOn } = streamingFirst();
    await using running = await serve(mounting, engine);
    let bytesRead = (): number => 0;
    running.server.once("connection", (accepted) => (bytesRead = () => accepted.bytesRead));
    const socket = await connected(running.port);
    socket.pause();
    socket.write(get(path, 0));
    // Node has something to send and reads no more, until the client has taken it.
    await settled(() => engine.queries.length);
    socket.write(pipelined(path, 300));
    await settled(() => bytesRead());
    socket.resume();
    await settled(() => socket.bytesRead);
    const before = bytesRead();
    socket.write(pipelined(path, smallRequests));
    expect((await settled(() => bytesRead())) - before).toBeLessThan(140_000);
    goOn();
    expect(await settled(() => engine.queries.length)).toBe(1 + 300 + smallRequests);
    socket.destroy();
  });

  test("the requests of one connection do not delay those of another", async () => {
    const engine = noted(() => answerWith("x"));
    await using running = await serve(mounting, engine);
    const socket = await connected(running.port);
    socket.resume();
    const other = await connected(running.port);
    socket.write(pipelined(path, 500));
    other.write(get(path, 9_999));
    await once(other, "data");
    expect(engine.queries.length).toBeLessThan(400);
    socket.destroy();
    other.destroy();
  });

  test("requests that wait when their connection closes are not handled", async () => {
    const { engine, respond } = holdingFirst();
    await using running = await serve(mounting, engine);
    const closed = new Promise((resolve) => {
      running.server.once("connection", (accepted) => accepted.once("close", resolve));
    });
    const socket = await connected(running.port);
    socket.write(pipelined(path, 10));
    await settled(() => engine.queries.length);
    socket.destroy();
    await closed;
    respond();
    expect((await ask(running.port, { path: `${path}?later` })).status).toBe(200);
    expect(engine.queries).toEqual(["0", "later"]);
  });
});
