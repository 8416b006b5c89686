import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { eventually, settled } from "../../adapters/testing/conformance/mount/fixture.ts";
import { parseAnswers } from "../../adapters/testing/conformance/mount/raw-http.ts";
import type { ApiRequest, ApiResponse, Mountable } from "../../src/api/http.ts";
import { cases, longTest } from "../support/runs.ts";
import { mountings, serve } from "./servers.ts";

/** Large, so that the buffers of the operating system hold few of them. */
const body = "x".repeat(200_000);
/** So many small requests are more bytes than Node reads at once. */
const smallRequests = 4_000;

interface Handled {
  /** The queries of the requests that the handler got, in order. */
  readonly queries: readonly string[];
}

/** Handles requests with `answer` and notes them. */
function noted(answer: (request: ApiRequest) => Promise<ApiResponse>): Mountable & Handled {
  const queries: string[] = [];
  const handle = (request: ApiRequest): Promise<ApiResponse> => {
    queries.push(request.query);
    return answer(request);
  };
  return { queries, paths: "all", api: { handle } };
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

const pipelined = (path: string, count: number): string =>
  Array.from({ length: count }, (_, n) => get(path, n)).join("");

async function connected(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1" });
  await once(socket, "connect");
  return socket;
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

describe.each(cases(different, ({ name }) => name === "node:http"))("$name", (mounting) => {
  const path = `${mounting.prefix}/v1/notes`;

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

  longTest(
    "no more is read while many requests wait for a stream that the client reads slowly",
    async () => {
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
      const all = 1 + 300 + smallRequests;
      await eventually(() => engine.queries.length === all, `${all} requests for the engine`);
      socket.destroy();
    },
  );
});
