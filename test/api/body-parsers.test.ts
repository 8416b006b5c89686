/** Body parsers that run before the handler. */
import type { IncomingMessage } from "node:http";
import express from "express";
import Koa from "koa";
import bodyParser from "koa-bodyparser";
import { describe, expect, test } from "vitest";
import { expressHandler } from "../../adapters/http/express.ts";
import { fetchHandler } from "../../adapters/http/fetch.ts";
import { koaHandler } from "../../adapters/http/koa.ts";
import { nodeHandler } from "../../adapters/http/node.ts";
import { ask } from "../../adapters/testing/conformance/mount/raw-http.ts";
import { keys, notes } from "./notes-api.ts";
import { serve, type Mounting } from "./servers.ts";

describe("a callback with a signature over its bytes", () => {
  const call = {
    method: "POST",
    path: "/v1/transports/twilio/callbacks",
    headers: [["Content-Type", "application/json"]],
    body: '{ "a" : 1 }',
  } as const;

  test("uses the bytes that a parser kept", async () => {
    const kept = [
      (engine: ReturnType<typeof notes>) =>
        express()
          .use(
            express.json({
              verify: (request, _response, bytes) =>
                void Object.assign(request, { rawBody: bytes }),
            }),
          )
          .use(expressHandler(engine)),
      (engine: ReturnType<typeof notes>) =>
        express()
          .use(express.raw({ type: "*/*" }))
          .use(expressHandler(engine)),
      (engine: ReturnType<typeof notes>) =>
        express()
          .use(express.text({ type: "*/*" }))
          .use(expressHandler(engine)),
      (engine: ReturnType<typeof notes>) =>
        new Koa().use(bodyParser()).use(koaHandler(engine)).callback(),
    ];
    for (const listener of kept) {
      const engine = notes();
      await using running = await serve({ prefix: "", listener: () => listener(engine) }, engine);
      expect((await ask(running.port, call)).status).toBe(200);
      expect(engine.callbacks[0]?.body).toBe('{ "a" : 1 }');
    }
  });

  test("fails with advice if the bytes were not kept", async () => {
    const engine = notes();
    await using running = await serve(
      { prefix: "", listener: () => express().use(express.json()).use(expressHandler(engine)) },
      engine,
    );
    const answer = await ask(running.port, call);
    expect(answer.status).toBe(500);
    expect(answer.body).toContain("rawBody");
    expect(engine.callbacks).toEqual([]);
  });

  test("a body that was already read is a clear error at once", async () => {
    const engine = notes();
    const handler = nodeHandler(engine);
    const swallow = (request: IncomingMessage, response: Parameters<typeof handler>[1]): void => {
      request.resume().once("end", () => handler(request, response));
    };
    await using running = await serve({ prefix: "", listener: () => swallow }, engine);
    const answer = await ask(running.port, {
      ...call,
      path: "/v1/notes",
      headers: [
        ["Authorization", `Bearer ${keys.all}`],
        ["Content-Type", "application/json"],
      ],
    });
    expect(answer).toMatchObject({
      status: 500,
      body: expect.stringContaining("The request body was already read") as unknown,
    });

    const request = new Request("http://localhost/v1/notes", {
      method: "POST",
      headers: { authorization: `Bearer ${keys.all}`, "content-type": "application/json" },
      body: "{}",
    });
    await request.text();
    const response = await fetchHandler(engine)(request);
    expect(response.status).toBe(500);
    expect(await response.text()).toContain("The request body was already read");
  });
});

test("a body that express.json() rejects is answered with a problem document", async () => {
  const engine = notes();
  await using running = await serve(
    {
      prefix: "",
      listener: () =>
        express()
          .use(express.json({ limit: 10 }))
          .use(expressHandler(engine)),
    },
    engine,
  );
  const headers = [
    ["Authorization", `Bearer ${keys.all}`],
    ["Content-Type", "application/json"],
  ] as const;
  const body = 'D\r\n{"title":"a"}\r\n0\r\n\r\n';
  const answer = await ask(running.port, {
    method: "POST",
    path: "/v1/notes",
    headers: [...headers, ["Transfer-Encoding", "chunked"]],
    body,
  });
  expect(answer).toMatchObject({
    status: 413,
    headers: { "content-type": "application/problem+json" },
  });
  expect(engine.rows.size).toBe(0);
});

test("a compressed body that express.json() cannot read gets the answer of any compressed body", async () => {
  const engine = notes();
  const listener: Mounting["listener"] = (mounted) =>
    express().use(express.json()).use(expressHandler(mounted));
  await using running = await serve({ prefix: "", listener }, engine);
  for (const encoding of ["gzip", "deflate", "br"]) {
    const answer = await ask(running.port, {
      method: "POST",
      path: "/v1/notes",
      headers: [
        ["Authorization", `Bearer ${keys.all}`],
        ["Content-Type", "application/json"],
        ["Content-Encoding", encoding],
      ],
      body: '{"title":"not compressed"}',
    });
    expect([encoding, answer.status, answer.headers["content-type"]]).toEqual([
      encoding,
      415,
      "application/problem+json",
    ]);
  }
  expect(engine.rows.size).toBe(0);
});

test("errors of the host application's middleware are left to it", async () => {
  const engine = notes();
  const app = express()
    .use((_request, _response, next) =>
      next(Object.assign(new Error("mine"), { type: "host.error" })),
    )
    .use(expressHandler(engine))
    .use(
      ((_error, _request, response, _next) =>
        void response.status(299).end()) satisfies express.ErrorRequestHandler,
    );
  await using running = await serve({ prefix: "", listener: () => app }, engine);
  expect((await ask(running.port, { path: "/v1/health" })).status).toBe(299);
});

test("a body that the host application refuses in `verify` of a parser is left to it", async () => {
  const engine = notes();
  const refuse = (): void => {
    throw new Error("not signed");
  };
  const app = express()
    .use(express.json({ verify: refuse }))
    .use(expressHandler(engine))
    .use(
      ((_error, _request, response, _next) =>
        void response.status(299).end()) satisfies express.ErrorRequestHandler,
    );
  await using running = await serve({ prefix: "", listener: () => app }, engine);
  const headers = [
    ["Authorization", `Bearer ${keys.all}`],
    ["Content-Type", "application/json"],
  ] as const;
  const request = { method: "POST", path: "/v1/notes", headers, body: '{"title":"a"}' };
  expect((await ask(running.port, request)).status).toBe(299);
  expect(engine.rows.size).toBe(0);
});
