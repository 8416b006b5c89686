import type { ApiRequest } from "../../../../src/api/index.ts";
import { headersByName, TidingsError } from "../../../../src/kernel/index.ts";
import { holds, Mismatch, same } from "../checks.ts";
import { text, within, type MountChecks } from "./fixture.ts";
import { headOf, type RawRequest } from "./raw-http.ts";

const targets = [
  "/v1/notes/%6eote%2F1?tag=a%20b&tag=%ff&empty=",
  "/v1/notes",
  "/v1",
  "/v1?a?b=c",
  "/v1/notes/caf%C3%A9/?x",
];

const bodyTypes: readonly (readonly [type: string, body: string | Uint8Array])[] = [
  ["application/json", '{ "a" : 1 }'],
  ["application/x-www-form-urlencoded", "From=%2B1555&Body=caf%C3%A9+%F0%9F%91%8B&Empty="],
  ["text/plain", "Grüße\r\n"],
  ["application/octet-stream", Uint8Array.from({ length: 256 }, (_, byte) => byte)],
];

/** A POST with a body, once with its length and once in chunks. */
function* posts(type: string, body: string | Uint8Array): Generator<RawRequest> {
  const path = "/v1/notes";
  const bytes = Buffer.from(body);
  yield { method: "POST", path, headers: [["Content-Type", type]], body };
  const chunks = [bytes.subarray(0, 5), bytes.subarray(5)].flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from("\r\n"),
  ]);
  yield {
    method: "POST",
    path,
    headers: [
      ["Content-Type", type],
      ["Transfer-Encoding", "chunked"],
    ],
    body: Buffer.concat([...chunks, Buffer.from("0\r\n\r\n")]),
  };
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

async function allOf(request: ApiRequest): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The code of the error that reading a body fails with. */
async function codeOf(reading: Promise<unknown>): Promise<string> {
  try {
    await reading;
  } catch (error) {
    if (error instanceof TidingsError) return error.code;
    throw error;
  }
  return "none";
}

const maxBytes = 1_000_000;
/** Body parsers leave bodies of this type alone. */
const binary = ["Content-Type", "application/octet-stream"] as const;

