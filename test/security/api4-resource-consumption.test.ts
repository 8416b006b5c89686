/** API4:2023. What one request may cost is bounded, whoever sends it. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type * as z from "zod";
import { fetchHandler } from "../../adapters/http/fetch.ts";
import { nodeHandler } from "../../adapters/http/node.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { createPlaybookSchema } from "../../src/agents/playbooks/input-types.ts";
import type { ApiHandler, ApiResponse } from "../../src/api/http.ts";
import { defaultLimits } from "../../src/kernel/limits.ts";
import { parse } from "../../src/kernel/validation.ts";
import { sendMessageSchema } from "../../src/messages/input-types.ts";
import { idempotency } from "../../src/operations/execution/rows.ts";
import { createWebhookSchema } from "../../src/webhooks/input-types.ts";
import { call, jsonOf, textOf } from "../api/call.ts";
import { serve } from "../api/servers.ts";
import { heapInUse } from "../support/heap.ts";
import { cases } from "../support/runs.ts";
import { thrownBy } from "../support/thrown-by.ts";
import { allRoutes, guardedRoutes, requestOf, titled, type OwnRequest } from "./examples.ts";
import { bodySchemaOf, fieldsOf, titledField, type Field } from "./fields.ts";
import { newOwner, ownerFor } from "./owner.ts";
import { idleWorld, startedWorld } from "./world.ts";

const limits = { bodyBytes: 50_000, batchBodyBytes: 60_000, jsonDepth: 8 };
const there = await startedWorld({ limits });
const own = await newOwner(there);
afterAll(() => there.stop());

const ask = (request: OwnRequest): Promise<ApiResponse> => call(there.engine.api, request);
const writing = guardedRoutes.filter((route) => bodySchemaOf(route) !== undefined);

/** Bodies that cost more than they may, with the error. */
const costly: readonly (readonly [what: string, body: () => string, code: string])[] = [
  ["a long body", () => JSON.stringify({ x: "x".repeat(61_000) }), "body_too_large"],
  ["many fields", () => `{${'"a":1,'.repeat(12_000)}"b":1}`, "body_too_large"],
  ["a deep body", () => `${'{"a":'.repeat(9)}1${"}".repeat(9)}`, "validation_failed"],
  ["deep lists", () => `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`, "validation_failed"],
  ["an open body", () => "[".repeat(49_000), "malformed_json"],
  ["a huge number", () => `{"a":${"9".repeat(40_000)}}`, "validation_failed"],
];

/** Anonymous visitors may send less. */
const visitorBytes = 4_096 + 12 * 1_600;

test.each(writing.map(titled))("$name refuses bodies that cost too much", async ({ route }) => {
  const { body: _, ...request } = requestOf(route, await ownerFor(there, route, own));
  const before = await there.written();
  for (const [what, text, code] of costly) {
    const raw = text();
    const answer = await ask({ ...request, raw });
    const isLong = "visitor" in route && raw.length > visitorBytes;
    expect([what, jsonOf(answer)["code"]]).toEqual([what, isLong ? "body_too_large" : code]);
    // It names the problem without repeating what came.
    expect([what, textOf(answer).length < 2_000]).toEqual([what, true]);
  }
  expect((await there.written()).slice(before.length)).toEqual([]);
});

test("a visitor's message may have the maximum length, however it is escaped", async () => {
  const body = "\u{1f600}".repeat(1_600);
  const escaped = body.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
  const answer = await call(there.engine.api, {
    method: "POST",
    path: `/v1/webchat/sessions/${own.ids["webchat"]}/messages`,
    key: own.token,
    raw: `{"body":"${escaped}","client_id":"${"x".repeat(64)}","idempotency_key":"${"x".repeat(255)}"}`,
  });
  expect(answer.status).toBe(201);
  expect(jsonOf(answer)["body"]).toBe(body);
  await there.settle();
});

