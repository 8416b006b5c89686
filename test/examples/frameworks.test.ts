/**
 * Runs every sample of docs/frameworks.md on a real socket: requests, streams, bodies, shutdown.
 */
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { getRequestListener } from "@hono/node-server";
import type { Message, MessagingEngine } from "tidings";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { compile } from "../support/compile.ts";
import { longTest } from "../support/runs.ts";
import {
  moduleOf,
  sampleCompilerOptions,
  samplesOf,
  watchSignalHandlers,
  type Sample,
} from "./samples.ts";

const samples = samplesOf("docs/frameworks.md");
const names = samples.map(({ heading }) => heading);

/** Inside the project, so that imports resolve. Hidden, so that other tools skip it. */
const folder = resolve("test/examples/.frameworks");
const fileOf = ({ heading }: Sample): string =>
  join(folder, `${heading.replaceAll(/\W+/g, "-")}.ts`);
/** NestJS needs a compiler that keeps the types of parameters. Node only removes types. */
const compiled = (sample: Sample): string => fileOf(sample).replace(/ts$/, "js");

type Handler = (request: Request) => Promise<Response>;

interface SampleModule {
  readonly engine: MessagingEngine;
  readonly server?: Server;
  /** The framework's application. Only some have `close`. */
  readonly app?: { close?(): Promise<unknown> };
  /** A Next.js route module exports a function per method. */
  readonly GET?: Handler;
  /** Next.js calls it when the server starts. */
  register?(): Promise<void>;
}

const emitting = { noEmit: false, noCheck: true, noResolve: true, rootDir: ".", outDir: "." };

beforeAll(async () => {
  await mkdir(folder, { recursive: true });
  await Promise.all(samples.map((sample) => writeFile(fileOf(sample), moduleOf(sample))));
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: "../../../tsconfig.json",
      // `readme.test.ts` checks the types. Here, each sample is compiled by itself.
      compilerOptions: { ...sampleCompilerOptions, ...emitting },
      include: ["./*.ts"],
      exclude: [],
    }),
  );
  expect(await compile(folder)).toBe("");
});

afterAll(() => rm(folder, { recursive: true, force: true }));

interface Running {
  readonly url: string;
  readonly key: string;
  readonly server: Server;
  /** Stops the program the way the sample does on SIGTERM. Resolves when its port is closed. */
  stop(): Promise<void>;
}

async function run(name: string): Promise<Running> {
  const sample = samples.find(({ heading }) => heading === name);
  if (sample === undefined) throw new Error(`docs/frameworks.md has no sample under ${name}`);
  const removeSignalHandlers = watchSignalHandlers();
  // Each import stands for a process, and Next.js programs keep their engine here.
  Reflect.deleteProperty(globalThis, "engine");
  const program = (await import(`${compiled(sample)}?${Date.now()}`)) as SampleModule;
  await register(program);
  const handlers = removeSignalHandlers().get("SIGTERM") ?? [];
  const { app, engine, server = serveNext(program) } = program;
  if (!server.listening) await once(server, "listening");
  const { secret } = await engine.apiKeys.create({ name: "test" });
  const isClosed = once(server, "close");
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    // Nest's signal handler ends by killing the process: its test calls what the handler calls.
    if (app?.close !== undefined) await app.close();
    else if (handlers.length > 0) for (const each of handlers) each("SIGTERM");
    else {
      server.close();
      await engine.stop();
      server.closeAllConnections();
    }
    await isClosed;
    await engine.stop();
  };
  onTestFinished(stop);
  const { port } = server.address() as AddressInfo;
  return { url: `http://localhost:${port}/messaging`, key: secret, server, stop };
}

/** Starts a Next.js program, as its server does. */
async function register(program: SampleModule): Promise<void> {
  if (program.register === undefined) return;
  vi.stubEnv("NEXT_RUNTIME", "nodejs");
  await program.register();
  vi.unstubAllEnvs();
}

