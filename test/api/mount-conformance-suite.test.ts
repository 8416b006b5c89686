/** The conformance suite for mounts finds mistakes: each of these mounts has exactly one. */
import type { IncomingMessage, ServerResponse } from "node:http";
import express from "express";
import { describe, expect, test } from "vitest";
import { expressHandler } from "../../adapters/http/express.ts";
import { NodeRequest } from "../../adapters/http/node-request.ts";
import { send } from "../../adapters/http/node-response.ts";
import { nodeHandler } from "../../adapters/http/node.ts";
import { mountConformance, type MountNeed } from "../../adapters/testing/index.ts";
import type { ApiRequest, ApiResponse, Mountable } from "../../src/api/http.ts";
import { failedChecks } from "../support/conformance-checks.ts";
import { cases } from "../support/runs.ts";
import { serve, type Mounting } from "./servers.ts";

type Listener = ReturnType<Mounting["listener"]>;
type Mount = (engine: Mountable) => Listener;

/** The errors of the checks that a mount fails, by name. */
function failures(
  mount: Mount,
  only?: string,
  unable?: Partial<Record<MountNeed, string>>,
): Promise<ReadonlyMap<string, string>> {
  const serveSpoilt = async (engine: Mountable) => {
    const running = await serve({ prefix: "/api", listener: mount }, engine);
    return { url: running.base, close: async () => running[Symbol.asyncDispose]() };
  };
  const conformance = { serve: serveSpoilt, unable };
  return failedChecks((runner) => mountConformance(runner, "spoilt", conformance), only);
}

const sound: Mount = (engine) => express().use("/api", expressHandler(engine));

/** A correct mount over an engine that sees other requests, and whose responses are others. */
const between =
  (
    seen: (request: ApiRequest) => Partial<ApiRequest>,
    sent: (response: ApiResponse, request: ApiRequest) => object | Promise<object> = () => ({}),
    mount = sound,
  ): Mount =>
  (engine) => {
    const handle = async (request: ApiRequest): Promise<ApiResponse> => {
      const response = await engine.api.handle(requestWith(request, seen(request)));
      return { ...response, ...(await sent(response, request)) };
    };
    return mount({ ...engine, api: { handle } });
  };

const sending = (sent: Parameters<typeof between>[1]): Mount => between(() => ({}), sent);

/** The request with other members. The other getters stay lazy. */
function requestWith(request: ApiRequest, changes: Partial<ApiRequest>): ApiRequest {
  return new Proxy(request, {
    get(target, name) {
      const owner = name in changes ? changes : target;
      const value: unknown = Reflect.get(owner, name);
      if (typeof value !== "function") return value;
      const bound: unknown = value.bind(owner);
      return bound;
    },
  });
}

/** A mount that does not wait for the earlier responses of a connection. */
const direct =
  (
    write: (handled: Promise<ApiResponse>, response: ServerResponse) => Promise<void> = async (
      handled,
      response,
    ) => send(await handled, response),
  ): Mount =>
  (engine) =>
  (message, response) => {
    void write(engine.api.handle(nodeRequest(message, response)), response);
  };

function nodeRequest(message: IncomingMessage, response: ServerResponse): NodeRequest {
  const { url = "/" } = message;
  const parsed = { body: undefined, rawBody: undefined };
  const target = url.replace(/^\/api/, "");
  return new NodeRequest(message, response, { url, target, parsed, original: message });
}

/** Sends each response to the client that has waited the longest. */
const inOrderOfCompletion: Mount = (engine) => {
  const waiting: ServerResponse[] = [];
  return direct(async (handled, own) => {
    waiting.push(own);
    const answer = await handled;
    await send(answer, waiting.shift() ?? own);
  })(engine);
};

/** Handles the requests of all connections one after another. */
const inOneQueue: Mount = (engine) => {
  let last: Promise<unknown> = Promise.resolve();
  return (message, response) => {
    last = last.then(async () => {
      await send(await engine.api.handle(nodeRequest(message, response)), response);
      await new Promise((resolve) => setImmediate(resolve));
    });
  };
};

async function collected(chunks: AsyncIterable<Uint8Array>, isForgiving = false) {
  const found: Uint8Array[] = [];
  try {
    for await (const chunk of chunks) found.push(chunk);
  } catch (error) {
    if (!isForgiving) throw error;
  }
  return { kind: "bytes", bytes: Buffer.concat(found) } as const;
}

