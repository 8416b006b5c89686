/** Requests and their expected responses, in sequence on one API of notes. */
import { all, auth, json, post, type Case } from "./case.ts";
import { bodyCases } from "./cases-bodies.ts";
import { keys } from "./notes-api.ts";

export const cases: readonly Case[] = [
  // Route
  {
    name: "an unknown route",
    request: { path: "/v1/nothing", headers: [all] },
    status: 404,
    code: "not_found",
  },
  {
    name: "an unknown route without a key",
    request: { path: "/v1/nothing" },
    status: 404,
    code: "not_found",
  },
  {
    name: "a trailing slash",
    request: { path: "/v1/notes/", headers: [all] },
    status: 404,
    code: "not_found",
  },
  {
    name: "dots in a path",
    request: { path: "/v1/%2e%2e/v1/notes", headers: [all] },
    status: 404,
    code: "not_found",
    taken: ["Request"],
  },
  {
    name: "an id that climbs",
    request: { path: "/v1/notes/..%2f..%2fetc", headers: [all] },
    status: 404,
    code: "not_found",
  },
  {
    name: "an id that is not UTF-8",
    request: { path: "/v1/notes/%ff", headers: [all] },
    status: 400,
    code: "malformed_request",
  },
  {
    name: "an id with a stray percent",
    request: { path: "/v1/notes/100%", headers: [all] },
    status: 400,
    code: "malformed_request",
  },
  {
    name: "an encoded id",
    request: { path: "/v1/notes/%6eote_1", headers: [all] },
    status: 200,
    body: { id: "note_1", title: "first", stars: 0, labels: {} },
  },
  {
    name: "too long a URL",
    request: { path: `/v1/notes?tag=${"x".repeat(9_000)}`, headers: [all] },
    status: 400,
    code: "malformed_request",
  },
  {
    name: "another method",
    request: { method: "PUT", path: "/v1/notes", headers: [all] },
    status: 405,
    code: "method_not_allowed",
    headers: { allow: "GET, HEAD, POST, OPTIONS" },
  },
  {
    name: "an absurd method",
    request: { method: "PROPFIND", path: "/v1/notes/x", headers: [all] },
    status: 405,
    headers: { allow: "GET, HEAD, PATCH, DELETE, OPTIONS" },
  },
  {
    name: "a literal segment before a parameter",
    request: { path: "/v1/notes/preview", headers: [all] },
    status: 405,
    headers: { allow: "POST, OPTIONS" },
  },
  {
    name: "OPTIONS",
    request: { method: "OPTIONS", path: "/v1/notes" },
    status: 204,
    headers: { allow: "GET, HEAD, POST, OPTIONS" },
  },
  {
    name: "HEAD",
    request: { method: "HEAD", path: "/v1/notes/note_1", headers: [all] },
    status: 200,
  },
  // Authenticate and scope
  {
    name: "no key",
    request: { path: "/v1/notes" },
    status: 401,
    code: "missing_api_key",
    headers: { "www-authenticate": "Bearer" },
  },
  {
    name: "another scheme",
    request: { path: "/v1/notes", headers: [["Authorization", "Basic dTpw"]] },
    status: 401,
    code: "missing_api_key",
  },
  {
    name: "a wrong key",
    request: { path: "/v1/notes", headers: [auth("tdg_test_wrong")] },
    status: 401,
    code: "invalid_api_key",
    headers: { "www-authenticate": 'Bearer error="invalid_token"' },
  },
  {
    name: "two keys",
    request: { path: "/v1/notes", headers: [all, all] },
    status: 401,
    code: "invalid_api_key",
  },
  {
    name: "a key and more",
    request: { path: "/v1/notes", headers: [auth(`${keys.all} x`)] },
    status: 401,
    code: "invalid_api_key",
  },
  {
    name: "no key after the scheme",
    request: { path: "/v1/notes", headers: [["Authorization", "Bearer"]] },
    status: 401,
    code: "invalid_api_key",
  },
  {
    name: "the scheme in another case",
    request: { path: "/v1/notes/note_1", headers: [["authorization", `bEARER ${keys.all}`]] },
    status: 200,
  },
  {
    name: "a key without the scope",
    request: { ...post("{}"), headers: [auth(keys.reader), json] },
    status: 403,
    code: "insufficient_scope",
    headers: { "www-authenticate": 'Bearer error="insufficient_scope", scope="messages:write"' },
  },
  {
    name: "a route for any key",
    request: {
      method: "POST",
      path: "/v1/notes/preview",
      headers: [auth(keys.reader), json],
      body: '{"title":"a"}',
    },
    status: 200,
  },
  ...bodyCases,
  // Execute
  {
    name: "a thrown handler",
    request: { ...post("{}"), path: "/v1/notes/note_1/fail" },
    status: 500,
    code: "internal",
  },
  {
    name: "nothing to answer",
    request: { method: "DELETE", path: "/v1/notes/note_2", headers: [all] },
    status: 204,
  },
  {
    name: "an id that is gone",
    request: { path: "/v1/notes/note_2", headers: [all] },
    status: 404,
    code: "not_found",
  },
  // Rate limit
  {
    name: "a first",
    request: { path: "/v1/notes/note_1", headers: [auth(keys.slow)] },
    status: 200,
    headers: { ratelimit: '"requests";r=1;t=1', "ratelimit-policy": '"requests";q=2;w=1' },
  },
  {
    name: "a second that fails",
    request: { path: "/v1/notes/gone", headers: [auth(keys.slow)] },
    status: 404,
    headers: { ratelimit: '"requests";r=0;t=1' },
  },
  {
    name: "one too many",
    request: { path: "/v1/notes/note_1", headers: [auth(keys.slow)] },
    status: 429,
    code: "rate_limited",
    headers: { "retry-after": "2", ratelimit: '"requests";r=0;t=1' },
  },
  // Streams and callbacks
  {
    name: "a stream that resumes",
    request: { path: "/v1/notes/stream?count=1", headers: [all, ["Last-Event-ID", "41"]] },
    status: 200,
    headers: {
      "content-type": "text/event-stream",
      // Otherwise `compression` of Express collects the events.
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
    },
  },
  {
    name: "a stream from nowhere",
    request: { path: "/v1/notes/stream", headers: [all, ["Last-Event-ID", "zero"]] },
    status: 422,
    code: "validation_failed",
  },
  {
    name: "HEAD of a stream",
    request: { method: "HEAD", path: "/v1/notes/stream?count=quiet", headers: [all] },
    status: 200,
  },
  {
    name: "a carrier's callback",
    request: {
      method: "POST",
      path: "/v1/transports/twilio/callbacks?x=1",
      headers: [
        ["Content-Type", "application/octet-stream"],
        ["X-Sig", "1"],
      ],
      body: "A=1&B=\u00e9",
    },
    status: 200,
    headers: { "content-type": "text/xml" },
  },
  {
    name: "a callback for nobody",
    request: { method: "POST", path: "/v1/transports/none/callbacks" },
    status: 404,
    code: "not_found",
  },
];
