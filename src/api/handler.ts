import {
  boundedCache,
  getOrInsert,
  headersByName,
  inQuery,
  TidingsError,
} from "../kernel/index.ts";
import {
  inputSchema,
  isGuarded,
  storedKey,
  takesKey,
  type ApiRoute,
  type Change,
  type Context,
  type EventStream,
  type Guarded,
  type Query,
  type RowProcedure,
  type SignalOperation,
} from "../operations/index.ts";
import { maxCallbackBytes } from "../ports/index.ts";
import { admit, refuseIfEnded, type Admitted, type OperatorAccess } from "./authentication.ts";
import type { ApiBackend } from "./backend.ts";
import { corsHeaders, preflightHeaders } from "./cors.ts";
import {
  headerOf,
  type ApiHandler,
  type ApiRequest,
  type ApiResponse,
  type Exchange,
} from "./http.ts";
import { RequestLog } from "./request-log.ts";
import { idempotencyKey, refuseKey, withoutKey } from "./requests/idempotency-key.ts";
import {
  commandInput,
  queryInput,
  refuseQuery,
  resumedInput,
  withPlaces,
} from "./requests/inputs.ts";
import { isNdjson, readLines } from "./requests/read-lines.ts";
import { jsonOptions, readBytes, readJson, refuseEncoded } from "./requests/request-body.ts";
import { decodedParams, parseQuery, tokenField, type Params } from "./requests/url-parameters.ts";
import { noSuchRoute, problemResponse, publicError } from "./responses/problem-response.ts";
import { ndjsonHeaders, reportLines, UnreadReports } from "./responses/report-lines.ts";
import { encodeEvents, eventStreamHeaders } from "./responses/server-sent-events.ts";
import { respondWithShared, sharedBody, type SharedBody } from "./responses/shared-body.ts";
import { router, type Match } from "./router.ts";

const maxUrl = 8192;
const json = "application/json";

/**
 * How many documents are kept. There is one for each document and path that the API is mounted at.
 * Express ignores the case of a path, so a client can request one document by many paths.
 */
const maxDocuments = 20;

/** The statuses of a carrier's response that has no body (RFC 9110, sections 15.3 and 15.4). */
const statusesWithoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

/** A request whose caller is known and may call the route. */
interface AuthorizedExchange extends Exchange, Admitted {
  readonly route: Guarded;
  readonly params: Params;
}

/** Handles the requests of `/v1`: finds the route, authenticates, parses, runs, responds. */
export class RequestHandler implements ApiHandler {
  /** The ports that pages use besides the API. */
  readonly ports: Pick<ApiBackend, "clock" | "random" | "httpClient">;
  readonly #backend: ApiBackend;
  readonly #match: (method: string, path: string) => Match;
  readonly #log: RequestLog;
  readonly #documents = boundedCache<string, Promise<SharedBody>>(maxDocuments);
  readonly #unread = new UnreadReports();

  constructor(backend: ApiBackend, routes: readonly ApiRoute[]) {
    this.#backend = backend;
    this.ports = backend;
    this.#match = router(routes);
    this.#log = new RequestLog(backend);
  }

  /** A property, so that host applications can pass it on as a function. */
  readonly handle = (request: ApiRequest): Promise<ApiResponse> =>
    this.answer(request, (exchange) => this.respond(exchange));

  /**
   * Draws an id for the request and runs `respond`. An error becomes a response, and is logged if
   * it was not expected. Never rejects.
   */
  async answer(
    request: ApiRequest,
    respond: (exchange: Exchange) => Promise<ApiResponse>,
  ): Promise<ApiResponse> {
    const request_id = this.#backend.drawId("req");
    const headers = {
      "Request-Id": request_id,
      "Cache-Control": "no-store",
      // Responses quote texts of strangers. No browser may guess that one is a document.
      "X-Content-Type-Options": "nosniff",
    };
    const exchange = { request, request_id, headers };
    try {
      return await respond(exchange);
    } catch (error) {
      const known = publicError(error);
      if (known.status >= 500) this.#log.failed(error, exchange);
      return problemResponse(exchange, known);
    }
  }