async function* firstOf<T>(chunks: AsyncIterable<T>): AsyncGenerator<T, void> {
  for await (const chunk of chunks) {
    yield chunk;
    return;
  }
}

const isStream = (body: ApiResponse["body"]): body is AsyncIterable<string> =>
  typeof body === "object" && body !== null && !(body instanceof Uint8Array);

/** Changes the streams among the responses. */
const streaming = (
  change: (chunks: AsyncIterable<string>) => ApiResponse["body"] | Promise<string>,
) => sending(async ({ body }) => (isStream(body) ? { body: await change(body) } : {}));

async function all(chunks: AsyncIterable<string>): Promise<string> {
  let joined = "";
  for await (const chunk of chunks) joined += chunk;
  return joined;
}

async function* readAhead(chunks: AsyncIterable<string>): AsyncGenerator<string, void> {
  const read: string[] = [];
  let isOver = false;
  void (async () => {
    for await (const chunk of chunks) read.push(chunk);
    isOver = true;
  })();
  while (!isOver || read.length > 0) {
    const next = read.shift();
    if (next === undefined) await new Promise((resolve) => setImmediate(resolve));
    else yield next;
  }
}

async function* endingInSilence(chunks: AsyncIterable<string>): AsyncGenerator<string, void> {
  try {
    yield* chunks;
  } catch {
    // The client takes the part for the whole.
  }
}

/** Reads on for a client that has left. */
const withoutReturn = (chunks: AsyncIterable<string>): AsyncIterable<string> => {
  const iterator = chunks[Symbol.asyncIterator]();
  return { [Symbol.asyncIterator]: () => ({ next: () => iterator.next() }) };
};

describe("the suite for mounts", () => {
  test("passes for a correct mount", async () => {
    expect(await failures(sound)).toEqual(new Map());
  });

  test("says what a mount has to do and what it did", async () => {
    const failed = await failures(
      sending(() => ({ body: "null" })),
      "have no body",
    );
    expect([...failed.values()]).toEqual([
      "Error: responses have no body if the engine gives none: " +
        'expected [[200,"\\"1\\"",""],[204,"\\"1\\"",""],[304,"\\"1\\"",""]] (status, header and ' +
        'body of each response), got [[200,"\\"1\\"","null"],[204,"\\"1\\"",""],[304,"\\"1\\"",""]]',
    ]);
  });

  test("runs no check that needs what the mount cannot do", async () => {
    const nowhere: Mount = (engine) => nodeHandler(engine, { basePath: "/api" });
    const unable = { passes_on: "it answers every request" };
    expect(await failures(nowhere, "left to the host", unable)).toEqual(new Map());
    expect((await failures(nowhere, "left to the host")).size).toBe(1);
  });
});

