import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import Koa from "koa";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expressHandler } from "../../adapters/http/express.ts";
import { fetchHandler } from "../../adapters/http/fetch.ts";
import { koaHandler } from "../../adapters/http/koa.ts";
import { nodeHandler } from "../../adapters/http/node.ts";
import { ask, exchange, parseAnswers } from "../../adapters/testing/conformance/mount/raw-http.ts";
import { listening } from "../support/listening.ts";
import { keys, notes } from "./notes-api.ts";
import { mountings, serve, type Mounting } from "./servers.ts";

const rejections: unknown[] = [];
const remember = (reason: unknown): void => void rejections.push(reason);
beforeEach(() => {
  rejections.length = 0;
  process.on("unhandledRejection", remember);
});
afterEach(() => {
  process.off("unhandledRejection", remember);
  expect(rejections).toEqual([]);
});

const head = (line: string, ...headers: string[]): string =>
  [line, "Host: localhost", `Authorization: Bearer ${keys.all}`, ...headers, "", ""].join("\r\n");

const overNode: Pick<Mounting, "prefix" | "listener"> = {
  prefix: "",
  listener: (engine) => nodeHandler(engine),
};

test("input that is not HTTP is rejected by Node and affects no other request", async () => {
  await using running = await serve(overNode, notes());
  for (const garbage of [
    "\0\0\0\0\r\n\r\n",
    "GET\r\n\r\n",
    head("BREW /v1/notes HTTP/1.1"),
    head("GET /v1/notes HTTP/9.9"),
    "x".repeat(100_000),
  ]) {
    const answers = parseAnswers(await exchange(running.port, [garbage]));
    expect(answers.map(({ status }) => status >= 400 && status < 500)).not.toContain(false);
  }
  expect((await ask(running.port, { path: "/v1/health" })).status).toBe(200);
});

test("a request that the client breaks off changes nothing and is no error", async () => {
  const engine = notes();
  await using running = await serve(overNode, engine);
  const type = "Content-Type: application/json";
  const half = head("POST /v1/notes HTTP/1.1", type, "Content-Length: 100");
  const chunked = head("POST /v1/notes HTTP/1.1", type, "Transfer-Encoding: chunked");
  for (const sent of [
    `${half}{"title":"a"}`,
    half,
    half.slice(0, 60),
    `${chunked}d\r\n{"title":"a"}\r\n`,
  ]) {
    await exchange(running.port, [sent], { leave: true });
  }
  expect((await ask(running.port, { path: "/v1/health" })).status).toBe(200);
  expect(engine.rows.size).toBe(0);
  expect(engine.errors).toEqual([]);
});

test("a stream that fails is logged", async () => {
  const engine = notes();
  await using running = await serve(overNode, engine);
  const bytes = await exchange(running.port, [head("GET /v1/notes/stream?count=broken HTTP/1.1")]);
  expect(bytes.toString()).not.toContain("\r\n0\r\n\r\n");
  expect(engine.errors).toEqual([expect.objectContaining({ err: new Error("lost") })]);
});

