import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, type RawAnswer } from "../../adapters/testing/conformance/mount/raw-http.ts";
import { cases } from "./cases.ts";
import { notes, type Notes } from "./notes-api.ts";
import { mountings, serve, type Mounting, type Running } from "./servers.ts";

const own = new Set([
  "request-id",
  "date",
  "connection",
  "keep-alive",
  "x-powered-by",
  "content-length",
  "transfer-encoding",
]);

/**
 * The parts of a response that must be equal on all servers. Only a 404 quotes the client's path.
 */
function comparable({ status, headers, body }: RawAnswer, prefix = ""): object {
  return {
    status,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !own.has(name))),
    body: body
      .replace(/"request_id":"[^"]*"/, '"request_id":"req"')
      .replace(`There is no endpoint GET ${prefix}/`, "There is no endpoint GET /"),
  };
}

const small = { bodyBytes: 65_536, batchBodyBytes: 90_000 };

async function run(
  engine: Notes,
  { port }: Running,
  { prefix, before }: Mounting,
): Promise<Map<string, RawAnswer>> {
  for (const title of ["first", "second"]) {
    engine.rows.set(`note_${engine.rows.size + 1}`, {
      id: `note_${engine.rows.size + 1}`,
      title,
      stars: 0,
      labels: {},
    });
  }
  const answers = new Map<string, RawAnswer>();
  for (const { name, request, taken = [] } of cases) {
    if (taken.includes(before)) continue;
    answers.set(name, await ask(port, { ...request, path: `${prefix}${request.path}` }));
  }
  return answers;
}

let reference: Map<string, RawAnswer>;
beforeAll(async () => {
  const engine = notes(small);
  const plain = mountings[0] ?? expect.fail();
  await using running = await serve(plain, engine);
  reference = await run(engine, running, plain);
  expect(engine.callbacks).toEqual([
    expect.objectContaining({
      url: "/v1/transports/twilio/callbacks?x=1",
      body: "A=1&B=\u00e9",
      headers: expect.objectContaining({ "x-sig": "1" }) as unknown,
    }),
  ]);
  expect(engine.errors).toHaveLength(1);
});

test.each(cases)(
  "$name: $status $code",
  ({ name, request, status, code, errors, headers = {}, body }) => {
    const answer = reference.get(name) ?? expect.fail();
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject(headers);
    expect(answer.headers["request-id"]).toMatch(/^req_[0-9A-Z]{26}$/);
    if (body !== undefined) expect(JSON.parse(answer.body)).toEqual(body);
    if (status < 400) return;
    expect(answer.headers["content-type"]).toBe("application/problem+json");
    if (request.method === "HEAD") return;
    const problem: unknown = JSON.parse(answer.body);
    expect(problem).toEqual({
      type: expect.stringMatching(/^urn:tidings:error:\w+$/) as unknown,
      title: expect.any(String) as unknown,
      status,
      code: code ?? (expect.any(String) as unknown),
      detail: expect.any(String) as unknown,
      request_id:
        answer.headers["idempotent-replayed"] === undefined
          ? answer.headers["request-id"]
          : (expect.stringMatching(/^req_/) as unknown),
      retryable: expect.any(Boolean) as unknown,
      errors: errors ?? (expect.any(Array) as unknown),
    });
    expect(answer.body).not.toMatch(/hunter2|secret|tdg_test|\.ts/);
  },
);

describe.each(mountings)("$name", (mounting) => {
  const { prefix } = mounting;

  test("answers with the same bytes as node:http", async () => {
    const engine = notes(small);
    await using running = await serve(mounting, engine);
    const answers = await run(engine, running, mounting);
    for (const [each, answer] of answers) {
      expect({ each, ...comparable(answer, prefix) }).toEqual({
        each,
        ...comparable(reference.get(each) ?? expect.fail()),
      });
    }
    expect(engine.callbacks[0]?.url).toBe(`${prefix}/v1/transports/twilio/callbacks?x=1`);
  });

  test("writes a document once for its path, and sends it only to clients without it", async () => {
    const engine = notes();
    await using running = await serve(mounting, engine);
    const fetchGuide = async (tag?: string): Promise<RawAnswer> =>
      ask(running.port, {
        path: `${prefix}/v1/guide.json`,
        headers: tag === undefined ? [] : [["If-None-Match", tag]],
      });
    const first = await fetchGuide();
    expect(JSON.parse(first.body)).toEqual({ mount: prefix });
    expect(first.headers).toMatchObject({
      "content-type": "application/json",
      "cache-control": "no-cache",
      etag: expect.stringMatching(/^"[\w-]{43}"$/) as unknown,
    });
    const { etag = "" } = first.headers;
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const { status, headers, body } = await fetchGuide(known);
      expect([known, status, headers["etag"], body]).toEqual([known, 304, etag, ""]);
    }
    for (const unknown of ['"other"', etag.slice(1, -1), ""]) {
      expect([unknown, (await fetchGuide(unknown)).body]).toEqual([unknown, first.body]);
    }
    expect(engine.guides).toEqual([prefix]);
  });
});

afterAll(() => {
  expect(Object.keys(Object.prototype)).toEqual([]);
});