/** Calls the exports of a route module the way Next.js does. */
function serveNext(exports: object): Server {
  const methods = exports as Readonly<Record<string, Handler | undefined>>;
  const serve = async (request: Request): Promise<Response> =>
    (await methods[request.method]?.(request)) ?? new Response(null, { status: 405 });
  const listener = getRequestListener(serve);
  return createServer((request, response) => void listener(request, response)).listen(0);
}

test("the page has a sample for each framework", () => {
  expect(names).toEqual(["Express", "Koa", "node:http", "Hono", "Next.js", "Fastify", "NestJS"]);
});

describe.each(names)("the %s sample", (name) => {
  test("sends, reads and streams, and closes open streams when it stops", async () => {
    const { url, key, stop } = await run(name);
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const stream = await fetch(`${url}/v1/events/stream?types=message.sent`, { headers });
    expect(stream.headers.get("content-type")).toContain("text/event-stream");

    const body = JSON.stringify({ to: "+15005550001", body: "Hello" });
    const sent = await fetch(`${url}/v1/messages`, { method: "POST", headers, body });
    expect(sent.status).toBe(201);
    const { id } = (await sent.json()) as Message;
    const read = await fetch(`${url}/v1/messages/${id}`, { headers });
    expect(read.status).toBe(200);
    expect(await read.json()).toMatchObject({ id, body: "Hello" });

    const events = stream.body?.getReader();
    let received = "";
    while (!received.includes(id)) {
      const chunk = await events?.read();
      if (chunk?.value === undefined) throw new Error(`the stream ended early: ${received}`);
      received += Buffer.from(chunk.value).toString();
    }
    expect(received).toContain("event: message.sent");

    await stop();
    await expect(fetch(`${url}/v1/health`)).rejects.toThrow("fetch failed");
  });

  longTest("answers a request that is running when it stops", async () => {
    const { url, key, server, stop } = await run(name);
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ to: "+15005550001", body: "Hello" });
    const begun = once(server, "request");
    const response = fetch(`${url}/v1/messages`, { method: "POST", headers, body });
    await begun;
    const stopped = stop();
    // Sent, or refused with an error that the client can repeat.
    expect([201, 503]).toContain((await response).status);
    await stopped;
  });

  test("leaves bodies, limits and errors to tidings", async () => {
    const { url, key } = await run(name);
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const post = (path: string, body: string): Promise<Response> =>
      fetch(`${url}/v1/${path}`, { method: "POST", headers, body });

    const malformed = await post("messages", '{"to":');
    expect(malformed.status).toBe(400);
    expect(malformed.headers.get("content-type")).toContain("application/problem+json");
    expect(await malformed.json()).toMatchObject({ code: "malformed_json" });

    const large = await post("messages", JSON.stringify({ body: "x".repeat(1_100_000) }));
    expect(large.status).toBe(413);
    expect(await large.json()).toMatchObject({ code: "body_too_large" });

    // Larger than any framework's own limit, and within that of tidings.
    const filler = " ".repeat(2_000_000);
    const message = '{"to":"+15005550001","body":"Hello"}';
    const batch = await post("messages/batch", `{"messages":[${message}]${filler}}`);
    expect(batch.status, await batch.clone().text()).toBeLessThan(300);

    const unknown = await fetch(`${url}/v1/nothing`, { headers });
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ code: "not_found" });
  });
});

test.each(names.filter((name) => name !== "Next.js"))(
  "the %s sample serves its own route beside the API",
  async (name) => {
    const { url } = await run(name);
    expect(await (await fetch(new URL("/", url))).text()).toBe("The shop");
  },
);

test("the NestJS sample injects the engine", async () => {
  const { url } = await run("NestJS");
  const report = async (): Promise<unknown> => {
    const response = await fetch(new URL("/orders/7/ready", url), { method: "POST" });
    expect(response.status).toBe(201);
    return response.json();
  };
  const first = await report();
  expect(first).toEqual({ message_id: expect.stringMatching(/^msg_/) });
  expect(await report()).toEqual(first);
});