describe("a path outside /v1", () => {
  test("gets a 404 problem on Node", async () => {
    await using running = await serve(
      { prefix: "", listener: (engine) => nodeHandler(engine, { basePath: "/api" }) },
      notes(),
    );
    for (const path of [
      "/",
      "/v1/health",
      "/apix/v1/health",
      "/api",
      "http://localhost/v1/health",
    ]) {
      const response = await ask(running.port, { path });
      expect(response).toMatchObject({
        status: 404,
        headers: { "content-type": "application/problem+json" },
      });
      expect(response.body).toContain("Check its option basePath.");
    }
    const unknown = await ask(running.port, { path: "/api/v1/nothing" });
    expect(unknown.body).toContain("against /v1/openapi.json");
  });

  test("names the base path of the handler and the path that came", async () => {
    const detail = async (path: string, basePath?: string): Promise<unknown> => {
      const options = basePath === undefined ? {} : { basePath };
      await using running = await serve(
        { prefix: "", listener: (engine) => nodeHandler(engine, options) },
        notes(),
      );
      const overNode = JSON.parse((await ask(running.port, { path })).body) as object;
      const handle = fetchHandler(notes(), options);
      const overFetch = (await (
        await handle(new Request(`http://localhost${path}`))
      ).json()) as object;
      const details = [overNode, overFetch].map((body) => "detail" in body && body.detail);
      expect(details[0]).toBe(details[1]);
      return details[0];
    };
    expect(await detail("/v1/health?key=secret", "/api")).toBe(
      'There is no endpoint GET /v1/health. This handler has the base path "/api", so its endpoints begin ' +
        "with /api/v1. Check its option basePath.",
    );
    expect(await detail("/api/v1/health")).toBe(
      "There is no endpoint GET /api/v1/health. This handler has no base path, so its endpoints begin " +
        "with /v1. Check its option basePath.",
    );
    expect(await detail("/api/v1/healt", "/api")).toBe(
      "There is no endpoint GET /api/v1/healt. Check the method and the path against /v1/openapi.json.",
    );
  });

  test("is passed on by Express and Koa", async () => {
    const inExpress = express();
    const inKoa = new Koa();
    const listeners = {
      express: (engine: ReturnType<typeof notes>) =>
        inExpress
          .use("/api", expressHandler(engine))
          .use((_request, response) => void response.status(299).end()),
      koa: (engine: ReturnType<typeof notes>) =>
        inKoa
          .use(koaHandler(engine, { basePath: "/api" }))
          .use((context) => {
            context.status = 299;
          })
          .callback(),
    };
    for (const listener of Object.values(listeners)) {
      const engine = notes();
      await using running = await serve({ prefix: "", listener: () => listener(engine) }, engine);
      for (const path of ["/", "/v1/health", "/api", "/api/v2", "/api/v10/health", "/apiv1"]) {
        expect([path, (await ask(running.port, { path })).status]).toEqual([path, 299]);
      }
      expect((await ask(running.port, { path: "/api/v1" })).status).toBe(404);
      expect((await ask(running.port, { path: "/api/v1/health" })).status).toBe(200);
    }
  });

  test("an invalid base path is rejected with what was expected", () => {
    for (const basePath of ["api", "/api/", "/", "/a?b", "/a b", "/caf\u00E9", "/a%2"]) {
      expect(() => nodeHandler(notes(), { basePath })).toThrow(
        /^nodeHandler: options.basePath: expected a path like "\/api" or "\/caf%C3%A9"/,
      );
    }
  });

  test("a percent-encoded base path is matched", async () => {
    const handle = fetchHandler(notes(), { basePath: "/caf%C3%A9" });
    const statusOf = async (path: string): Promise<number> =>
      (await handle(new Request(`http://localhost${path}`))).status;
    expect(await statusOf("/caf\u00E9/v1/health")).toBe(200);
    expect(await statusOf("/v1/health")).toBe(404);
  });
});

const overSockets = mountings.filter(({ before }) => before !== "Request");

test.each(overSockets)(
  "$name takes a request target in absolute form (RFC 9112, 3.2.2)",
  async (mounting) => {
    const engine = notes();
    await using running = await serve(mounting, engine);
    for (const origin of ["http://localhost", "HTTPS://user@other.example:81"]) {
      const path = `${origin}${mounting.prefix}/v1/health`;
      expect((await ask(running.port, { path })).status).toBe(200);
    }
  },
);

test("a fetch server that drops a response ends its stream", async () => {
  const engine = notes();
  const request = new Request("http://localhost/v1/notes/stream?count=quiet", {
    headers: { authorization: `Bearer ${keys.all}` },
  });
  const reader = (await fetchHandler(engine)(request)).body?.getReader();
  // The comment at the beginning, and an event.
  await reader?.read();
  await reader?.read();
  expect(engine.streams.open).toBe(1);
  await reader?.cancel();
  expect(engine.streams.open).toBe(0);
});

test("HEAD over fetch has the length of the body of GET, not that of no body", async () => {
  const handle = fetchHandler(notes());
  const url = "http://localhost/v1/health";
  const { headers } = await handle(new Request(url, { method: "HEAD" }));
  const body = await (await handle(new Request(url))).text();
  expect(headers.get("content-length")).toBe(String(body.length));
});

test("HEAD is answered on a server that refuses the body of a response that must not have one", async () => {
  const engine = notes();
  for (const listener of [nodeHandler(engine), express().use(expressHandler(engine))]) {
    const server = createServer({ rejectNonStandardBodyWrites: true }, listener);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { status, headers } = await ask(port, { method: "HEAD", path: "/v1/health" });
    const { body } = await ask(port, { path: "/v1/health" });
    expect([status, headers["content-length"]]).toEqual([200, String(body.length)]);
    server.close();
    server.closeAllConnections();
  }
});

test("a connection can be reused after a body that was too large", async () => {
  const engine = notes({ bodyBytes: 1_000 });
  const port = await listening(nodeHandler(engine));
  const body = JSON.stringify({ title: "x".repeat(300_000) });
  const statuses: (number | undefined)[] = [];
  for (let i = 0; i < 3; i++) {
    const request = httpRequest({
      port,
      host: "127.0.0.1",
      method: "POST",
      path: "/v1/notes",
      headers: { authorization: `Bearer ${keys.all}`, "content-type": "application/json" },
    });
    request.end(body);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    statuses.push(response.resume().statusCode);
    await once(response, "end");
  }
  expect(statuses).toEqual([413, 413, 413]);
});