export const requestChecks: MountChecks = {
  "have the method, the path and the query that the client sent": {
    needs: [],
    async run(fixture) {
      const mounted = await fixture.mount();
      const methods = ["GET", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"];
      for (const [index, target] of [...targets, ...methods.map(() => "/v1/notes")].entries()) {
        const method = methods[index - targets.length] ?? "GET";
        await mounted.ask({ method, path: target });
        const request = await mounted.request(index + 1);
        const mark = target.indexOf("?");
        same(
          [request.method, request.url, request.path, request.query],
          [
            method,
            mounted.prefix + target,
            mark === -1 ? target : target.slice(0, mark),
            mark === -1 ? "" : target.slice(mark + 1),
          ],
          "method, URL, path and query",
        );
      }
    },
  },
  "have all headers, also repeated and long ones": {
    needs: [],
    async run(fixture) {
      const mounted = await fixture.mount();
      const long = "x".repeat(6_000);
      const headers = [
        ["X-Repeated", "a"],
        ["Idempotency-Key", "order 17"],
        ["x-repeated", "b"],
        ["X-Long", long],
        ["X-Empty", ""],
      ] as const;
      await mounted.ask({ headers });
      const got = headersByName((await mounted.request()).headers);
      same(
        ["x-repeated", "idempotency-key", "x-long", "x-empty"].map((name) => got[name]),
        ["a, b", "order 17", long, ""],
        "the headers by name",
      );
    },
  },
  "have the address of the connection, whatever their headers say": {
    needs: ["address"],
    async run(fixture) {
      let address: string | undefined;
      const mounted = await fixture.mount((request) => {
        address = request.remoteAddress;
        return text("ok");
      });
      const headers = [
        ["X-Forwarded-For", "203.0.113.7"],
        ["Forwarded", "for=203.0.113.7"],
        ["X-Real-IP", "203.0.113.7"],
      ] as const;
      await mounted.ask({ headers });
      holds(
        address !== undefined && /^(?:(?:::ffff:)?127\.|::1$)/.test(address),
        "a `remoteAddress` of this machine",
        address,
      );
    },
  },
  "have the request of the framework as `original`": {
    needs: [],
    async run(fixture) {
      const mounted = await fixture.mount();
      await mounted.ask();
      const { original } = await mounted.request();
      holds(typeof original === "object" && original !== null, "an object", original);
    },
  },
  "have the bytes of their bodies": {
    needs: ["raw_bytes"],
    async run(fixture) {
      let got: Uint8Array | undefined;
      const mounted = await fixture.mount(async (request) => {
        got = (await request.body(maxBytes)).bytes;
        return text("ok");
      });
      for (const [type, body] of bodyTypes) {
        for (const post of posts(type, body)) {
          await mounted.ask(post);
          same(got && hex(got), hex(Buffer.from(body)), `the bytes of a body of ${type}`);
        }
      }
      await mounted.ask();
      same(got?.length, 0, "length of the body of a GET");
    },
  },
  "have the values of JSON bodies": {
    needs: [],
    async run(fixture) {
      let got: unknown;
      const mounted = await fixture.mount(async (request) => {
        const body = await request.body(maxBytes);
        got = body.kind === "parsed" ? body.value : JSON.parse(Buffer.from(body.bytes).toString());
        return text("ok");
      });
      const value = { text: "Grüße 👋", list: [1, null, { deep: true }] };
      for (const post of posts("application/json", JSON.stringify(value))) {
        await mounted.ask(post);
        same(got, value, "the JSON value");
      }
    },
  },
  "have bodies that can be read as a stream": {
    needs: [],
    async run(fixture) {
      let got: Uint8Array | undefined;
      const mounted = await fixture.mount(async (request) => {
        got = await allOf(request);
        return text("ok");
      });
      const line = `${JSON.stringify({ text: "x".repeat(1_000) })}\n`;
      for (const post of posts("application/x-ndjson", line.repeat(200))) {
        await mounted.ask(post);
        same(got?.length, line.length * 200, "number of bytes");
      }
    },
  },
  "have bodies up to the limit only": {
    needs: [],
    async run(fixture) {
      let code = "";
      const mounted = await fixture.mount(async (request) => {
        code = await codeOf(request.body(1_000));
        return text("ok");
      });
      for (const [size, expected] of [
        [1_000, "none"],
        [1_001, "body_too_large"],
        [300_000, "body_too_large"],
      ] as const) {
        for (const post of posts(binary[1], "x".repeat(size))) {
          const { status } = await mounted.ask(post);
          same([status, code], [200, expected], `status, and error of a body of ${size} bytes`);
        }
      }
    },
  },
  "can be answered before their bodies end": {
    needs: [],
    async run(fixture) {
      const mounted = await fixture.mount(async (request) => ({
        ...text(await codeOf(request.body(1_000))),
        status: 413,
      }));
      const path = `${mounted.prefix}/v1/notes`;
      const headers = [binary, ["Transfer-Encoding", "chunked"]] as const;
      const client = mounted.connect(headOf({ method: "POST", path, headers }));
      const chunk = `1000\r\n${"x".repeat(0x1000)}\r\n`;
      const pump = setInterval(() => client.socket.write(chunk), 1);
      try {
        await client.waitFor("HTTP/1.1 413 ");
      } finally {
        clearInterval(pump);
      }
    },
  },
  "fail if the client leaves before their bodies end": {
    needs: [],
    async run(fixture) {
      const length = ["Content-Length", "100"] as const;
      const chunked = ["Transfer-Encoding", "chunked"] as const;
      for (const [how, framing, sent] of [
        ["body", length, "x".repeat(50)],
        ["body", chunked, `32\r\n${"x".repeat(50)}\r\n`],
        ["chunks", length, "x".repeat(50)],
        ["chunks", length, ""],
      ] as const) {
        const read = Promise.withResolvers<string>();
        const mounted = await fixture.mount(async (request) => {
          const reading = how === "body" ? request.body(maxBytes) : allOf(request);
          codeOf(reading).then(read.resolve, read.reject);
          await reading.catch(() => {});
          return text("ok");
        });
        const path = `${mounted.prefix}/v1/notes`;
        const client = mounted.connect(
          headOf({ method: "POST", path, headers: [binary, framing] }),
          sent,
        );
        await mounted.request();
        client.destroy();
        const code = await within(read.promise, `an error of \`${how}\``);
        same(code, "malformed_request", `the error of \`${how}\``);
      }
    },
  },
  "abort their signal when the client leaves": {
    needs: [],
    async run(fixture) {
      const mounted = await fixture.mount(async ({ signal }) => {
        if (signal.aborted) throw new Mismatch("a signal that is not aborted", "an aborted one");
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return text("too late");
      });
      const client = mounted.connect(headOf({ path: `${mounted.prefix}/v1/notes` }));
      const { signal } = await mounted.request();
      same(signal.aborted, false, "`signal.aborted` while the client waits");
      client.destroy();
      const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
      await within(aborted, "an abort of the signal");
    },
  },
};
