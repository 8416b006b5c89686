import { setImmediate } from "node:timers/promises";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { HttpRequest } from "../../../src/ports/http-client.ts";
import { heapInUse } from "../../support/heap.ts";
import { cases, longTest } from "../../support/runs.ts";
import { drip, flood, receiver, type Behavior } from "./receiver.ts";
import { client, post, seen, shortMs } from "./world.ts";

/** Sends one request to a receiver with this behavior. */
async function exchangeWith(behavior: Behavior, over: Partial<HttpRequest> = {}) {
  const there = await receiver(behavior);
  const outcome = await client().send(post(`http://127.0.0.1:${there.port}/hook`, over));
  return { there, outcome };
}

const whole = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const ok = { status: 200, body: "ok", truncated: false };
/** More than the kernel buffers on both sides hold. */
const bigBody = new Uint8Array(32 * 1024 * 1024);

describe("a receiver that is silent", () => {
  test("after accepting the connection causes a response timeout", async () => {
    const { outcome } = await exchangeWith({ onRequest: () => {} }, { deadline_ms: shortMs });
    expect(seen(outcome)).toEqual({ code: "response_timeout", sent: true });
    expect(outcome.address).toBe("127.0.0.1");
  });

  test("and never reads causes a request timeout", async () => {
    const never: Behavior = { onConnect: (socket) => socket.pause() };
    const { outcome } = await exchangeWith(never, { body: bigBody, deadline_ms: shortMs });
    expect(seen(outcome)).toEqual({ code: "request_timeout", sent: true });
  });

  test("because it refuses connections means that nothing was sent", async () => {
    // Nothing listens on port 1 (tcpmux).
    const outcome = await client().send(post("http://127.0.0.1:1/hook"));
    expect(seen(outcome)).toEqual({ code: "connect_refused", sent: false });
  });
});

describe("a connection reset", () => {
  test("on accept is a failure", async () => {
    const { outcome } = await exchangeWith({ onConnect: (socket) => socket.resetAndDestroy() });
    // The kernel decides whether the client sees the connection, or writes the request, before the
    // reset arrives.
    expect([
      { code: "connect_reset", sent: false },
      { code: "request_reset", sent: true },
      { code: "response_reset", sent: true },
    ]).toContainEqual(seen(outcome));
  });

  test("during the upload is a failure", async () => {
    const reset: Behavior = {
      onConnect: (socket) => socket.once("data", () => socket.resetAndDestroy()),
    };
    const { outcome } = await exchangeWith(reset, { body: bigBody });
    expect(seen(outcome)).toEqual({ code: "request_reset", sent: true });
  });

  test("instead of a response", async () => {
    const { outcome } = await exchangeWith({ onRequest: (socket) => socket.resetAndDestroy() });
    expect(seen(outcome)).toEqual({ code: "response_reset", sent: true });
  });

  test("after the headers is a failure that keeps the partial response", async () => {
    const reset: Behavior = {
      onRequest: (socket) => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok", () =>
          setTimeout(() => socket.resetAndDestroy(), 50),
        );
      },
    };
    const { outcome } = await exchangeWith(reset);
    expect(seen(outcome)).toEqual({ code: "body_reset", sent: true, status: 200 });
    expect(outcome).toMatchObject({
      partial: { headers: { "content-length": "20" }, body: new TextEncoder().encode("ok") },
    });
  });

  test("in a body without a length is a failure, because only the reset tells it from the end", async () => {
    const reset: Behavior = {
      onRequest: (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n\r\nok", () =>
          setTimeout(() => socket.resetAndDestroy(), 50),
        );
      },
    };
    const { outcome } = await exchangeWith(reset);
    expect(seen(outcome)).toEqual({ code: "body_reset", sent: true, status: 200 });
  });

  test("after a complete 200 is an answer", async () => {
    const reset: Behavior = {
      onRequest: (socket) =>
        socket.write(whole, () => setTimeout(() => socket.resetAndDestroy(), 50)),
    };
    const { outcome } = await exchangeWith(reset);
    expect(seen(outcome)).toEqual(ok);
  });
});

