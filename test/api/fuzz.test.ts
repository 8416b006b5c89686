import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exchange, parseAnswers } from "../../adapters/testing/conformance/mount/raw-http.ts";
import { defaultLimits } from "../../src/kernel/limits.ts";
import { apiRoutes } from "../../src/modules.ts";
import { isLong } from "../support/runs.ts";
import { mountings, serve, type Running } from "./servers.ts";
import { world } from "./world.ts";

const targets = mountings.filter(({ before }) => before === "nothing" || before === "Request");
const there = world({ bodyBytes: 20_000, jsonDepth: 8 });
const running = new Map<string, { server: Running; prefix: string }>();
/** Placeholders in generated requests for ids of the account. */
const known = new Map<string, string>();

beforeAll(async () => {
  const tenant = await there.tenant("sandbox");
  const { messages } = there.engine.account(tenant.scope.account_id, { mode: "sandbox" });
  const { id } = await messages.send({ to: "+15005550001", body: "hello" });
  known
    .set("MESSAGE", id)
    .set("ALL", tenant.secret)
    .set("READER", await there.keyWith(tenant, ["messages:read"]));
  for (const mounting of targets) {
    running.set(mounting.name, {
      server: await serve(mounting, there.engine),
      prefix: mounting.prefix,
    });
  }
});
afterAll(async () => {
  for (const { server } of running.values()) await server[Symbol.asyncDispose]();
  await there.engine.stop();
});

const filled = (text: string): string =>
  text.replaceAll(/MESSAGE|ALL|READER/g, (name) => known.get(name) ?? name);

const odd = fc.oneof(
  fc.constantFrom(
    "",
    "MESSAGE",
    "__proto__",
    "constructor",
    "%2e%2e",
    "%00",
    "%ff",
    "%",
    "..",
    ".",
    "preview",
    "a".repeat(3_000),
    "\u{1f600}",
  ),
  fc.string({ maxLength: 8 }),
);
/** Encodes a request line so that Node's parser accepts it. */
const sendable = (text: string): string => encodeURI(text).replaceAll(/[^!-~]/g, "");

const methods = [
  "GET",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "HEAD",
  "OPTIONS",
  "PROPFIND",
  "PURGE",
  "M-SEARCH",
  "QUERY",
];
// A stream does not end.
const routes = apiRoutes(defaultLimits).filter(({ path }) => !path.endsWith("/stream"));
const places = ["/v1/messages/", "/v1", "/v1/nothing", ...routes.map(({ path }) => path)];
const aim = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(...routes.map(({ method, path }) => [method, path] as const)),
  },
  { weight: 3, arbitrary: fc.constant(["POST", "/v1/messages"] as const) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...methods), fc.constantFrom(...places)) },
);
const names = fc.oneof(
  fc.constantFrom(
    "limit",
    "cursor",
    "status",
    "direction",
    "contact_id",
    "to",
    "created_after",
    "from",
    "type",
  ),
  odd,
);
const values = fc.oneof(
  fc.constantFrom("1", "101", "queued", "2026-01-01T00:00:00Z", "eyJ", "AAAAAAAAAAAAAAAAAAAAAA"),
  odd,
);
const rarely = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
const target = fc
  .tuple(
    aim,
    fc.oneof(fc.constant("MESSAGE"), odd),
    rarely(odd),
    fc.oneof(fc.constant([]), fc.array(fc.tuple(names, values), { maxLength: 3 })),
  )
  .map(([[method, route], id, more, query]) => {
    const where = route.replaceAll(/:\w+/g, id) + (more === null ? "" : `/${more}`);
    const parameters = query.map(([name, value]) => `${name}=${value}`).join("&");
    return { method, path: sendable(query.length === 0 ? where : `${where}?${parameters}`) };
  })
  .filter(({ path }) => !path.includes("/stream"));

const headers = fc.tuple(
  fc.oneof(
    { weight: 9, arbitrary: fc.constant("Authorization: Bearer ALL") },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        "Authorization: Bearer READER",
        "Authorization: Bearer",
        "Authorization: Basic eDp5",
        "Authorization: Bearer \t x",
        "X-None: 1",
      ),
    },
  ),
  fc.oneof(
    { weight: 9, arbitrary: fc.constant("Content-Type: application/json") },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "Content-Type: application/json; charset=utf-16",
        "Content-Type: text/plain",
        "Content-Type: multipart/form-data; boundary=x",
        "Content-Type:",
        "X-None: 2",
      ),
    },
  ),
  fc.array(
    fc.constantFrom(
      "Authorization: Bearer ALL",
      "Content-Type: application/json",
      "Content-Encoding: gzip",
      "Idempotency-Key: a",
      'Idempotency-Key: "a',
      "Idempotency-Key: \u00e9",
      "Last-Event-ID: \u00ff",
      "X-Forwarded-Host: evil",
      "X-HTTP-Method-Override: DELETE",
      `X-Long: ${"x".repeat(4_000)}`,
      "Cookie: a=b",
      "Range: bytes=0-1",
      "If-None-Match: *",
      "Accept: image/png",
    ),
    { maxLength: 3 },
  ),
);