  /**
   * Responds to a request, or throws the error that `answer` responds with. With `access`, the
   * caller is an operator, who sends no API key and has the rights that `access` gives.
   */
  async respond(exchange: Exchange, access?: OperatorAccess): Promise<ApiResponse> {
    const { request, headers } = exchange;
    const found = this.#match(request.method, request.path);
    // A page of another website can then read every response, also that the URL is wrong.
    if (isVisitors(found)) {
      Object.assign(headers, corsHeaders(request.headers, this.#backend.origins));
    }
    if (found.kind === "methods") return this.#showMethods(exchange, found.allow);
    if (request.path.length + request.query.length > maxUrl) {
      throw new TidingsError("malformed_request", `The URL is longer than ${maxUrl} characters.`);
    }
    if (found.kind === "unknown") throw noSuchRoute(request);

    const { route } = found;
    const params = decodedParams(found.params);
    if (!isGuarded(route)) return this.#respondToAnyone(exchange, route, params);
    const admitted = await admit(this.#backend, exchange, { route, params }, access);
    return this.#runOperation({ ...exchange, ...admitted, route, params });
  }

  /** Responds to a method that the path does not have. OPTIONS, also as a preflight, lists them. */
  #showMethods({ request, headers }: Exchange, allow: readonly string[]): ApiResponse {
    headers["Allow"] = allow.join(", ");
    if (request.method !== "OPTIONS") {
      throw new TidingsError("method_not_allowed", `This path takes ${headers["Allow"]}.`);
    }
    Object.assign(headers, preflightHeaders(request.headers, headers));
    return { status: 204, headers, body: null };
  }

  /** Responds on a route that needs no key. */
  async #respondToAnyone(
    exchange: Exchange,
    { operation }: Exclude<ApiRoute, Guarded>,
    params: Params,
  ): Promise<ApiResponse> {
    const { request, headers } = exchange;
    switch (operation.kind) {
      case "callback":
        return this.#receiveCallback(exchange, params);
      case "document": {
        const mount = request.url.slice(0, Math.max(0, request.url.indexOf(request.path)));
        const body = await getOrInsert(this.#documents, `${operation.name} ${mount}`, async () =>
          sharedBody(await operation.json(mount)),
        );
        return respondWithShared(exchange, body, json);
      }
      case "public": {
        const { status, body } = await operation.answer(this.#backend.health);
        headers["Content-Type"] = json;
        return { status, headers, body };
      }
    }
  }

  #runOperation(exchange: AuthorizedExchange): Promise<ApiResponse> {
    const { route, request } = exchange;
    const { operation } = route;
    switch (operation.kind) {
      case "command":
      case "procedure":
        return "rows" in route && isNdjson(headerOf(request.headers, "content-type"))
          ? this.#importRows(exchange, route.rows)
          : this.#change(exchange, operation);
      case "query":
        return this.#read(exchange, operation);
      case "signal":
        return this.#signal(exchange, operation);
      case "stream":
        return this.#openStream(exchange, operation);
    }
  }

  async #change(
    exchange: AuthorizedExchange,
    operation: Change<unknown, unknown>,
  ): Promise<ApiResponse> {
    const { request, headers, route, params } = exchange;
    const { limits, run } = this.#backend;
    const query = queryOf(exchange);
    const given = await readJson(request, jsonOptions(route, limits));
    const { field, body } = withoutKey(given);
    await refuseIfEnded(exchange);
    const key = idempotencyKey(headerOf(request.headers, "idempotency-key"), field);
    const input = commandInput(inputSchema(operation, limits), body, params, query);
    const context = contextOf(exchange, takesKey(operation) ? key : null);

    const outcome = await run(({ executor }) => executor.execute(operation, input, context));
    if (outcome.replayed) headers["Idempotent-Replayed"] = "true";
    if (outcome.status === 204) return { status: 204, headers, body: null };
    headers["Content-Type"] = json;
    return { status: outcome.status, headers, body: outcome.body };
  }