test("a visitor's marks store no response, whatever idempotency key they have", async () => {
  const storage = memory();
  const { engine } = idleWorld({ storage });
  const { id, token } = await engine.webchat.open();
  const answer = await call(engine.api, {
    method: "POST",
    path: `/v1/webchat/sessions/${id}/marks`,
    key: token ?? expect.fail("no token"),
    body: { message_id: "msg_unknown", mark: "read", idempotency_key: "k" },
  });
  expect(answer.status).toBe(404);
  const stored = { index: idempotency.primary, prefix: [], order: "ascending", limit: 1 } as const;
  expect(await storage.reader.range(stored)).toEqual([]);
});

const long = "x".repeat(20_000);
const many = Array.from({ length: 1_001 }, (_, i) => String(i));

/** Values that are too large for a field, whatever it means. */
function excessive({ in: place, schemas }: Field): readonly unknown[] {
  const types = new Set(schemas.map(({ type }) => type));
  const found: unknown[] = [];
  if (types.has("string") || types.has(undefined)) {
    found.push(place === "query" ? "x".repeat(4_000) : long);
  }
  if (types.has("array")) found.push(many);
  if (types.has("object")) {
    found.push({ [long]: "x" }, { x: long }, Object.fromEntries(many.map((each) => [each, "x"])));
  }
  if (types.has("integer") || types.has("number")) found.push(1e300, -1e300, 2 ** 53);
  return found;
}

const bounded = guardedRoutes.flatMap((route) =>
  fieldsOf(route).map((field) => titledField(route, field)),
);

test.each(bounded)("$name has a bound", async ({ route, field }) => {
  const request = requestOf(route, await ownerFor(there, route, own));
  const before = await there.written();
  for (const value of excessive(field)) {
    const mark = request.path.includes("?") ? "&" : "?";
    const answer = await ask(
      field.in === "query"
        ? { ...request, path: `${request.path}${mark}${field.name}=${String(value)}` }
        : { ...request, body: { ...request.body, [field.name]: value } },
    );
    const { errors = [] } = jsonOf(answer) as { errors?: readonly unknown[] };
    const which = String(value).slice(0, 20);
    expect([which, answer.status]).toEqual([which, expect.toBeOneOf([400, 422])]);
    // One error per element at most, however often an element is wrong.
    expect(errors.length).toBeLessThanOrEqual(many.length);
  }
  expect((await there.written()).slice(before.length)).toEqual([]);
});

const lists = guardedRoutes.filter((route) => fieldsOf(route).some(({ name }) => name === "limit"));

test.each(lists.map(titled))("$name has at most 100 rows a page", async ({ route }) => {
  const request = requestOf(route, await ownerFor(there, route, own));
  const mark = request.path.includes("?") ? "&" : "?";
  for (const limit of ["0", "101", "-1", "1e3", "1.5", "NaN", "", "1&limit=2", "9".repeat(400)]) {
    const answer = await ask({ ...request, path: `${request.path}${mark}limit=${limit}` });
    expect([limit, answer.status]).toEqual([limit, 422]);
  }
});

/** Calls `use` with an object of very many keys. Returns how many of its values were read. */
function readsOfMany(use: (map: object) => void): number {
  let reads = 0;
  const map = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, "v"]));
  const get = (target: object, key: string | symbol): unknown => {
    reads++;
    return Reflect.get(target, key);
  };
  use(new Proxy(map, { get }));
  return reads;
}

test.each<[what: string, schema: z.ZodType, bodyWith: (map: object) => object]>([
  [
    "metadata",
    sendMessageSchema(defaultLimits),
    (metadata) => ({ to: "+15005550001", body: "Hello", metadata }),
  ],
  [
    "a webhook's headers",
    createWebhookSchema,
    (headers) => ({ url: "https://example.com/", events: ["*"], headers }),
  ],
  [
    "the arguments of a playbook's step",
    createPlaybookSchema,
    (args) => ({ name: "Refund", steps: [{ id: "run", type: "run", action: "refund", args }] }),
  ],
])("of %s with too many keys, no value is read", (_, schema, bodyWith) => {
  const reads = readsOfMany((map) => {
    expect(thrownBy(() => parse(schema, bodyWith(map)))).toMatchObject({
      errors: [
        { message: expect.stringMatching(/^must have at most \d+ keys, got 1000$/) as string },
      ],
    });
  });
  expect(reads).toBe(0);
});