test("a body that is longer than its Content-Length is recorded up to that length", async () => {
  const { outcome } = await exchangeWith({
    onRequest: (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokay"),
  });
  expect(outcome).toMatchObject({ outcome: "answered", status: 200, truncated: false });
  expect(outcome.outcome === "answered" && Buffer.from(outcome.body).toString()).toBe("ok");
});

describe("a receiver that closes the connection", () => {
  test.each([
    ["instead of a response", "", { code: "response_closed", sent: true }],
    [
      "within the headers",
      "HTTP/1.1 200 OK\r\nContent-Le",
      { code: "response_closed", sent: true },
    ],
    [
      "within the body",
      "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok",
      { code: "body_closed", sent: true, status: 200 },
    ],
    [
      "within a chunk",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\nok",
      { code: "body_closed", sent: true, status: 200 },
    ],
    ["after a body without a length, which is its end", "HTTP/1.1 200 OK\r\n\r\nok", ok],
  ])("%s", async (_, said, expected) => {
    const { outcome } = await exchangeWith({ onRequest: (socket) => socket.end(said) });
    expect(seen(outcome)).toEqual(expected);
  });
});

describe("a receiver that answers early", () => {
  test("during the upload has its response read, and the connection is not reused", async () => {
    const early: Behavior = {
      onConnect: (socket) =>
        socket.once("data", () =>
          socket.pause().write("HTTP/1.1 413 Too Much\r\nContent-Length: 0\r\n\r\n"),
        ),
    };
    const there = await receiver(early);
    const http = client();
    const request = post(`http://127.0.0.1:${there.port}/hook`, { body: bigBody });
    expect(seen(await http.send(request))).toMatchObject({ status: 413 });
    expect(seen(await http.send(request))).toMatchObject({ status: 413 });
    expect(there.connections).toHaveLength(2);
  });
});

describe("a receiver that sends slowly", () => {
  test("byte by byte in the headers does not move the deadline", async () => {
    const { outcome } = await exchangeWith(
      {
        onRequest: (socket) => {
          socket.write("HTTP/1.1 200 OK\r\nX-Long: ");
          drip(socket, "a");
        },
      },
      { deadline_ms: shortMs },
    );
    expect(seen(outcome)).toEqual({ code: "response_timeout", sent: true });
  });

  const bodies: [what: string, header: string, piece: string][] = [
    ["a body of a length", "Content-Length: 1000000", "a"],
    ["a body in chunks", "Transfer-Encoding: chunked", "1\r\na\r\n"],
    ["a body without a length", "Connection: close", "a"],
  ];
  test.each(cases(bodies, ([what]) => what === "a body in chunks"))(
    "%s",
    async (_, header, piece) => {
      const { outcome } = await exchangeWith(
        {
          onRequest: (socket) => {
            socket.write(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n`);
            drip(socket, piece);
          },
        },
        { deadline_ms: shortMs },
      );
      expect(seen(outcome)).toEqual({ code: "body_timeout", sent: true, status: 200 });
    },
  );

  longTest("nothing more after a 200 without a length times out", async () => {
    const { outcome } = await exchangeWith(
      { onRequest: (socket) => socket.write("HTTP/1.1 200 OK\r\n\r\nok") },
      { deadline_ms: shortMs },
    );
    expect(seen(outcome)).toEqual({ code: "body_timeout", sent: true, status: 200 });
  });
});

describe("a receiver that sends without end", () => {
  test.each([
    ["chunks without end", "Transfer-Encoding: chunked", `1000\r\n${"a".repeat(4_096)}\r\n`],
    ["a body without end", "Connection: close", "a"],
    ["a body of a length", "Content-Length: 100000000000", "a"],
  ])("%s has its body cut at the limit, and the rest is not read", async (_, header, piece) => {
    const { there, outcome } = await exchangeWith({
      onRequest: (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n`);
        flood(socket, piece);
      },
    });
    expect(seen(outcome)).toEqual({ status: 200, body: "a".repeat(16_384), truncated: true });
    await expect.poll(() => there.connections[0]?.destroyed).toBe(true);
    expect(there.connections[0]?.bytesWritten).toBeLessThan(16 * 1024 * 1024);
  });

  test.each([
    ["interim responses", "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"],
    ["blank lines", "\r\n"],
  ])("%s", async (_, piece) => {
    const { outcome } = await exchangeWith({ onRequest: (socket) => flood(socket, piece) });
    expect(seen(outcome)).toEqual({ code: "response_too_long", sent: true });
  });

  test.each([
    ["one header", `X-Long: ${"a".repeat(20 * 1024)}\r\n`],
    ["thousands of headers", Array.from({ length: 5_000 }, (_, i) => `X-${i}: a\r\n`).join("")],
  ])("20 KiB of %s", async (_, headers) => {
    const { outcome } = await exchangeWith({
      onRequest: (socket) => socket.write(`HTTP/1.1 200 OK\r\n${headers}Content-Length: 0\r\n\r\n`),
    });
    expect(seen(outcome)).toEqual({ code: "response_headers_too_large", sent: true });
  });

  test("thousands of small headers within the limit is handled in bounded time", async () => {
    const headers = Array.from({ length: 2_500 }, (_, i) => `${i}:a\r\n`).join("");
    const { outcome } = await exchangeWith({
      onRequest: (socket) =>
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n${headers}\r\nok`),
    });
    expect(seen(outcome)).toEqual(ok);
    const kept =
      outcome.outcome === "answered" ? Object.entries(outcome.headers).flat().join("") : "";
    expect(kept.length).toBeGreaterThan(1_000);
    expect(kept.length).toBeLessThanOrEqual(16_384);
  });

  test.each([
    ["gzip", gzipSync(Buffer.alloc(50 * 1024 * 1024))],
    ["br", brotliCompressSync(Buffer.alloc(50 * 1024 * 1024))],
  ])("a %s bomb is not decompressed", async (encoding, bomb) => {
    const { there, outcome } = await exchangeWith({
      onRequest: (socket) => {
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${bomb.length}\r\n\r\n`,
        );
        socket.write(bomb);
      },
    });
    expect(there.heard()).toMatch(/^accept-encoding: identity\r$/im);
    const body = outcome.outcome === "answered" ? Buffer.from(outcome.body) : undefined;
    expect(body?.equals(bomb.subarray(0, 16_384))).toBe(true);
  });
});