  /** A signal is not stored, so an idempotency key would change nothing. */
  async #signal(
    exchange: AuthorizedExchange,
    operation: SignalOperation<unknown>,
  ): Promise<ApiResponse> {
    const { request, headers, route, params } = exchange;
    const { limits, run } = this.#backend;
    const body = await readJson(request, jsonOptions(route, limits));
    await refuseIfEnded(exchange);
    const input = commandInput(inputSchema(operation, limits), body, params, queryOf(exchange));

    await run(({ executor }) => executor.signal(operation, input, contextOf(exchange)));
    return { status: operation.status, headers, body: null };
  }

  /** Runs each line of an NDJSON body as a row. Responds with a report per row. */
  async #importRows(
    exchange: AuthorizedExchange,
    procedure: RowProcedure<unknown, unknown>,
  ): Promise<ApiResponse> {
    const { request, request_id, headers } = exchange;
    const { limits, prepared } = this.#backend;
    refuseEncoded(request.headers);
    refuseQuery(parseQuery(request.query));
    refuseKey(headerOf(request.headers, "idempotency-key"));
    const rows = readLines(chunksOf(exchange), {
      lines: limits.importRows,
      bytes: limits.bodyBytes,
      depth: limits.jsonDepth,
    });

    const { executor } = await prepared();
    const reports = executor.runRows(procedure, rows, contextOf(exchange));
    const body = reportLines(reports, {
      request_id,
      failed: (error) => this.#log.failed(error, exchange),
      unread: this.#unread,
    });
    return { status: 200, headers: Object.assign(headers, ndjsonHeaders), body };
  }

  async #read(
    exchange: AuthorizedExchange,
    operation: Query<unknown, unknown>,
  ): Promise<ApiResponse> {
    const { headers, params } = exchange;
    const { limits, run } = this.#backend;
    const input = queryInput(inputSchema(operation, limits), queryOf(exchange), params);

    const value = await run(({ executor }) =>
      executor.query(operation, input, contextOf(exchange)).catch((error: unknown) => {
        throw withPlaces(error, inQuery);
      }),
    );
    headers["Content-Type"] = json;
    return { status: 200, headers, body: JSON.stringify(value) };
  }

  async #openStream(
    exchange: AuthorizedExchange,
    operation: EventStream<unknown, unknown>,
  ): Promise<ApiResponse> {
    const { request, params, scope, caller, mayContinue } = exchange;
    const { limits, prepared, streams } = this.#backend;
    const last = headerOf(request.headers, "last-event-id");
    const { fields, locate } = resumedInput(queryOf(exchange), last);
    const input = queryInput(inputSchema(operation, limits), fields, params, locate);
    // An error response, when the stream cannot open, must not have these headers.
    const headers = { ...exchange.headers, ...eventStreamHeaders };
    if (request.method === "HEAD") return { status: 200, headers, body: null };

    const { executor } = await prepared();
    const cutOff = new AbortController();
    const full = (): void => cutOff.abort();
    const sources = streams.sources({ scope, caller, over: request.signal, full, mayContinue });
    const events = await executor
      .open(operation, input, contextOf(exchange), sources)
      .catch((error: unknown) => {
        throw withPlaces(error, locate);
      });
    const body = this.#logErrors(encodeEvents(events), exchange);
    return { status: 200, headers, body, cutOff: cutOff.signal };
  }

  async #receiveCallback({ request, headers }: Exchange, params: Params): Promise<ApiResponse> {
    const { limits, callbacks } = this.#backend;
    const body = await readBytes(request, Math.min(limits.bodyBytes, maxCallbackBytes));
    const response = await callbacks.receive(params["name"] ?? "", {
      method: request.method,
      url: request.url,
      headers: headersByName(request.headers),
      body,
    });
    const { status, content_type, body: content } = response;
    // Servers of `fetch` refuse a body here, also an empty one.
    if (statusesWithoutBody.has(status)) return { status, headers, body: null };
    // A transport may pass null for what it lacks.
    if (typeof content_type === "string") headers["Content-Type"] = content_type;
    return { status, headers, body: content ?? null };
  }

  /**
   * After the response head is sent, an error cannot become a response. The adapter closes the
   * socket.
   */
  async *#logErrors(
    chunks: AsyncIterable<string>,
    exchange: Exchange,
  ): AsyncGenerator<string, void> {
    try {
      yield* chunks;
    } catch (error) {
      this.#log.failed(error, exchange);
      throw error;
    }
  }
}

/** Whether pages of other websites may call the path. */
function isVisitors(found: Match): boolean {
  return found.kind === "methods"
    ? found.visitor
    : found.kind === "route" && "visitor" in found.route;
}

/** Streams the body. Ends with an error if the caller loses access meanwhile. */
async function* chunksOf(exchange: AuthorizedExchange): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of exchange.request.chunks()) {
    await refuseIfEnded(exchange);
    yield chunk;
  }
  await refuseIfEnded(exchange);
}

/** Parses the query of an authorized request. A visitor's token is not part of the input. */
function queryOf({ request, route }: AuthorizedExchange): ReturnType<typeof parseQuery> {
  const query = parseQuery(request.query);
  if (!("visitor" in route)) return query;
  const { [tokenField]: _, ...others } = query;
  return others;
}

function contextOf(
  { scope, caller, request_id }: AuthorizedExchange,
  key: string | null = null,
): Context {
  const idempotency_key = key === null ? null : storedKey(caller, key);
  return { scope, caller, request_id, idempotency_key };
}
