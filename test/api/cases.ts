/** Requests and their expected responses, in sequence on one API of notes. */
import { all, auth, get, json, post, row, type Case } from "./case.ts";
import { bodyCases } from "./cases-bodies.ts";
import { keys } from "./notes-api.ts";

export const cases: readonly Case[] = [
  // Route
  row("an unknown route", get("/v1/nothing"), "404 not_found"),
  row("an unknown route without a key", { path: "/v1/nothing" }, "404 not_found"),
  row("a trailing slash", get("/v1/notes/"), "404 not_found"),
  row("dots in a path", get("/v1/%2e%2e/v1/notes"), "404 not_found", { taken: ["Request"] }),
  row("an id that climbs", get("/v1/notes/..%2f..%2fetc"), "404 not_found"),
  row("an id that is not UTF-8", get("/v1/notes/%ff"), "400 malformed_request"),
  row("an id with a stray percent", get("/v1/notes/100%"), "400 malformed_request"),
  row("an encoded id", get("/v1/notes/%6eote_1"), "200", {
    body: { id: "note_1", title: "first", stars: 0, labels: {} },
  }),
  row("too long a URL", get(`/v1/notes?tag=${"x".repeat(9_000)}`), "400 malformed_request"),
  row("another method", { ...get("/v1/notes"), method: "PUT" }, "405 method_not_allowed", {
    headers: { allow: "GET, HEAD, POST, OPTIONS" },
  }),
  row("an absurd method", { ...get("/v1/notes/x"), method: "PROPFIND" }, "405", {
    headers: { allow: "GET, HEAD, PATCH, DELETE, OPTIONS" },
  }),
  row("a literal segment before a parameter", get("/v1/notes/preview"), "405", {
    headers: { allow: "POST, OPTIONS" },
  }),
  row("OPTIONS", { method: "OPTIONS", path: "/v1/notes" }, "204", {
    headers: { allow: "GET, HEAD, POST, OPTIONS" },
  }),
  row("HEAD", { ...get("/v1/notes/note_1"), method: "HEAD" }, "200"),
  // Authenticate and scope
  row("no key", { path: "/v1/notes" }, "401 missing_api_key", {
    headers: { "www-authenticate": "Bearer" },
  }),
  row(
    "another scheme",
    { path: "/v1/notes", headers: [["Authorization", "Basic dTpw"]] },
    "401 missing_api_key",
  ),
  row(
    "a wrong key",
    { path: "/v1/notes", headers: [auth("tdg_test_wrong")] },
    "401 invalid_api_key",
    { headers: { "www-authenticate": 'Bearer error="invalid_token"' } },
  ),
  row("two keys", { path: "/v1/notes", headers: [all, all] }, "401 invalid_api_key"),
  row(
    "a key and more",
    { path: "/v1/notes", headers: [auth(`${keys.all} x`)] },
    "401 invalid_api_key",
  ),
  row(
    "no key after the scheme",
    { path: "/v1/notes", headers: [["Authorization", "Bearer"]] },
    "401 invalid_api_key",
  ),
  row(
    "the scheme in another case",
    { path: "/v1/notes/note_1", headers: [["authorization", `bEARER ${keys.all}`]] },
    "200",
  ),
  row(
    "a key without the scope",
    { ...post("{}"), headers: [auth(keys.reader), json] },
    "403 insufficient_scope",
    {
      headers: { "www-authenticate": 'Bearer error="insufficient_scope", scope="messages:write"' },
    },
  ),
  row(
    "a route for any key",
    {
      method: "POST",
      path: "/v1/notes/preview",
      headers: [auth(keys.reader), json],
      body: '{"title":"a"}',
    },
    "200",
  ),
  ...bodyCases,
  // Execute
  row("a thrown handler", { ...post("{}"), path: "/v1/notes/note_1/fail" }, "500 internal"),
  row("nothing to answer", { ...get("/v1/notes/note_2"), method: "DELETE" }, "204"),
  row("an id that is gone", get("/v1/notes/note_2"), "404 not_found"),
  // Rate limit
  row("a first", { path: "/v1/notes/note_1", headers: [auth(keys.slow)] }, "200", {
    headers: { ratelimit: '"requests";r=1;t=1', "ratelimit-policy": '"requests";q=2;w=1' },
  }),
  row("a second that fails", { path: "/v1/notes/gone", headers: [auth(keys.slow)] }, "404", {
    headers: { ratelimit: '"requests";r=0;t=1' },
  }),
  row(
    "one too many",
    { path: "/v1/notes/note_1", headers: [auth(keys.slow)] },
    "429 rate_limited",
    { headers: { "retry-after": "2", ratelimit: '"requests";r=0;t=1' } },
  ),
  // Streams and callbacks
  row("a stream that resumes", get("/v1/notes/stream?count=1", ["Last-Event-ID", "41"]), "200", {
    headers: {
      "content-type": "text/event-stream",
      // Otherwise `compression` of Express collects the events.
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
    },
  }),
  row(
    "a stream from nowhere",
    get("/v1/notes/stream", ["Last-Event-ID", "zero"]),
    "422 validation_failed",
  ),
  row("HEAD of a stream", { ...get("/v1/notes/stream?count=quiet"), method: "HEAD" }, "200"),
  row(
    "a carrier's callback",
    {
      method: "POST",
      path: "/v1/transports/twilio/callbacks?x=1",
      headers: [
        ["Content-Type", "application/octet-stream"],
        ["X-Sig", "1"],
      ],
      body: "A=1&B=\u00e9",
    },
    "200",
    { headers: { "content-type": "text/xml" } },
  ),
  row(
    "a callback for nobody",
    { method: "POST", path: "/v1/transports/none/callbacks" },
    "404 not_found",
  ),
];