describe("a receiver that sends unusual HTTP", () => {
  test.each([
    ["garbage", "SSH-2.0-OpenSSH_9.6\r\n", { code: "response_malformed", sent: true }],
    [
      "two lengths",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
      { code: "response_malformed", sent: true },
    ],
    [
      "one length twice",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
      { code: "response_malformed", sent: true },
    ],
    [
      "a length and chunks",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      { code: "response_malformed", sent: true },
    ],
    [
      "chunks that are none",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
      { code: "response_malformed", sent: true, status: 200 },
    ],
    [
      "status 101",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
      { code: "protocol_switched", sent: true },
    ],
    ["status 999", "HTTP/1.1 999 Whatever\r\nContent-Length: 2\r\n\r\nok", { ...ok, status: 999 }],
    [
      "a 204 with a body",
      "HTTP/1.1 204 No Content\r\n\r\nok",
      { status: 204, body: "", truncated: false },
    ],
    ["one 103 before its 200", `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${whole}`, ok],
    ["two responses at once", `${whole}HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n`, ok],
  ])("%s", async (_, said, expected) => {
    const { outcome } = await exchangeWith(
      { onRequest: (socket) => socket.write(said) },
      { deadline_ms: 5_000 },
    );
    expect(seen(outcome)).toEqual(expected);
  });

  test("joins repeated headers, whatever their names", async () => {
    const { outcome } = await exchangeWith({
      onRequest: (socket) =>
        socket.write(
          "HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nSET-COOKIE: b\r\n__proto__: c\r\nContent-Length: 0\r\n\r\n",
        ),
    });
    const headers = outcome.outcome === "answered" ? Object.entries(outcome.headers) : [];
    expect(headers).toEqual([
      ["set-cookie", "a, b"],
      ["__proto__", "c"],
      ["content-length", "0"],
    ]);
  });

  test.each([301, 302, 303, 307, 308])(
    "gets a %i redirect to a private address returned and not followed",
    async (status) => {
      const inside = await receiver({ onRequest: (socket) => socket.write(whole) });
      for (const location of [
        "http://169.254.169.254/latest/meta-data/",
        `http://127.0.0.1:${inside.port}/admin`,
      ]) {
        const { there, outcome } = await exchangeWith({
          onRequest: (socket) =>
            socket.write(
              `HTTP/1.1 ${status} Away\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`,
            ),
        });
        expect(outcome).toMatchObject({ outcome: "answered", status, headers: { location } });
        expect(there.requests()).toBe(1);
      }
      expect(inside.connections).toEqual([]);
    },
  );
});

