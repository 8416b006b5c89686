import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ask,
  parseAnswers,
  type RawAnswer,
} from "../../../adapters/testing/conformance/mount/raw-http.ts";
import { reportLines, UnreadReports } from "../../../src/api/responses/report-lines.ts";
import type { ImportReport } from "../../../src/contacts/import/import-types.ts";
import { call, jsonOf } from "../../api/call.ts";
import { mountings, serve, type Running } from "../../api/servers.ts";
import { world, type World } from "../../api/world.ts";
import { cases, isLong } from "../../support/runs.ts";

const path = "/v1/contacts/import";
const type = ["Content-Type", "application/x-ndjson"] as const;
const phone = (i: number): string => `+1500${String(i).padStart(7, "0")}`;
const lines = (rows: readonly unknown[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join("");

interface Told {
  readonly reports: readonly ImportReport[];
  /** The last line. */
  readonly end: unknown;
}

function told({ body }: Pick<RawAnswer, "body">): Told {
  const all = body
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as ImportReport);
  return { reports: all.slice(0, -1), end: all.at(-1) };
}

let there: World;
let key: string;
beforeAll(async () => {
  there = world({ bodyBytes: 10_000, importRows: 3_000 });
  key = (await there.tenant("sandbox")).secret;
});
afterAll(() => there.engine.stop());

const bearer = (): readonly [string, string] => ["Authorization", `Bearer ${key}`];
const post = (
  port: number,
  prefix: string,
  body: string | Uint8Array,
  ...headers: (readonly [string, string])[]
) =>
  ask(port, {
    method: "POST",
    path: `${prefix}${path}`,
    headers: [bearer(), type, ...headers],
    body,
  });

/** Each framework once. */
const few = new Set(["node:http", "Express under a path after express.json()", "Koa", "fetch"]);

describe.each(cases(mountings, ({ name }) => few.has(name)))("lines over $name", (mounting) => {
  const { prefix } = mounting;

  it("get one report line each, with errors for unreadable lines and totals at the end", async () => {
    await using running = await serve(mounting, there.engine);
    key = (await there.tenant("sandbox")).secret;
    const body = Buffer.concat([
      Buffer.from(`\n{"phone":"${phone(1)}","name":"Zo\u00eb \u2028 <b>"}\r\n   \n{"phone":\n`),
      Buffer.from([0xff, 0xfe, 10]),
      Buffer.from(
        `{"phone":"${phone(2)}","name":"${"x".repeat(10_000)}"}\n[[${"[".repeat(50)}${"]".repeat(50)}]]\n`,
      ),
      Buffer.from(`{"phone":"${phone(1)}"}\n{"phone":"1"}\n{"phone":"${phone(2)}"}`),
    ]);
    const answer = await post(running.port, prefix, body);
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "application/x-ndjson"]);
    const { reports, end } = told(answer);
    expect(reports.map(({ index, status, errors }) => [index, status, errors[0]?.code])).toEqual([
      [0, "created", undefined],
      [1, "failed", "malformed_json"],
      [2, "failed", "malformed_json"],
      [3, "failed", "body_too_large"],
      [4, "failed", "too_deep"],
      [5, "unchanged", undefined],
      [6, "failed", "invalid_format"],
      [7, "created", undefined],
    ]);
    expect(end).toEqual({ result: { created: 2, updated: 0, unchanged: 1, failed: 5 } });
    expect(answer.body).not.toContain("xxx");
    const found = await call(there.engine.api, { path: "/v1/contacts/search?q=zoe", key });
    expect(jsonOf(found)).toMatchObject({
      data: [{ name: "Zo\u00eb \u2028 <b>", phone: phone(1) }],
    });
  });

  it("are all imported if the client reads only after sending everything", async () => {
    await using running = await serve(mounting, there.engine);
    key = (await there.tenant("sandbox")).secret;
    // Here the reports fill the buffers, since many errors make them long. The blank lines after
    // these rows fill the buffers of the other direction, unless the server reads on.
    const isFull = mounting.name === "node:http" || (isLong && mounting.name === "fetch");
    const attributes = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`town${i}`.padEnd(60, "-"), i]),
    );
    const wrong = { phone: "1", attributes };
    const [created, failed] = [200, isFull ? 1_600 : 100];
    const rows = Array.from({ length: created }, (_, i) => ({ phone: phone(i) }));
    const blank = isFull ? `${" ".repeat(9_999)}\n`.repeat(1_200) : "";
    const reported = lines([...rows, ...Array.from({ length: failed }, () => wrong)]);
    const body = reported + blank + lines(rows);
    const count = created + failed + rows.length;
    const socket = await sendBeforeReading(running, prefix, body);
    const answer = await readAll(socket);
    const { reports, end } = told(answer);
    expect(reports.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, i) => i));
    expect(answer.body.length > 4_500_000).toBe(isFull);
    expect(end).toEqual({ result: { created, updated: 0, unchanged: created, failed } });
  });

  it("end with a problem if there are too many, after the whole body was read", async () => {
    const few = world({ importRows: 100 });
    await using running = await serve(mounting, few.engine);
    key = (await few.tenant("sandbox")).secret;
    // More than the buffers between client and server hold.
    const body = `{"phone":"${phone(1)}"}\n`.repeat(1_000_000);
    const { reports, end } = told(await readAll(await sendBeforeReading(running, prefix, body)));
    expect(reports.length).toBeLessThanOrEqual(100);
    expect(end).toMatchObject({ error: { code: "body_too_large", status: 413 } });
    const blank = "\n".repeat(1_000_000);
    expect(told(await readAll(await sendBeforeReading(running, prefix, blank)))).toMatchObject({
      reports: [],
      end: { error: { code: "body_too_large", status: 413 } },
    });
    const spaced = `${JSON.stringify({ phone: phone(1) })}\n \r\n`.repeat(100);
    expect(told(await post(running.port, prefix, spaced)).end).toMatchObject({
      result: { failed: 0 },
    });
    expect(few.errors).toEqual([]);
    await few.engine.stop();
  });

  it("that are cut off keep the contacts before, and the server keeps working", async () => {
    await using running = await serve(mounting, there.engine);
    const tenant = await there.tenant("sandbox");
    key = tenant.secret;
    const { contacts } = there.engine.account(tenant.scope.account_id);
    const before = there.errors.length;
    const half = `${lines(Array.from({ length: 200 }, (_, i) => ({ phone: phone(i) })))}{"phone":"+1500`;
    const socket = open(running, prefix, half.length + 1_000);
    socket.write(half);
    await once(socket, "data");
    await expect.poll(async () => (await contacts.list({ limit: 100 })).data.length).toBe(100);
    socket.destroy();
    const again = await post(
      running.port,
      prefix,
      lines([{ phone: phone(0) }, { phone: phone(199) }]),
    );
    expect(told(again).reports[0]?.status).toBe("unchanged");
    expect(there.errors.length).toBe(before);
  });
});

