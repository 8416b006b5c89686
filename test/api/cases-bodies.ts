import { expect } from "vitest";
import { all, json, post, type Case } from "./case.ts";

const deep = (levels: number): string =>
  `{"title":"a","labels":${"[".repeat(levels)}${"]".repeat(levels)}}`;
const unknownField = (pointer: string): unknown =>
  expect.objectContaining({ pointer, code: "unknown_field" });

export const bodyCases: readonly Case[] = [
  // Parse
  {
    name: "an array for a body",
    request: post("[]"),
    status: 422,
    code: "validation_failed",
    errors: [{ pointer: "", code: "invalid_type", message: "must be a JSON object" }],
  },
  {
    name: "a scalar for a body",
    request: post("7"),
    status: 422,
    code: "validation_failed",
    taken: ["koa-bodyparser"],
  },
  {
    name: "malformed JSON",
    request: post('{"title":"secret'),
    status: 400,
    code: "malformed_json",
    taken: ["koa-bodyparser"],
  },
  {
    name: "a body that is not UTF-8",
    request: post(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
    status: 400,
    code: "malformed_json",
    taken: ["koa-bodyparser", "express.json"],
  },
  {
    name: "no body where one is needed",
    request: post(""),
    status: 422,
    code: "validation_failed",
    errors: [{ pointer: "/title", code: "required", message: "Required. It must be a string." }],
  },
  {
    name: "all that is wrong at once",
    request: post(
      '{"title":"","stars":9,"labels":{"a/b~c":1},"link":{"url":1},"more":1,"__proto__":{"x":1},"constructor":1}',
    ),
    status: 422,
    code: "validation_failed",
    errors: [unknownField("/__proto__")],
    taken: ["koa-bodyparser"],
  },
  {
    name: "wrong fields",
    request: post(
      '{"title":"","stars":9,"labels":{"a/b~c":1},"link":{"url":1},"more":1,"constructor":1}',
    ),
    status: 422,
    code: "validation_failed",
    errors: [
      expect.objectContaining({ pointer: "/title", code: "too_small" }),
      expect.objectContaining({ pointer: "/stars", code: "too_big" }),
      expect.objectContaining({ pointer: "/labels/a~1b~0c", code: "invalid_type" }),
      expect.objectContaining({ pointer: "/link/url", code: "invalid_type" }),
      unknownField("/more"),
      unknownField("/constructor"),
    ],
  },
  {
    name: "__proto__ deep in a map",
    request: post('{"title":"a","labels":{"__proto__":"x"}}'),
    status: 422,
    errors: [unknownField("/labels/__proto__")],
    taken: ["koa-bodyparser"],
  },
  {
    name: "a body that repeats the path's id",
    request: { ...post('{"id":"note_2","title":"a"}'), method: "PATCH", path: "/v1/notes/note_1" },
    status: 422,
    errors: [unknownField("/id")],
  },
  {
    name: "a wrong path parameter",
    request: { ...post('{"title":""}'), method: "PATCH", path: `/v1/notes/${"x".repeat(41)}` },
    status: 422,
    errors: [
      expect.objectContaining({ parameter: "id", code: "too_big" }),
      expect.objectContaining({ pointer: "/title", code: "too_small" }),
    ],
  },
  {
    name: "a query on a command",
    request: { ...post('{"title":"a"}'), path: "/v1/notes?dry=1" },
    status: 422,
    errors: [expect.objectContaining({ parameter: "dry", code: "unknown_field" })],
  },
  {
    name: "wrong and unknown parameters",
    request: { path: "/v1/notes?limit=0&__proto__=1&id=%41", headers: [all] },
    status: 422,
    errors: [
      expect.objectContaining({ parameter: "limit", code: "too_small" }),
      expect.objectContaining({ parameter: "__proto__", code: "unknown_field" }),
      expect.objectContaining({ parameter: "id", code: "unknown_field" }),
    ],
  },
  {
    name: "a parameter that is given twice",
    request: { path: "/v1/notes?limit=1&limit=2", headers: [all] },
    status: 422,
    errors: [
      {
        parameter: "limit",
        code: "invalid_type",
        message: "must be given once, got it 2 times",
      },
    ],
  },
  {
    name: "an encoded query",
    request: { path: "/v1/notes?tag=a+b%26%C3%A9", headers: [all] },
    status: 200,
    body: expect.objectContaining({ tag: "a b&é" }),
  },
  {
    name: "a list in a query",
    request: { path: "/v1/notes?tag=a&tag=b", headers: [all] },
    status: 200,
    body: expect.objectContaining({ tag: ["a", "b"] }),
  },
  {
    name: "a query that is not UTF-8",
    request: { path: "/v1/notes?tag=%c3", headers: [all] },
    status: 400,
    code: "malformed_request",
  },
  {
    name: "a bad cursor",
    request: { path: "/v1/notes?cursor=zzz", headers: [all] },
    status: 400,
    code: "invalid_cursor",
  },
  {
    name: "depth within the limit",
    request: post(deep(31)),
    status: 422,
    errors: [expect.objectContaining({ pointer: "/labels", code: "invalid_type" })],
  },
  {
    name: "depth beyond the limit",
    request: post(deep(32)),
    status: 422,
    errors: [expect.objectContaining({ code: "too_deep" })],
  },
  {
    name: "a body of brackets",
    request: post("[".repeat(60_000)),
    status: 400,
    code: "malformed_json",
    taken: ["koa-bodyparser"],
  },
  {
    name: "a body of matched brackets",
    request: post(`${"[".repeat(30_000)}${"]".repeat(30_000)}`),
    status: 422,
    code: "validation_failed",
  },
  {
    name: "a body over the limit",
    request: post(`{"title":"${"x".repeat(70_000)}"}`),
    status: 413,
    code: "body_too_large",
  },
  {
    name: "a chunked body over the limit",
    request: post(`11800\r\n${"x".repeat(0x11800)}\r\n0\r\n\r\n`, ["Transfer-Encoding", "chunked"]),
    status: 413,
    code: "body_too_large",
    taken: ["koa-bodyparser"],
  },
  {
    name: "a chunked body",
    request: post('B\r\n{"title":"c\r\n2\r\n"}\r\n0\r\n\r\n', ["Transfer-Encoding", "chunked"]),
    status: 201,
    body: expect.objectContaining({ title: "c" }),
  },
  {
    name: "a batch over the limit of other bodies",
    request: { ...post(`{"notes":["${"x".repeat(70_000)}"]}`), path: "/v1/notes/batch" },
    status: 200,
    body: { count: 1 },
  },
  ...[
    "text/plain",
    "application/xml",
    "application/json; charset=latin1",
    "application/json, application/json",
    "application/jsonp",
    "application/x-ndjson",
    "json",
    "",
  ].map((type): Case => ({
    name: `content type "${type}"`,
    request: { ...post('{"title":"a"}'), headers: [all, ["Content-Type", type]] },
    status: 415,
    code: "unsupported_media_type",
  })),
  {
    name: "no content type",
    request: { ...post('{"title":"a"}'), headers: [all] },
    status: 415,
    code: "unsupported_media_type",
  },
  {
    name: "two content types",
    request: { ...post('{"title":"a"}'), headers: [all, json, json] },
    status: 415,
    code: "unsupported_media_type",
  },
  {
    name: "a content encoding",
    request: post('{"title":"a"}', ["Content-Encoding", "br"]),
    status: 415,
    code: "unsupported_media_type",
    taken: ["koa-bodyparser", "express.json"],
  },
  ...[
    "application/json; charset=UTF-8",
    'application/json ; charset="utf-8"',
    "APPLICATION/JSON",
    "application/vnd.api+json",
  ].map((type): Case => ({
    name: `content type ${type}`,
    request: {
      method: "POST",
      path: "/v1/notes/preview",
      headers: [all, ["Content-Type", type]],
      body: '{"title":"a"}',
    },
    status: 200,
  })),
  // Idempotency
  ...["", "a b", "é", "x".repeat(256), '"open', '"a"b', '"a b"', '""', "a\tb"].map((key): Case => ({
    name: `idempotency key ${key.slice(0, 10)}`,
    request: post('{"title":"a"}', ["Idempotency-Key", key]),
    status: 400,
    code: "malformed_request",
    errors: [expect.objectContaining({ header: "Idempotency-Key", code: "invalid_format" })],
  })),
  {
    name: "two idempotency keys",
    request: post('{"title":"a"}', ["Idempotency-Key", "a"], ["Idempotency-Key", "b"]),
    status: 400,
    code: "malformed_request",
  },
  {
    name: "an idempotency key that is no string",
    request: post('{"title":"a","idempotency_key":7}'),
    status: 400,
    errors: [expect.objectContaining({ pointer: "/idempotency_key" })],
  },
  {
    name: "two idempotency keys that differ",
    request: post('{"title":"a","idempotency_key":"a"}', ["Idempotency-Key", "b"]),
    status: 400,
    errors: [expect.objectContaining({ code: "differs" })],
  },
  {
    name: "a first with a key",
    request: post('{"title":"once"}', ["Idempotency-Key", '"say \\"hi\\""'.replaceAll(" ", "-")]),
    status: 201,
  },
  {
    name: "a replay by the field",
    request: post('{"title":"once","idempotency_key":"say-\\"hi\\""}'),
    status: 201,
    headers: { "idempotent-replayed": "true" },
  },
  {
    name: "a first failure with a key",
    request: { method: "DELETE", path: "/v1/notes/none", headers: [all, ["Idempotency-Key", "f"]] },
    status: 404,
  },
  {
    name: "a failure's replay",
    request: { method: "DELETE", path: "/v1/notes/none", headers: [all, ["Idempotency-Key", "f"]] },
    status: 404,
    code: "not_found",
    headers: { "idempotent-replayed": "true" },
  },
];