describe("a request", () => {
  test("arrives unchanged, with its own headers, once", async () => {
    const { there, outcome } = await exchangeWith(
      { onRequest: (socket) => socket.write(whole) },
      { headers: { "webhook-id": "evt_1", "X-Own": "yes" } },
    );
    expect(seen(outcome)).toEqual(ok);
    const [head = "", body] = there.heard().split("\r\n\r\n");
    expect(head).toMatch(/^POST \/hook HTTP\/1\.1\r\n/);
    expect(head.toLowerCase().split("\r\n").slice(1).toSorted()).toEqual([
      "accept-encoding: identity",
      "connection: keep-alive",
      "content-length: 23",
      `host: 127.0.0.1:${there.port}`,
      "webhook-id: evt_1",
      "x-own: yes",
    ]);
    expect(body).toBe('{"type":"message.sent"}');
  });

  test("can have another method, no body, and a longer response", async () => {
    const long = "a".repeat(100_000);
    const { there, outcome } = await exchangeWith(
      {
        onRequest: (socket) =>
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${long.length}\r\n\r\n${long}`),
      },
      { method: "GET", body: null, max_body_bytes: 1_000_000 },
    );
    expect(seen(outcome)).toEqual({ status: 200, body: long, truncated: false });
    expect(there.heard()).toMatch(/^GET \/hook HTTP\/1\.1\r\n/);
  });

  test("takes little memory for a response in chunks of one byte", async () => {
    const chunks = "1\r\na\r\n".repeat(50_000);
    const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    const there = await receiver({ onRequest: (socket) => socket.write(head + chunks) });
    const [http, giveUp] = [client(), new AbortController()];
    const before = heapInUse();
    const sent = http.send(
      post(`http://127.0.0.1:${there.port}/`, {
        max_body_bytes: 1_000_000,
        signal: giveUp.signal,
      }),
    );
    await expect.poll(() => there.connections[0]?.bytesWritten).toBe(head.length + chunks.length);
    // The bytes are in the kernel. The client reads up to 64 KiB in each round of the event loop.
    for (let round = 0; round < 100; round++) await setImmediate();
    const used = heapInUse() - before;
    giveUp.abort();
    const outcome = await sent;
    const partial = outcome.outcome === "failed" ? outcome.partial : outcome;
    expect(partial?.body).toHaveLength(50_000);
    expect(used).toBeLessThan(3_000_000);
  });

  test("with invalid headers fails with its own code", async () => {
    const { there, outcome } = await exchangeWith(
      { onRequest: (socket) => socket.write(whole) },
      { headers: { "x-own": "a\r\nb: c" } },
    );
    expect(seen(outcome)).toEqual({ code: "request_invalid", sent: false });
    expect(there.connections).toEqual([]);
  });

  test("is aborted by its caller's signal", async () => {
    const giveUp = new AbortController();
    const there = await receiver({ onRequest: () => giveUp.abort() });
    const http = client();
    const request = post(`http://127.0.0.1:${there.port}/`, { signal: giveUp.signal });
    expect(seen(await http.send(request))).toEqual({ code: "aborted", sent: true });
    expect(seen(await http.send(request))).toEqual({ code: "aborted", sent: false });
    expect(there.requests()).toBe(1);
  });
});
