import type { z } from "zod";
import { problem, ReplayedError, type RequestId, TidingsError } from "../kernel/index.ts";
import {
  type Context,
  type Guarded,
  type IdempotencyKey,
  inputSchema,
  isGuarded,
  type KeyCaller,
  type ApiRoute,
  type RowProcedure,
  storedKey,
  type VisitorCaller,
} from "../operations/index.ts";
import { bearerKey, challengeOf, missingScopes, visitorToken } from "./authentication.ts";
import type { Authenticated } from "../accounts/index.ts";
import type { Admission } from "../ports/index.ts";
import type { Visitor } from "../webchat/index.ts";
import type { ApiBackend } from "./backend.ts";
import { maxCallbackBytes } from "./callbacks.ts";
import { readJson, refuseEncoded, refuseTooLarge, tooLarge } from "./body.ts";
import {
  encodeEvents,
  eventStreamHeaders,
  isNdjson,
  ndjsonHeaders,
  readLines,
  reportLines,
} from "./streaming.ts";
import { corsHeaders, preflightHeaders, rateLimitHeaders, seconds } from "./headers.ts";
import { headerOf, headersByName } from "./http.ts";
import type { ApiHandler, ApiRequest, ApiResponse } from "./http.ts";
import {
  idempotencyField,
  idempotencyKey,
  refuseKey,
  commandInput,
  decodedParams,
  queryInput,
  refuseQuery,
  parseQuery,
} from "./inputs.ts";
import { router } from "./router.ts";

const maxUrl = 8192;
const json = "application/json";

type Headers = Record<string, string>;
type Params = Readonly<Record<string, string>>;
type ForKeys = Extract<ApiRoute, { scopes: readonly string[] }>;
/** The query parameter for a visitor's token when it cannot be sent as a header. */
const tokenField = "token";

function refuseUnadmitted(admission: Admission, headers: Headers): void {
  Object.assign(headers, rateLimitHeaders(admission));
  if (admission.admitted) return;
  throw new TidingsError("rate_limited", `More than ${admission.limit} requests in one second.`, {
    retryAfterMs: admission.retry_after_ms,
  });
}