const fields = fc.constantFrom(
  "to",
  "body",
  "media",
  "send_at",
  "metadata",
  "channel",
  "idempotency_key",
  "messages",
  "receipts",
  "name",
  "scopes",
  "address",
  "id",
  "__proto__",
);
const right = fc.constantFrom<unknown>(
  "+15005550001",
  "hello",
  [],
  {},
  "sms",
  "2026-01-01T00:00:00Z",
  ["messages:read"],
  [{ status: "delivered" }],
);
const sendBody = '{"to":"+15005550001","body":"a"}';
const json = fc.oneof(
  fc.string().map((text) => JSON.stringify({ to: "+15005550001", body: text })),
  fc.json({ maxDepth: 4 }),
  fc
    .array(fc.tuple(fields, fc.oneof(right, fc.jsonValue())))
    .map(
      (pairs) =>
        `{${pairs.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`,
    ),
  fc.constantFrom(
    sendBody,
    '{"to":"+15005550001","body":"a\\u0000b"}',
    '{"to":"+15005550001","body":"\\ud800"}',
    '{"to":"+15005550001","body":"a","metadata":{"__proto__":"x"}}',
    '{"to":"+15005550001","body":"a","ttl_seconds":1e999}',
    '{"body":"a","constructor":{"prototype":{"x":1}}}',
    "{",
    "[",
    "nul",
    "\u0000",
  ),
  fc.nat({ max: 9_000 }).map((depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`),
  fc.nat({ max: 4_000 }).map((depth) => '{"a":'.repeat(depth)),
  fc.constant("x".repeat(25_000)),
);
const body = fc.oneof(
  { weight: 6, arbitrary: json.map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) },
);
const framing = fc.constantFrom("length", "length", "chunked", "short");

type Generated = [
  (typeof targets)[number],
  { method: string; path: string },
  [string, string, string[]],
  Uint8Array,
  string,
];
/** A request that succeeds. Few random ones do. */
const validSend = (mounting: (typeof targets)[number]): Generated => [
  mounting,
  { method: "POST", path: "/v1/messages" },
  ["Authorization: Bearer ALL", "Content-Type: application/json", []],
  Buffer.from(sendBody),
  "length",
];

test("every request is answered without a 500, and only a 2xx changes rows", async () => {
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...targets),
      target,
      headers,
      body,
      framing,
      async ({ name }, { method, path }, [key, type, more], bytes, frame) => {
        const { server, prefix } = running.get(name) ?? expect.fail();
        const before = await there.written();
        const length = `Content-Length: ${frame === "short" ? bytes.length + 10 : bytes.length}`;
        const size = frame === "chunked" ? "Transfer-Encoding: chunked" : length;
        const lines = [
          `${method} ${prefix}${path} HTTP/1.1`,
          "Host: localhost",
          "Connection: close",
          key,
          type,
          ...more,
          size,
          "",
          "",
        ];
        const chunk = bytes.length === 0 ? [] : [`${bytes.length.toString(16)}\r\n`, bytes, "\r\n"];
        const sent = frame === "chunked" ? [...chunk, "0\r\n\r\n"] : [bytes];
        const leave = frame === "short";
        const [answer] = parseAnswers(
          await exchange(
            server.port,
            [Buffer.from(filled(lines.join("\r\n")), "latin1"), ...sent],
            { leave },
          ),
        );

        expect(there.errors).toEqual([]);
        if (answer === undefined) {
          expect(leave, "Only a client that leaves gets no response.").toBe(true);
        } else {
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          expect(answer.status, "No request makes the server fail.").toBeLessThan(500);
          expect(answer.headers["request-id"], "Each response names its request.").toMatch(/^req_/);
          if (answer.status >= 400) {
            expect(answer.headers["content-type"], "An error is a problem document.").toBe(
              "application/problem+json",
            );
            if (method !== "HEAD") {
              expect(JSON.parse(answer.body)).toMatchObject({
                status: answer.status,
                detail: expect.any(String) as unknown,
              });
            }
          }
        }
        const asked = answer !== undefined && answer.status < 400;
        // A client that disconnects before its body is complete made no request.
        if (!asked) expect(await there.written()).toEqual(before);
        expect(Object.keys(Object.prototype)).toEqual([]);
      },
    ),
    { numRuns: isLong ? 800 : 240, examples: targets.map(validSend) },
  );
  // The generators reach every kind of error and valid requests.
  expect([...statuses.keys()]).toEqual(
    expect.arrayContaining([200, 201, 400, 401, 404, 405, 413, 415, 422]),
  );
});