test.each([
  ["/v1/messages/batch", "messages"],
  ["/v1/contacts/import", "contacts"],
])("%s reports at most 20 errors of each item", async (path, field) => {
  const item = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, 0]));
  const body = { [field]: [item, item] };
  const answer = await ask({ method: "POST", path, key: own.secret, body });
  const { data } = jsonOf(answer) as { data: readonly { readonly errors: readonly object[] }[] };
  expect(data.map(({ errors }) => errors.length)).toEqual([20, 20]);
});

/** As many headers as Node passes on. */
const manyHeaders = Array.from({ length: 2_000 }, (_, i) => [`h${i}`, ""]).flat();

/** Most of the code that reads headers is the same for all routes. */
const someRoutes = cases([...allRoutes.entries()], ([i]) => i % 4 === 0).map(([, route]) => route);

test.each(someRoutes.map(titled))("$name reads each header a few times only", async ({ route }) => {
  const request = requestOf(route, await ownerFor(there, route, own));
  let reads = 0;
  const counting: ApiHandler = {
    handle: (asked) => {
      const get = (target: readonly string[], key: string | symbol): unknown => {
        if (typeof key === "string" && /^\d+$/.test(key)) reads++;
        return Reflect.get(target, key);
      };
      return there.engine.api.handle({ ...asked, headers: new Proxy(asked.headers, { get }) });
    },
  };
  const left = AbortSignal.abort();
  await call(counting, { ...request, headers: manyHeaders, signal: left });
  expect(reads).toBeLessThan(20 * manyHeaders.length);
});

describe("clients that send slowly", () => {
  test("delay nobody, and leave nothing behind when they go", async () => {
    await using running = await serve({ prefix: "", listener: nodeHandler }, there.engine);
    const { method, path, key } = requestOf(
      guardedRoutes.find(({ operation }) => operation.name === "messages.send") ?? expect.fail(),
      own,
    );
    const before = await there.written();
    const heads = [
      `${method} ${path} HTTP/1.1\r\nHost: x\r\n`,
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"to":`,
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
        `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"to"\r\n`,
    ];
    const sockets = Array.from({ length: 150 }, (_, i) => {
      const socket = connect(running.port, "127.0.0.1");
      socket.on("error", () => {}).write(heads[i % heads.length] ?? "");
      return socket;
    });
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    const prompt = await fetch(`${running.base}/v1/account`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(prompt.status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expect
      .poll(() => new Promise((resolve) => running.server.getConnections((_, n) => resolve(n))))
      .toBeLessThanOrEqual(1);
    expect((await there.written()).slice(before.length)).toEqual([]);
  });
});

describe("a body in chunks of one byte takes little memory", () => {
  const count = 45_000;
  /** Much less than an object for each byte. */
  const maxHeap = 3_000_000;

  test.each(["/v1/messages/batch", "/v1/transports/unknown/callbacks"])(
    "over node:http: %s",
    async (path) => {
      await using running = await serve({ prefix: "", listener: nodeHandler }, there.engine);
      const connected = once(running.server, "connection");
      const client = connect(running.port, "127.0.0.1");
      onTestFinished(() => void client.destroy());
      const [server] = (await connected) as [Socket];
      const request =
        `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${own.secret}\r\n` +
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
      const before = heapInUse();
      client.write(request + "1\r\n \r\n".repeat(count));
      await expect.poll(() => server.bytesRead).toBe(request.length + 6 * count);
      // Node holds the chunks until the request is authenticated.
      await expect.poll(() => heapInUse() - before).toBeLessThan(maxHeap);
    },
  );

  test.each([
    ["/v1/messages/batch", "application/json"],
    ["/v1/contacts/import", "application/x-ndjson"],
  ])("over fetch: %s", async (path, type) => {
    const before = heapInUse();
    let used = Infinity;
    let left = count;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (left-- > 0) return controller.enqueue(Uint8Array.of(32));
        used = heapInUse() - before;
        controller.close();
      },
    });
    const headers = { authorization: `Bearer ${own.secret}`, "content-type": type };
    const init = { method: "POST", headers, body, duplex: "half" } as const;
    const response = await fetchHandler(there.engine)(new Request(`http://x${path}`, init));
    await response.text();
    expect(used).toBeLessThan(maxHeap);
  });
});