/** Handles `/v1`: route, authenticate, check scopes, limit the rate, parse, execute. */
export function apiHandler(backend: ApiBackend, routes: readonly ApiRoute[]): ApiHandler {
  const match = router(routes);
  const schemaOf = (operation: Guarded["operation"]): z.ZodType =>
    inputSchema(operation, backend.limits);

  /** Fills `headers` on the way, so that an error response has those known so far. */
  const answer = async (
    request: ApiRequest,
    request_id: RequestId,
    headers: Headers,
  ): Promise<ApiResponse> => {
    if (request.path.length + request.query.length > maxUrl) {
      throw new TidingsError("malformed_request", `The URL is longer than ${maxUrl} characters.`);
    }
    const found = match(request.method, request.path);
    if (found.kind === "unknown") {
      throw new TidingsError(
        "not_found",
        "There is no such route. Check the method and the path against /v1/openapi.json.",
      );
    }
    if (found.kind === "methods") {
      headers["Allow"] = found.allow.join(", ");
      if (found.visitor) Object.assign(headers, corsHeaders(request.headers, backend.origins));
      if (request.method === "OPTIONS") {
        Object.assign(headers, preflightHeaders(request.headers, headers));
        return { status: 204, headers, body: null };
      }
      throw new TidingsError("method_not_allowed", `This path answers ${headers["Allow"]}.`);
    }
    const { route } = found;
    const params = decodedParams(found.params);
    if (isGuarded(route)) {
      const authenticated =
        "visitor" in route
          ? await letIn(request, params, headers)
          : await admit(request, route, headers);
      return authorized(request, route, params, authenticated, request_id, headers);
    }
    if (route.operation.kind === "open") {
      const mount = request.url.slice(0, Math.max(0, request.url.indexOf(request.path)));
      const body = await route.operation.answer(backend, mount);
      return { status: 200, headers: { ...headers, "Content-Type": json }, body };
    }
    return callback(request, params, headers);
  };

  const admit = async (
    request: ApiRequest,
    { scopes }: ForKeys,
    headers: Headers,
  ): Promise<Authenticated> => {
    const key = await backend.authenticate(bearerKey(headerOf(request.headers, "authorization")));
    const missing = missingScopes(scopes, key.caller.scopes);
    if (missing.length > 0) {
      headers["WWW-Authenticate"] =
        `Bearer error="insufficient_scope", scope="${scopes.join(" ")}"`;
      throw new TidingsError(
        "insufficient_scope",
        `The API key lacks the scope ${missing.join(" and ")}.`,
      );
    }
    refuseUnadmitted(await backend.admit(key), headers);
    return key;
  };

  const letIn = async (request: ApiRequest, params: Params, headers: Headers): Promise<Visitor> => {
    Object.assign(headers, corsHeaders(request.headers, backend.origins));
    const { [tokenField]: asked } = parseQuery(request.query);
    const token = visitorToken(headerOf(request.headers, "authorization"), asked);
    const visitor = await backend.authenticateVisitor(params["id"] ?? "", token);
    refuseUnadmitted(await backend.admitVisitor(visitor), headers);
    return visitor;
  };

  const authorized = async (
    request: ApiRequest,
    route: Guarded,
    params: Params,
    { scope, caller }: Authenticated | Visitor,
    request_id: RequestId,
    headers: Headers,
  ): Promise<ApiResponse> => {
    const context = { scope, caller, request_id, idempotency_key: null };
    const { operation } = route;
    const { [tokenField]: token, ...others } = parseQuery(request.query);
    const query =
      "visitor" in route || token === undefined ? others : { ...others, [tokenField]: token };
    if (operation.kind === "command" || operation.kind === "procedure") {
      if ("rows" in route && isNdjson(headerOf(request.headers, "content-type"))) {
        return rows(request, route.rows, context, headers);
      }
      const { limits } = backend;
      const limit =
        "body" in route && route.body === "batch" ? limits.batch_body_bytes : limits.body_bytes;
      const { [idempotencyField]: field, ...body } = await readJson(
        request,
        limit,
        limits.json_depth,
      );
      const given = idempotencyKey(headerOf(request.headers, "idempotency-key"), field);
      const idempotency_key = given === null ? null : storedKey(keyOf(caller, given));
      const input = commandInput(schemaOf(operation), body, params, query);
      const keyed = { ...context, idempotency_key };
      const outcome = await (operation.kind === "command"
        ? backend.execute(operation, input, keyed)
        : backend.run(operation, input, keyed));
      if (outcome.replayed) headers["Idempotent-Replayed"] = "true";
      if (outcome.status === 204) return { status: 204, headers, body: null };
      headers["Content-Type"] = json;
      return { status: outcome.status, headers, body: outcome.body };
    }
    if (operation.kind === "query") {
      const value = await backend.query(
        operation,
        queryInput(schemaOf(operation), query, params),
        context,
      );
      headers["Content-Type"] = json;
      return { status: 200, headers, body: JSON.stringify(value) };
    }
    const last = headerOf(request.headers, "last-event-id");
    // A reconnecting client repeats the URL, so the header is newer than the query.
    const resumed = last === undefined || last === "" ? query : { ...query, last_event_id: last };
    const input = queryInput(schemaOf(operation), resumed, params);
    const streaming = { ...headers, ...eventStreamHeaders };
    if (request.method === "HEAD") return { status: 200, headers: streaming, body: null };
    const events = await backend.stream(operation, input, context, request.signal);
    return {
      status: 200,
      headers: streaming,
      body: logged(encodeEvents(events), request, request_id),
    };
  };

  const rows = async (
    request: ApiRequest,
    procedure: RowProcedure<unknown, unknown>,
    context: Context,
    headers: Headers,
  ): Promise<ApiResponse> => {
    const { request_id } = context;
    refuseEncoded(request.headers);
    refuseQuery(parseQuery(request.query));
    refuseKey(headerOf(request.headers, "idempotency-key"));
    const { import_rows: lines, body_bytes: bytes, json_depth: depth } = backend.limits;
    const reports = await backend.rows(
      procedure,
      readLines(request.chunks(), { lines, bytes, depth }),
      context,
    );
    const body = reportLines(reports, request_id, (error) => log(error, request, request_id));
    return { status: 200, headers: { ...headers, ...ndjsonHeaders }, body };
  };

  const callback = async (
    request: ApiRequest,
    params: Params,
    headers: Headers,
  ): Promise<ApiResponse> => {
    const limit = Math.min(backend.limits.body_bytes, maxCallbackBytes);
    refuseTooLarge(request.headers, limit);
    const { bytes } = await request.body(limit);
    if (bytes === undefined) {
      throw new TidingsError(
        "invalid_option",
        "A body parser before tidings kept no bytes of this body, and its signature covers the " +
          "bytes. Mount tidings " +
          "before the body parser, or keep the bytes as `rawBody` (in body-parser: " +
          "`verify: (req, res, bytes) => { req.rawBody = bytes }`).",
      );
    }
    if (bytes.length > limit) throw tooLarge(limit);
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

  /**
   * After the response head is sent, an error cannot become a response. The adapter closes the
   * socket.
   */
  async function* logged(
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

  const failure = (
    error: unknown,
    request: ApiRequest,
    request_id: RequestId,
    headers: Headers,
  ): ApiResponse => {
    const known =
      error instanceof TidingsError
        ? error
        : new TidingsError(
            "internal",
            "The request failed because of an internal error. Try again later.",
          );
    if (known.status >= 500) log(error, request, request_id);
    if (known.retryAfterMs !== undefined) {
      headers["Retry-After"] = String(seconds(known.retryAfterMs));
    }
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

function keyOf(caller: KeyCaller | VisitorCaller, key: string): IdempotencyKey {
  return caller.type === "key"
    ? { by: "caller", key }
    : { by: "visitor", session_id: caller.session_id, key };
}