/** Sends the request's head and returns the socket. */
function open({ port }: Running, prefix: string, length: number): Socket {
  const socket = connect({ port, host: "127.0.0.1" });
  const [auth, secret] = bearer();
  socket.write(
    `POST ${prefix}${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${auth}: ${secret}\r\n` +
      `Content-Type: application/x-ndjson\r\nContent-Length: ${length}\r\n\r\n`,
  );
  return socket;
}

/** Sends all of a request before it reads a byte. */
async function sendBeforeReading(running: Running, prefix: string, body: string): Promise<Socket> {
  const socket = open(running, prefix, Buffer.byteLength(body));
  socket.pause();
  await new Promise<void>((resolve) => socket.write(body, () => resolve()));
  return socket;
}

async function readAll(socket: Socket): Promise<RawAnswer> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.resume();
  await once(socket, "close");
  const [answer] = parseAnswers(Buffer.concat(chunks));
  return answer ?? expect.fail("no answer");
}

describe("unread reports", () => {
  /** The largest reports: each of 100 fields is invalid. */
  const large = { errors: Array.from({ length: 100 }, () => "x".repeat(100)) };
  const options = (unread = new UnreadReports()) =>
    ({ request_id: "req_1", failed: () => {}, unread }) as const;

  it("are buffered up to a limit; then the import continues as they are read, in order", async () => {
    let made = 0;
    const count = 6_000;
    const work = async function* (): AsyncGenerator<object, string> {
      for (; made < count; made++) yield { index: made, ...large };
      return "all";
    };
    const lines = reportLines(work(), options());
    const chunks = [(await lines.next()).value ?? ""];
    for (let last = -1; last !== made;) {
      last = made;
      for (let i = 0; i < 10_000; i++) await Promise.resolve();
    }
    expect(made).toBeLessThan(5_000);
    let seen = 0;
    for (const chunk of chunks) seen += chunk.split("\n").length - 1;
    for await (const chunk of lines) seen += chunk.split("\n").length - 1;
    expect([made, seen]).toEqual([count, count + 1]);
  });

  /** Three imports of `rows` rows each, and how many reports each has made. */
  function threeImports(rows: number) {
    const unread = new UnreadReports();
    const counts = [{ made: 0 }, { made: 0 }, { made: 0 }];
    const imports = counts.map((count) => {
      const work = async function* (): AsyncGenerator<object, string> {
        for (; count.made < rows; count.made++) yield large;
        return "all";
      };
      return reportLines(work(), options(unread));
    });
    const settled = async (): Promise<number> => {
      const total = (): number => counts.reduce((sum, { made }) => sum + made, 0);
      for (let last = -1; last !== total();) {
        last = total();
        for (let i = 0; i < 10_000; i++) await Promise.resolve();
      }
      return total();
    };
    return { unread, counts, imports, settled };
  }

  it("of all imports together have that limit, and others continue when one is read", async () => {
    const { unread, counts, imports, settled } = threeImports(3_000);
    for (const each of imports) await each.next();
    const before = await settled();
    expect(before).toBeLessThan(8_000);
    await imports[0]?.return(undefined);
    expect(await settled()).toBeGreaterThan(before);
    for (const each of imports.slice(1)) for await (const _ of each);
    expect(counts.slice(1)).toEqual([{ made: 3_000 }, { made: 3_000 }]);
    expect(unread.isFullFor(60 * 1_024 * 1_024), "Nothing waits.").toBe(false);
  });

  it("of imports that nobody reads leave room for those of an import that begins later", async () => {
    const { counts, imports, settled } = threeImports(10_000);
    for (const each of imports) {
      await each.next();
      await settled();
    }
    expect(counts.at(-1)?.made).toBeGreaterThan(500);
  });

  it("count until the client reads them, so that no slow client holds more than the limit", async () => {
    const { imports, settled } = threeImports(10_000);
    const [slow] = imports;
    await slow?.next();
    const before = await settled();
    await slow?.next();
    expect((await settled()) - before).toBeLessThan(50);
  });

  it("block nothing after their reader has disconnected", async () => {
    let isReturned = false;
    const work = async function* (): AsyncGenerator<object, string> {
      try {
        for (;;) yield large;
      } finally {
        isReturned = true;
      }
    };
    const lines = reportLines(work(), options());
    await lines.next();
    await new Promise((resolve) => setImmediate(resolve));
    await lines.return(undefined);
    await expect.poll(() => isReturned).toBe(true);
  });
});

