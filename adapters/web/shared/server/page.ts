/** A page: its document, its files, its session, and the API for the operators who use it. */
import * as z from "zod";
import {
  headerOf,
  readJson,
  respondWithShared,
  sharedBody,
  type ApiHandler,
  type ApiRequest,
  type ApiResponse,
  type Exchange,
  type Mountable,
  type OperatorAccess,
  type RequestHandler,
  type SharedBody,
} from "../../../../src/api/index.ts";
import { TidingsError } from "../../../../src/kernel/index.ts";
import { AccessControl } from "./access-control.ts";
import { Assets, builtPage, packageVersion } from "./assets.ts";
import { apiOf } from "./engine.ts";
import { dataHeaders, documentHeaders } from "./headers.ts";
import { documentOf, refusalDocument } from "./html.ts";
import { MediaFetcher } from "./media.ts";
import { parsePageOptions, type PageOptions, type PageSettings } from "./options.ts";
import { allowOnly, noSuchPath } from "./refusals.ts";
import { refuseForeign } from "./same-origin.ts";

/** A page to mount in an application, with a handler such as `expressHandler(page)`. */
export interface PageMount extends Mountable {
  /** Handles the requests of the page. */
  readonly api: ApiHandler;
  /** The page handles every path below its mount point. */
  readonly paths: "all";
  /**
   * What a person enters to sign in. Print it once. All pages of an engine share it. Undefined if
   * the page has `authorize`.
   */
  readonly token: string | undefined;
}

/** What distinguishes a page from others. */
export interface PageKind {
  /** The name of the function that makes the page, for errors: `inboxHandler`. */
  readonly subject: string;
  /** The name of the page's folder. */
  readonly name: string;
  /** The title of the document. */
  readonly title: string;
  /** The folder with the built files of the page. By default the one in the package. */
  readonly folder?: URL;
}

/** @throws TidingsError `invalid_option`, or `not_configured` when the page has not been built */
export function mountPage(engine: Mountable, options: PageOptions, kind: PageKind): PageMount {
  const api = apiOf(kind.subject, engine);
  const handler = new PageHandler(api, parsePageOptions(kind.subject, options), kind);
  return { api: handler, paths: "all", token: handler.token };
}

const maxSignInBytes = 1_024;
const eventListSchema = z.object({ data: z.array(z.object({ id: z.string() })) });
const mediaPath = /^\/media\/([^/]{1,100})\/(\d{1,2})$/;

class PageHandler implements ApiHandler {
  readonly token: string | undefined;
  readonly #api: RequestHandler;
  readonly #settings: PageSettings;
  readonly #kind: PageKind;
  readonly #assets: Assets;
  readonly #document: SharedBody;
  readonly #version: string;
  readonly #documentHeaders: Readonly<Record<string, string>>;
  readonly #media: MediaFetcher;
  readonly #accessControl: AccessControl;

  constructor(api: RequestHandler, settings: PageSettings, kind: PageKind) {
    this.#api = api;
    this.#settings = settings;
    this.#kind = kind;
    // The files come before the version. A bundled server has neither, and only the error about the
    // files says why.
    this.#assets = new Assets(kind.subject, kind.folder ?? builtPage(kind.name));
    this.#version = packageVersion();
    this.#document = sharedBody(documentOf(kind.title, this.#assets));
    this.#documentHeaders = documentHeaders(settings);
    this.#media = new MediaFetcher(api.ports);
    this.#accessControl = new AccessControl(api, kind.subject, settings.authorize);
    this.token = this.#accessControl.local?.token;
  }

