/** The chat widget: its script, sessions for visitors, and the requests of their browsers. */
import type {
  ApiHandler,
  ApiRequest,
  ApiResponse,
  Exchange,
  Mountable,
  RequestHandler,
} from "../../../../src/api/index.ts";
import { apiOf } from "../../shared/server/engine.ts";
import { allowOnly, noSuchPath } from "../../shared/server/refusals.ts";
import {
  parseWidgetOptions,
  type WidgetEngine,
  type WidgetOptions,
  type WidgetSettings,
} from "./options.ts";
import { allowOrigin, isPreflight, preflightHeaders } from "./origins.ts";
import { WidgetScript } from "./script.ts";
import { VisitorSessions } from "./sessions.ts";

export type { WidgetEngine, WidgetOptions, WidgetRequest } from "./options.ts";

/** The chat widget, to mount in an application with a handler such as `expressHandler(widget)`. */
export interface WidgetMount extends Mountable {
  /** The widget handles every path below its mount point. */
  readonly paths: "all";
}

const subject = "widgetHandler";

/**
 * Returns the chat widget. Mount it like an engine: `app.use("/chat", expressHandler(widgetHandler(
 * engine)))`. A page then includes `/chat/widget.js` with `data-session-url="/chat/session"`.
 * @throws TidingsError `invalid_option` when an argument is wrong or an option is unknown;
 *   `not_configured` when the widget has not been built
 */
export function widgetHandler(engine: WidgetEngine, options: WidgetOptions = {}): WidgetMount {
  const api = apiOf(subject, engine);
  const settings = parseWidgetOptions(subject, options);
  return { api: new WidgetHandler(engine, api, settings), paths: "all" };
}

/** What a visitor's browser may call, with the token of its session. */
const visitorPath = /^\/v1\/webchat\/sessions\/[^/]+\/[a-z]+$/;

const paths = "It has /widget.js, /session and the visitor's endpoints below /v1/webchat/sessions.";

class WidgetHandler implements ApiHandler {
  readonly #api: RequestHandler;
  readonly #settings: WidgetSettings;
  readonly #script: WidgetScript;
  readonly #sessions: VisitorSessions;

  constructor(engine: WidgetEngine, api: RequestHandler, settings: WidgetSettings) {
    this.#api = api;
    this.#settings = settings;
    this.#script = new WidgetScript(subject);
    this.#sessions = new VisitorSessions(engine, api.ports.clock, settings);
  }

  readonly handle = (request: ApiRequest): Promise<ApiResponse> =>
    this.#api.answer(request, (exchange) => this.#respond(exchange));

  async #respond(exchange: Exchange): Promise<ApiResponse> {
    const { request } = exchange;
    switch (request.path) {
      case "/widget.js":
        allowOnly(["GET", "HEAD"], exchange);
        return this.#script.respond(exchange);
      case "/session":
        return this.#respondWithSession(exchange);
      default:
        if (!visitorPath.test(request.path)) throw noSuchPath(request, "The chat widget", paths);
        return this.#respondWithApi(request);
    }
  }

  async #respondWithSession(exchange: Exchange): Promise<ApiResponse> {
    const { request, headers } = exchange;
    Object.assign(headers, allowOrigin(request, this.#settings.origins, { credentials: true }));
    if (isPreflight(request)) {
      return { status: 204, headers: { ...headers, ...preflightHeaders }, body: null };
    }
    allowOnly(["POST"], exchange);
    const { session, cookie } = await this.#sessions.open(request);
    headers["Set-Cookie"] = cookie;
    headers["Content-Type"] = "application/json";
    return { status: 201, headers, body: JSON.stringify(session) };
  }

  /** The API checks the token. Pages of the allowed origins may read its response. */
  async #respondWithApi(request: ApiRequest): Promise<ApiResponse> {
    const response = await this.#api.handle(request);
    const cors = allowOrigin(request, this.#settings.origins, { credentials: false });
    const allowed = isPreflight(request) && "Access-Control-Allow-Origin" in cors;
    const preflight = allowed ? preflightHeaders : {};
    return { ...response, headers: { ...response.headers, ...cors, ...preflight } };
  }
}