describe("an import as one body", () => {
  it("reports on each contact and replays its response by idempotency key", async () => {
    const { secret } = await there.tenant("sandbox");
    const send = (contacts: readonly unknown[], idempotency: string) =>
      call(there.engine.api, {
        method: "POST",
        path,
        key: secret,
        headers: ["Idempotency-Key", idempotency],
        body: { contacts },
      });
    const first = await send([{ phone: phone(1) }, { phone: "x" }], "k1");
    expect(jsonOf(first)).toMatchObject({
      data: [
        { index: 0, status: "created" },
        { index: 1, status: "failed", errors: [{ pointer: "/phone" }] },
      ],
      created: 1,
      failed: 1,
    });
    const again = await send([{ phone: phone(1) }, { phone: "x" }], "k1");
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect(jsonOf(await send([{ phone: phone(1) }], "k2"))).toMatchObject({
      data: [{ status: "unchanged" }],
    });
    expect(jsonOf(await send([{ phone: phone(2) }], "k1"))).toMatchObject({
      code: "idempotency_key_reused",
    });
    expect(jsonOf(await send([], "k3"))).toMatchObject({ code: "validation_failed" });
  });

  it("names both media types that it takes, and others only their own", async () => {
    const { secret } = await there.tenant("sandbox");
    const detail = async (target: string): Promise<unknown> => {
      const csv = { method: "POST", path: target, headers: ["Content-Type", "text/csv"] };
      return jsonOf(await call(there.engine.api, { ...csv, key: secret }))["detail"];
    };
    expect(await detail(path)).toBe(
      "Send the body as `Content-Type: application/json` or `application/x-ndjson`, in UTF-8.",
    );
    expect(await detail("/v1/messages")).toBe(
      "Send the body as `Content-Type: application/json`, in UTF-8.",
    );
  });

  it("as lines rejects idempotency keys, queries and encodings before it starts", async () => {
    const { secret } = await there.tenant("sandbox");
    const send = (target: string, ...headers: string[]) =>
      call(there.engine.api, {
        method: "POST",
        path: target,
        key: secret,
        headers: ["Content-Type", "application/x-ndjson", ...headers],
      });
    expect(jsonOf(await send(path, "Idempotency-Key", "k"))).toMatchObject({
      code: "malformed_request",
    });
    expect(jsonOf(await send(`${path}?a=1`))).toMatchObject({ code: "validation_failed" });
    expect(jsonOf(await send(path, "Content-Encoding", "gzip"))).toMatchObject({
      code: "unsupported_media_type",
    });
  });
});