  readonly handle = (request: ApiRequest): Promise<ApiResponse> =>
    this.#api.answer(request, (exchange) => {
      Object.assign(exchange.headers, dataHeaders);
      return this.#respond(exchange);
    });

  async #respond(exchange: Exchange): Promise<ApiResponse> {
    const { request } = exchange;
    const { path } = request;
    if (path === "" || path === "/") return this.#respondWithDocument(exchange);
    if (path.startsWith("/assets/")) return this.#respondWithAsset(exchange);
    const media = mediaPath.exec(path);
    const isApi = /^\/v1(?:\/|$)/.test(path);
    if (path !== "/session" && media === null && !isApi) return this.#respondWithPlace(exchange);
    this.#accessControl.refuseRemote(request);
    refuseForeign(request);
    if (path === "/session") return this.#respondWithSession(exchange);
    if (media !== null) return this.#respondWithMedia(exchange, media);
    return this.#api.respond(exchange, await this.#accessControl.accessOf(request));
  }

  #respondWithDocument(exchange: Exchange): ApiResponse {
    const { request, headers } = exchange;
    const [fullPath = "", ...query] = request.url.split("?");
    // An HTTP handler that gets every request also passes on those outside its mount point. They
    // have an empty path.
    if (request.path === "" && fullPath !== (request.basePath ?? fullPath)) {
      throw noSuchPathOfPage(request);
    }
    allowOnly(["GET", "HEAD"], exchange);
    Object.assign(headers, this.#documentHeaders, { "Cache-Control": "no-cache" });
    if (!fullPath.endsWith("/")) {
      // A relative reference, because a proxy may have changed the path.
      const last = fullPath.slice(fullPath.lastIndexOf("/") + 1);
      headers["Location"] = [`./${last}/`, ...query].join("?");
      return { status: 307, headers, body: null };
    }
    const html = "text/html; charset=utf-8";
    try {
      this.#accessControl.refuseRemote(request);
    } catch (error) {
      if (!(error instanceof TidingsError)) throw error;
      const { title } = this.#kind;
      headers["Content-Type"] = html;
      const body = refusalDocument(title, error.detail, this.#assets);
      return { status: error.status, headers, body };
    }
    return respondWithShared(exchange, this.#document, html);
  }

  /**
   * Redirects a browser from an address without the `#` to that place in the page. If there is no
   * such place, the page says so. Programs get an error, because they have no use for the page.
   */
  #respondWithPlace({ request, headers }: Exchange): ApiResponse {
    const { method, path, query } = request;
    const isRead = method === "GET" || method === "HEAD";
    const isByPerson = headerOf(request.headers, "accept")?.includes("text/html") === true;
    if (!isRead || !isByPerson) throw noSuchPathOfPage(request);
    // The reference is relative, because a proxy may have changed the path. So it cannot lead to
    // another origin either.
    const up = "../".repeat(path.split("/").length - 2);
    const place = query === "" ? path : `${path}?${query}`;
    headers["Location"] = `./${up}${new URL(`#${place}`, "about:blank").hash}`;
    headers["Cache-Control"] = "no-cache";
    return { status: 307, headers, body: null };
  }

  async #respondWithAsset(exchange: Exchange): Promise<ApiResponse> {
    const { request, headers } = exchange;
    allowOnly(["GET", "HEAD"], exchange);
    const response = await this.#assets.respond(request, request.path.slice(1), headers);
    if (response === undefined) throw noSuchPathOfPage(request);
    return response;
  }

  async #respondWithSession(exchange: Exchange): Promise<ApiResponse> {
    const { request, headers } = exchange;
    const { local } = this.#accessControl;
    if (local !== undefined && request.method === "POST") {
      const { token } = await readJson(request, { maxBytes: maxSignInBytes, maxDepth: 1 });
      headers["Set-Cookie"] = await local.signIn(request, token);
      return { status: 204, headers, body: null };
    }
    allowOnly(local === undefined ? ["GET", "HEAD"] : ["GET", "HEAD", "POST"], exchange);
    const access = await this.#accessControl.accessOf(request);
    const { scope, operator, may } = access;
    const { avatarOrigins, texts, locale } = this.#settings;
    const session = {
      operator: { ...operator, avatar_url: operator.avatar_url ?? null },
      ...scope,
      may,
      last_event_id: await this.#newestEvent(exchange, access),
      avatar_origins: avatarOrigins,
      version: this.#version,
      texts,
      locale,
    };
    headers["Content-Type"] = "application/json";
    return { status: 200, headers, body: JSON.stringify(session) };
  }

  /**
   * Returns the id of the newest event. The page's stream of events begins after it, so the page
   * need not read its data again when the stream has begun. Null if there is no event, or none that
   * the operator may read now.
   */
  async #newestEvent(exchange: Exchange, access: OperatorAccess): Promise<string | null> {
    const newest = apiRead(exchange.request, "/v1/events", "limit=1");
    try {
      const { body } = await this.#api.respond(
        { ...exchange, request: newest, headers: {} },
        access,
      );
      const [event] = typeof body === "string" ? eventListSchema.parse(JSON.parse(body)).data : [];
      return event?.id ?? null;
    } catch (error) {
      if (error instanceof TidingsError) return null;
      throw error;
    }
  }

  /** Reads the message as the operator, so that scopes, account and rate limit apply. */
  async #respondWithMedia(
    exchange: Exchange,
    [, id = "", index]: RegExpExecArray,
  ): Promise<ApiResponse> {
    const { request, headers } = exchange;
    allowOnly(["GET", "HEAD"], exchange);
    const access = await this.#accessControl.accessOf(request);
    const read = apiRead(request, `/v1/messages/${id}`);
    const message = await this.#api.respond({ ...exchange, request: read }, access);
    const { account_id } = access.scope;
    const file = await this.#media.fetch(account_id, message, Number(index), request.signal);
    return { ...file, headers: { ...headers, ...file.headers } };
  }
}

/** The request of a read that the mount itself makes, in order to respond to a page's request. */
function apiRead(
  { url, basePath, headers, signal }: ApiRequest,
  path: string,
  query = "",
): ApiRequest {
  const empty = new Uint8Array();
  return {
    method: "GET",
    url,
    path,
    query,
    basePath,
    headers,
    signal,
    body: () => Promise.resolve({ kind: "bytes", bytes: empty }),
    async *chunks() {},
  };
}

const noSuchPathOfPage = (request: ApiRequest): TidingsError =>
  noSuchPath(request, "This page", "The address of the page itself ends with a slash.");
