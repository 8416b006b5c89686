import { expect } from "vitest";
import { all, get, json, post, row, type Case } from "./case.ts";

const deep = (levels: number): string =>
  `{"title":"a","labels":${"[".repeat(levels)}${"]".repeat(levels)}}`;
const unknownField = (pointer: string): unknown =>
  expect.objectContaining({ pointer, code: "unknown_field" });

export const bodyCases: readonly Case[] = [
  // Parse
  row("an array for a body", post("[]"), "422 validation_failed", {
    errors: [{ pointer: "", code: "invalid_type", message: "must be a JSON object" }],
  }),
  row("a scalar for a body", post("7"), "422 validation_failed", { taken: ["koa-bodyparser"] }),
  row("malformed JSON", post('{"title":"secret'), "400 malformed_json", {
    taken: ["koa-bodyparser"],
  }),
  row(
    "a body that is not UTF-8",
    post(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
    "400 malformed_json",
    { taken: ["koa-bodyparser", "express.json"] },
  ),
  row("no body where one is needed", post(""), "422 validation_failed", {
    errors: [{ pointer: "/title", code: "required", message: "Required. It must be a string." }],
  }),
  row(
    "all that is wrong at once",
    post(
      '{"title":"","stars":9,"labels":{"a/b~c":1},"link":{"url":1},"more":1,"__proto__":{"x":1},"constructor":1}',
    ),
    "422 validation_failed",
    { errors: [unknownField("/__proto__")], taken: ["koa-bodyparser"] },
  ),
  row(
    "wrong fields",
    post('{"title":"","stars":9,"labels":{"a/b~c":1},"link":{"url":1},"more":1,"constructor":1}'),
    "422 validation_failed",
    {
      errors: [
        expect.objectContaining({ pointer: "/title", code: "too_small" }),
        expect.objectContaining({ pointer: "/stars", code: "too_big" }),
        expect.objectContaining({ pointer: "/labels/a~1b~0c", code: "invalid_type" }),
        expect.objectContaining({ pointer: "/link/url", code: "invalid_type" }),
        unknownField("/more"),
        unknownField("/constructor"),
      ],
    },
  ),
  row("__proto__ deep in a map", post('{"title":"a","labels":{"__proto__":"x"}}'), "422", {
    errors: [unknownField("/labels/__proto__")],
    taken: ["koa-bodyparser"],
  }),
  row(
    "a body that repeats the path's id",
    { ...post('{"id":"note_2","title":"a"}'), method: "PATCH", path: "/v1/notes/note_1" },
    "422",
    { errors: [unknownField("/id")] },
  ),
  row(
    "a wrong path parameter",
    { ...post('{"title":""}'), method: "PATCH", path: `/v1/notes/${"x".repeat(41)}` },
    "422",
    {
      errors: [
        expect.objectContaining({ parameter: "id", code: "too_big" }),
        expect.objectContaining({ pointer: "/title", code: "too_small" }),
      ],
    },
  ),
  row("a query on a command", { ...post('{"title":"a"}'), path: "/v1/notes?dry=1" }, "422", {
    errors: [expect.objectContaining({ parameter: "dry", code: "unknown_field" })],
  }),
  row("wrong and unknown parameters", get("/v1/notes?limit=0&__proto__=1&id=%41"), "422", {
    errors: [
      expect.objectContaining({ parameter: "limit", code: "too_small" }),
      expect.objectContaining({ parameter: "__proto__", code: "unknown_field" }),
      expect.objectContaining({ parameter: "id", code: "unknown_field" }),
    ],
  }),
  row("a parameter that is given twice", get("/v1/notes?limit=1&limit=2"), "422", {
    errors: [
      {
        parameter: "limit",
        code: "invalid_type",
        message: "must be given once, got it 2 times",
      },
    ],
  }),
  row("an encoded query", get("/v1/notes?tag=a+b%26%C3%A9"), "200", {
    body: expect.objectContaining({ tag: "a b&é" }),
  }),
  row("a list in a query", get("/v1/notes?tag=a&tag=b"), "200", {
    body: expect.objectContaining({ tag: ["a", "b"] }),
  }),
  row("a query that is not UTF-8", get("/v1/notes?tag=%c3"), "400 malformed_request"),
  row("a bad cursor", get("/v1/notes?cursor=zzz"), "400 invalid_cursor"),
  row("depth within the limit", post(deep(31)), "422", {
    errors: [expect.objectContaining({ pointer: "/labels", code: "invalid_type" })],
  }),
  row("depth beyond the limit", post(deep(32)), "422", {
    errors: [expect.objectContaining({ code: "too_deep" })],
  }),
  row("a body of brackets", post("[".repeat(60_000)), "400 malformed_json", {
    taken: ["koa-bodyparser"],
  }),
  row(
    "a body of matched brackets",
    post(`${"[".repeat(30_000)}${"]".repeat(30_000)}`),
    "422 validation_failed",
  ),
  row("a body over the limit", post(`{"title":"${"x".repeat(70_000)}"}`), "413 body_too_large"),
  row(
    "a chunked body over the limit",
    post(`11800\r\n${"x".repeat(0x11800)}\r\n0\r\n\r\n`, ["Transfer-Encoding", "chunked"]),
    "413 body_too_large",
    { taken: ["koa-bodyparser"] },
  ),
  row(
    "a chunked body",
    post('B\r\n{"title":"c\r\n2\r\n"}\r\n0\r\n\r\n', ["Transfer-Encoding", "chunked"]),
    "201",
    { body: expect.objectContaining({ title: "c" }) },
  ),
  row(
    "a batch over the limit of other bodies",
    { ...post(`{"notes":["${"x".repeat(70_000)}"]}`), path: "/v1/notes/batch" },
    "200",
    { body: { count: 1 } },
  ),
  ...[
    "text/plain",
    "application/xml",
    "application/json; charset=latin1",
    "application/json, application/json",
    "application/jsonp",
    "application/x-ndjson",
    "json",
    "",
  ].map((type) =>
    row(
      `content type "${type}"`,
      { ...post('{"title":"a"}'), headers: [all, ["Content-Type", type]] },
      "415 unsupported_media_type",
    ),
  ),
  row(
    "no content type",
    { ...post('{"title":"a"}'), headers: [all] },
    "415 unsupported_media_type",
  ),
  row(
    "two content types",
    { ...post('{"title":"a"}'), headers: [all, json, json] },
    "415 unsupported_media_type",
  ),
  row(
    "a content encoding",
    post('{"title":"a"}', ["Content-Encoding", "br"]),
    "415 unsupported_media_type",
    { taken: ["koa-bodyparser", "express.json"] },
  ),
  ...[
    "application/json; charset=UTF-8",
    'application/json ; charset="utf-8"',
    "APPLICATION/JSON",
    "application/vnd.api+json",
  ].map((type) =>
    row(
      `content type ${type}`,
      {
        ...get("/v1/notes/preview", ["Content-Type", type]),
        method: "POST",
        body: '{"title":"a"}',
      },
      "200",
    ),
  ),
  // Idempotency
  ...["", "a b", "é", "x".repeat(256), '"open', '"a"b', '"a b"', '""', "a\tb"].map((key) =>
    row(
      `idempotency key ${key.slice(0, 10)}`,
      post('{"title":"a"}', ["Idempotency-Key", key]),
      "400 malformed_request",
      { errors: [expect.objectContaining({ header: "Idempotency-Key", code: "invalid_format" })] },
    ),
  ),
  row(
    "two idempotency keys",
    post('{"title":"a"}', ["Idempotency-Key", "a"], ["Idempotency-Key", "b"]),
    "400 malformed_request",
  ),
  row("an idempotency key that is no string", post('{"title":"a","idempotency_key":7}'), "400", {
    errors: [expect.objectContaining({ pointer: "/idempotency_key" })],
  }),
  row(
    "two idempotency keys that differ",
    post('{"title":"a","idempotency_key":"a"}', ["Idempotency-Key", "b"]),
    "400",
    { errors: [expect.objectContaining({ code: "differs" })] },
  ),
  row(
    "a first with a key",
    post('{"title":"once"}', ["Idempotency-Key", '"say \\"hi\\""'.replaceAll(" ", "-")]),
    "201",
  ),
  row("a replay by the field", post('{"title":"once","idempotency_key":"say-\\"hi\\""}'), "201", {
    headers: { "idempotent-replayed": "true" },
  }),
  row(
    "a first failure with a key",
    { ...get("/v1/notes/none", ["Idempotency-Key", "f"]), method: "DELETE" },
    "404",
  ),
  row(
    "a failure's replay",
    { ...get("/v1/notes/none", ["Idempotency-Key", "f"]), method: "DELETE" },
    "404 not_found",
    { headers: { "idempotent-replayed": "true" } },
  ),
];