describe("the suite for mounts finds one that", () => {
  const mistakes: readonly (readonly [what: string, mount: Mount, found: string])[] = [
    [
      "strips its prefix from the URL",
      between(({ url }) => ({ url: url.slice(4) })),
      "have the method, the path and the query that the client sent",
    ],
    [
      "decodes the path",
      between(({ path }) => ({ path: decodeURI(path) })),
      "have the method, the path and the query that the client sent",
    ],
    [
      "keeps only the first of repeated headers",
      between(({ headers }) => ({
        headers: headers.filter((_, i) => {
          const name = headers[i - (i % 2)]?.toLowerCase();
          return headers.findIndex((each) => each.toLowerCase() === name) === i - (i % 2);
        }),
      })),
      "have all headers, also repeated and long ones",
    ],
    [
      "trusts X-Forwarded-For",
      between(({ headers }) => {
        const at = headers.indexOf("X-Forwarded-For");
        return at === -1 ? {} : { remoteAddress: headers[at + 1] };
      }),
      "have the address of the connection, whatever their headers say",
    ],
    [
      "does not know the address",
      between(() => ({ remoteAddress: undefined })),
      "have the address of the connection, whatever their headers say",
    ],
    [
      "does not pass the framework's request",
      between(() => ({ original: undefined })),
      "have the request of the framework as `original`",
    ],
    [
      "comes after express.json()",
      (engine) => express().use(express.json()).use("/api", expressHandler(engine)),
      "have the bytes of their bodies",
    ],
    [
      "decodes bodies as text",
      between((request) => ({
        body: async (limit) => {
          const { bytes = new Uint8Array() } = await request.body(limit);
          return { kind: "bytes", bytes: Buffer.from(Buffer.from(bytes).toString()) };
        },
      })),
      "have the bytes of their bodies",
    ],
    [
      "calls a text a parsed body",
      between((request) => ({
        body: async (limit) => {
          const { bytes } = await request.body(limit);
          return { kind: "parsed", value: String(bytes), bytes };
        },
      })),
      "have the values of JSON bodies",
    ],
    [
      "ends bodies after their first chunk",
      between((request) => ({ chunks: () => firstOf(request.chunks()) })),
      "have bodies that can be read as a stream",
    ],
    [
      "ignores the limit",
      between((request) => ({ body: () => request.body(Infinity) })),
      "have bodies up to the limit only",
    ],
    [
      "reads a body to its end before it checks the limit",
      between((request) => ({
        body: async (limit) => {
          const body = await collected(request.chunks());
          return body.bytes.length > limit ? request.body(limit) : body;
        },
      })),
      "can be answered before their bodies end",
    ],
    [
      "takes a part of a body for all of it",
      between((request) => ({ body: () => collected(request.chunks(), true) })),
      "fail if the client leaves before their bodies end",
    ],
    [
      "does not notice that the client leaves",
      between(() => ({ signal: new AbortController().signal })),
      "abort their signal when the client leaves",
    ],
    [
      "calls every body JSON",
      sending(({ headers }) => ({ headers: { ...headers, "Content-Type": "application/json" } })),
      "have the status, the headers and the text of the engine",
    ],
    [
      "has an error page of its own",
      sending(({ status }) => (status === 404 ? { body: "Not found" } : {})),
      "have the status, the headers and the text of the engine",
    ],
    [
      "sends all bytes of a buffer",
      sending(({ body }) => (body instanceof Uint8Array ? { body: Buffer.from(body.buffer) } : {})),
      "have the bytes of the engine",
    ],
    [
      "sends null as JSON",
      sending(({ body }) => ({ body: body ?? "null" })),
      "have no body if the engine gives none",
    ],
    [
      "does not know HEAD",
      sending((_, { method }) => (method === "HEAD" ? { status: 405 } : {})),
      "to HEAD have the headers of GET, and no body",
    ],
    [
      "finds its path anywhere",
      between(
        ({ url }) => ({ path: url.slice(Math.max(0, url.indexOf("/v1"))) }),
        undefined,
        (engine) => nodeHandler(engine),
      ),
      "of other APIs do not look like the engine's",
    ],
    [
      "takes every path",
      (engine) => nodeHandler(engine, { basePath: "/api" }),
      "of other APIs are left to the host",
    ],
    ["takes a page for an API", ({ api }) => sound({ api }), "below a page all reach the page"],
    ["collects streams", streaming(all), "send their headers and each chunk at once"],
    ["reads ahead", streaming(readAhead), "wait for a client that reads slowly"],
    ["reads on", streaming(withoutReturn), "end when the client leaves"],
    ["hides failures", streaming(endingInSilence), "that fail close the connection"],
    ["ignores `cutOff`", sending(() => ({ cutOff: undefined })), "close the connection when"],
    ["mixes responses up", inOrderOfCompletion, "get the responses in the order"],
    ["handles all requests at once", direct(), "are served one request at a time"],
    ["handles requests of nobody", direct(), "are served no further requests after they close"],
    ["has one queue", inOneQueue, "do not delay other connections"],
  ];
  /** Their checks wait seconds for what never comes. */
  const slow = new Set([
    "reads a body to its end before it checks the limit",
    "does not notice that the client leaves",
    "collects streams",
    "reads on",
    "hides failures",
    "ignores `cutOff`",
  ]);
  test.concurrent.each(cases(mistakes, ([what]) => !slow.has(what)))(
    "%s",
    async (_, mount, found) => {
      const [name = "none", ...others] = (await failures(mount, found)).keys();
      expect([name.slice(0, found.length), others]).toEqual([found, []]);
    },
  );
});
