import { z } from "zod";
import { ReplayedError, TidingsError } from "../errors.ts";
import type { RequestId } from "../ids.ts";
import { bearerKey, challengeOf, missingScopes } from "./authentication.ts";
import type { Authenticated } from "../key-ring.ts";
import type { ApiBackend } from "./backend.ts";
import { readJson, refuseTooLarge } from "./body.ts";
import { encodeEvents, eventStreamHeaders } from "./event-stream.ts";
import { headerOf, headersByName } from "./http.ts";
import type { ApiHandler, ApiRequest, ApiResponse } from "./http.ts";
import { idempotencyField, idempotencyKey } from "./idempotency-key.ts";
import { commandInput, decodedParams, queryInput } from "./inputs.ts";
import { problem } from "../problem.ts";
import { parseQuery } from "./query-string.ts";
import { rateLimitHeaders, seconds } from "./rate-limit-headers.ts";
import type { Route } from "./route.ts";
import { router } from "./router.ts";

const longestUrl = 8192;
const json = "application/json";

type Headers = Record<string, string>;
type Params = Readonly<Record<string, string>>;
type Authorized = Extract<Route, { scopes: readonly string[] }>;

/** The `/v1` surface: route, authenticate, scope, rate limit, parse, execute. */
export function apiHandler(backend: ApiBackend, routes: readonly Route[]): ApiHandler {
  const match = router(routes);
  const schemas = new Map(
    routes.filter((route) => "scopes" in route).map(({ operation }) => [operation, operation.input(backend.limits)]),
  );
  const schemaOf = (operation: Authorized["operation"]): z.ZodType => schemas.get(operation) ?? z.never();

  /** `headers` are filled on the way, so that a failure half-way has those that were known. */
  const answer = async (request: ApiRequest, request_id: RequestId, headers: Headers): Promise<ApiResponse> => {
    if (request.path.length + request.query.length > longestUrl) {
      throw new TidingsError("malformed_request", `The URL is longer than ${longestUrl} characters.`);
    }
    const found = match(request.method, request.path);
    if (found.kind === "unknown") throw new TidingsError("not_found", "There is no such route.");
    if (found.kind === "methods") {
      headers["Allow"] = found.allow.join(", ");
      if (request.method === "OPTIONS") return { status: 204, headers, body: null };
      throw new TidingsError("method_not_allowed", `This path answers ${headers["Allow"]}.`);
    }
    const { route } = found;
    const params = decodedParams(found.params);
    if ("scopes" in route) {
      const key = await admit(request, route, headers);
      return authorized(request, route, params, key, request_id, headers);
    }
    if (route.operation.kind === "open") {
      const mount = request.url.slice(0, Math.max(0, request.url.indexOf(request.path)));
      const body = await route.operation.answer(backend, mount);
      return { status: 200, headers: { ...headers, "Content-Type": json }, body };
    }
    return callback(request, params, headers);
  };

  const admit = async (request: ApiRequest, { scopes }: Authorized, headers: Headers): Promise<Authenticated> => {
    const key = await backend.authenticate(bearerKey(headerOf(request.headers, "authorization")));
    const missing = missingScopes(scopes, key.caller.scopes);
    if (missing.length > 0) {
      headers["WWW-Authenticate"] = `Bearer error="insufficient_scope", scope="${scopes.join(" ")}"`;
      throw new TidingsError("insufficient_scope", `The API key lacks the scope ${missing.join(" and ")}.`);
    }
    const admission = await backend.admit(key);
    Object.assign(headers, rateLimitHeaders(admission));
    if (!admission.admitted) {
      throw new TidingsError("rate_limited", `More than ${admission.limit} requests in one second.`, {
        retryAfterMs: admission.retry_after_ms,
      });
    }
    return key;
  };

  const authorized = async (
    request: ApiRequest,
    route: Authorized,
    params: Params,
    { scope, caller }: Authenticated,
    request_id: RequestId,
    headers: Headers,
  ): Promise<ApiResponse> => {
    const context = { scope, caller, request_id, idempotency_key: null };
    const { operation } = route;
    if (operation.kind === "command" || operation.kind === "procedure") {
      const { limits } = backend;
      const limit = "body" in route && route.body === "batch" ? limits.batch_body_bytes : limits.body_bytes;
      const { [idempotencyField]: field, ...body } = await readJson(request, limit, limits.json_depth);
      const idempotency_key = idempotencyKey(headerOf(request.headers, "idempotency-key"), field);
      const input = commandInput(schemaOf(operation), body, params, parseQuery(request.query));
      const keyed = { ...context, idempotency_key };
      const outcome = await (operation.kind === "command"
        ? backend.execute(operation, input, keyed)
        : backend.run(operation, input, keyed));
      if (outcome.replayed) headers["Idempotent-Replayed"] = "true";
      if (outcome.status === 204) return { status: 204, headers, body: null };
      headers["Content-Type"] = json;
      return { status: outcome.status, headers, body: outcome.body };
    }
    const asked = parseQuery(request.query);
    if (operation.kind === "query") {
      const value = await backend.query(operation, queryInput(schemaOf(operation), asked, params), context);
      headers["Content-Type"] = json;
      return { status: 200, headers, body: JSON.stringify(value) };
    }
    const last = headerOf(request.headers, "last-event-id");
    // A client that comes again calls the same URL, with the header: that one is newer.
    const resumed = last === undefined || last === "" ? asked : { ...asked, last_event_id: last };
    const input = queryInput(schemaOf(operation), resumed, params);
    const streaming = { ...headers, ...eventStreamHeaders };
    if (request.method === "HEAD") return { status: 200, headers: streaming, body: null };
    const events = await backend.stream(operation, input, context, request.signal);
    return { status: 200, headers: streaming, body: told(encodeEvents(events), request, request_id) };
  };

  const callback = async (request: ApiRequest, params: Params, headers: Headers): Promise<ApiResponse> => {
    const limit = backend.limits.body_bytes;
    refuseTooLarge(request.headers, limit);
    const { bytes } = await request.body(limit);
    if (bytes === undefined) {
      throw new TidingsError(
        "invalid_option",
        "A body parser before tidings kept no bytes of this body, and its signature is over the bytes. Mount tidings " +
          "before the body parser, or keep the bytes as `rawBody` (in body-parser: " +
          "`verify: (req, res, bytes) => { req.rawBody = bytes }`).",
      );
    }
    const { method, url } = request;
    const reply = await backend.callback(params["name"] ?? "", {
      method,
      url,
      headers: headersByName(request.headers),
      body: bytes,
    });
    if (reply.content_type !== undefined) headers["Content-Type"] = reply.content_type;
    return { status: reply.status, headers, body: reply.body ?? null };
  };

  /** What breaks a stream after its head went out can't be answered: the adapter closes the socket. */
  async function* told(
    chunks: AsyncIterable<string>,
    request: ApiRequest,
    request_id: RequestId,
  ): AsyncGenerator<string, void> {
    try {
      yield* chunks;
    } catch (error) {
      log(error, request, request_id);
      throw error;
    }
  }

  const log = (err: unknown, { method, path }: ApiRequest, request_id: RequestId): void =>
    backend.logger.error({ err, request_id, method, path }, "a request failed");

  const failure = (error: unknown, request: ApiRequest, request_id: RequestId, headers: Headers): ApiResponse => {
    const known = error instanceof TidingsError ? error : new TidingsError("internal", "Something failed on our side.");
    if (known.status >= 500) log(error, request, request_id);
    if (known.retryAfterMs !== undefined) headers["Retry-After"] = String(seconds(known.retryAfterMs));
    const challenge = challengeOf(known);
    if (challenge !== undefined) headers["WWW-Authenticate"] = challenge;
    headers["Content-Type"] = "application/problem+json";
    if (known instanceof ReplayedError) {
      headers["Idempotent-Replayed"] = "true";
      return { status: known.status, headers, body: known.body };
    }
    return { status: known.status, headers, body: JSON.stringify(problem(known, request_id)) };
  };

  return {
    handle: async (request) => {
      const request_id = backend.drawId("req");
      const headers: Headers = { "Request-Id": request_id, "Cache-Control": "no-store" };
      try {
        return await answer(request, request_id, headers);
      } catch (error) {
        return failure(error, request, request_id, headers);
      }
    },
  };
}
