/** A page in the browser over an engine: its files, its session and the API for its operators. */
import * as z from "zod";
import {
  type ApiHandler,
  type ApiRequest,
  type ApiResponse,
  type Exchange,
  headersByName,
  type Mountable,
  type OperatorAccess,
  readJson,
  type RequestHandler,
  respondWithShared,
  type SharedBody,
  sharedBody,
} from "../../../../src/api/index.ts";
import { TidingsError, withDeadline } from "../../../../src/kernel/index.ts";
import { Assets, builtPage, packageVersion } from "./assets.ts";
import { dataHeaders, pageHeaders, refuseForeign, refuseOtherPerson } from "./headers.ts";
import { documentOf, refusalDocument } from "./html.ts";
import { LocalAccess, refuseRemote } from "./local-access.ts";
import { MediaFetcher } from "./media.ts";
import {
  type Authorize,
  type CheckedAccess,
  type PageAccess,
  type PageOptions,
  type PageSettings,
  type PageRequest,
  parseAccess,
  parsePageOptions,
} from "./options.ts";
import { allowOnly, apiOf } from "./requests.ts";

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
  /** The function that makes the page, for messages: `inboxHandler`. */
  readonly subject: string;
  /** The name of the page's folder. */
  readonly name: string;
  /** The title of the document. */
  readonly title: string;
  /** The folder of the built page. The package's own by default. */
  readonly folder?: URL;
}

/** @throws TidingsError `invalid_option`, or `not_configured` when the page has not been built */
export function mountPage(engine: Mountable, options: PageOptions, kind: PageKind): PageMount {
  const api = apiOf(kind.subject, engine);
  const handler = new PageHandler(api, parsePageOptions(kind.subject, options), kind);
  return { api: handler, paths: "all", token: handler.token };
}

const maxSignInBytes = 1_024;
/** How long `authorize` may take, in milliseconds. */
const maxAuthorizeMs = 10_000;
const newestSchema = z.object({ data: z.array(z.object({ id: z.string() })) });
const mediaPath = /^\/media\/([^/]{1,100})\/(\d{1,2})$/;

class PageHandler implements ApiHandler {
  readonly token: string | undefined;
  readonly #api: RequestHandler;
  readonly #settings: PageSettings;
  readonly #kind: PageKind;
  readonly #assets: Assets;
  readonly #document: SharedBody;
  readonly #version: string;
  readonly #pageHeaders: Readonly<Record<string, string>>;
  readonly #media: MediaFetcher;
  /** The sign-in of this machine. Undefined if the host application decides. */
  readonly #local: LocalAccess | undefined;

  constructor(api: RequestHandler, settings: PageSettings, kind: PageKind) {
    this.#api = api;
    this.#settings = settings;
    this.#kind = kind;
    // Before the version. In a bundled server both are missing, and only this error says why.
    this.#assets = new Assets(kind.subject, kind.folder ?? builtPage(kind.name));
    this.#version = packageVersion();
    this.#document = sharedBody(documentOf(kind.title, this.#assets));
    this.#pageHeaders = pageHeaders(settings);
    this.#media = new MediaFetcher(api.ports);
    this.#local = settings.authorize === undefined ? LocalAccess.of(api) : undefined;
    this.token = this.#local?.token;
  }

  readonly handle = (request: ApiRequest): Promise<ApiResponse> =>
    this.#api.answer(request, (exchange) => {
      Object.assign(exchange.headers, dataHeaders);
      return this.#respond(exchange);
    });

  async #respond(exchange: Exchange): Promise<ApiResponse> {
    const { request } = exchange;
    const { path } = request;
    if (path === "" || path === "/") return this.#respondWithPage(exchange);
    if (path.startsWith("/assets/")) return this.#respondWithAsset(exchange);
    const media = mediaPath.exec(path);
    const isApi = /^\/v1(?:\/|$)/.test(path);
    if (path !== "/session" && media === null && !isApi) throw noSuchPath(request);
    if (this.#local !== undefined) refuseRemote(request, this.#kind.subject);
    refuseForeign(request);
    if (path === "/session") return this.#respondWithSession(exchange);
    if (media !== null) return this.#respondWithMedia(exchange, media);
    return this.#api.respondTo(exchange, await this.#access(request));
  }

  #respondWithPage(exchange: Exchange): ApiResponse {
    const { request, headers } = exchange;
    const [asked = "", ...query] = request.url.split("?");
    // A handler that gets every request passes one outside its mount point with an empty path.
    if (request.path === "" && asked !== (request.basePath ?? asked)) throw noSuchPath(request);
    allowOnly(["GET", "HEAD"], exchange);
    Object.assign(headers, this.#pageHeaders, { "Cache-Control": "no-cache" });
    if (!asked.endsWith("/")) {
      // A relative reference, because a proxy may have changed the path.
      const last = asked.slice(asked.lastIndexOf("/") + 1);
      headers["Location"] = [`./${last}/`, ...query].join("?");
      return { status: 307, headers, body: null };
    }
    const html = "text/html; charset=utf-8";
    try {
      if (this.#local !== undefined) refuseRemote(request, this.#kind.subject);
    } catch (error) {
      if (!(error instanceof TidingsError)) throw error;
      const { title } = this.#kind;
      headers["Content-Type"] = html;
      const body = refusalDocument(title, error.detail, this.#assets);
      return { status: error.status, headers, body };
    }
    return respondWithShared(exchange, this.#document, html);
  }

  async #respondWithAsset(exchange: Exchange): Promise<ApiResponse> {
    const { request, headers } = exchange;
    allowOnly(["GET", "HEAD"], exchange);
    const found = await this.#assets.respond(request, request.path.slice(1), headers);
    if (found === undefined) throw noSuchPath(request);
    return found;
  }

  async #respondWithSession(exchange: Exchange): Promise<ApiResponse> {
    const { request, headers } = exchange;
    if (this.#local !== undefined && request.method === "POST") {
      const { token } = await readJson(request, maxSignInBytes, 1);
      headers["Set-Cookie"] = await this.#local.signIn(request, token);
      return { status: 204, headers, body: null };
    }
    allowOnly(this.#local === undefined ? ["GET", "HEAD"] : ["GET", "HEAD", "POST"], exchange);
    const access = await this.#access(request);
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
   * Returns the id of the newest event, after which the page follows the events. So it need not
   * read again what it shows once its stream has begun. Null if there is no event, or none that the
   * operator may read now.
   */
  async #newestEvent(exchange: Exchange, access: OperatorAccess): Promise<string | null> {
    const newest = readOf(exchange.request, "/v1/events", "limit=1");
    try {
      const { body } = await this.#api.respondTo(
        { ...exchange, request: newest, headers: {} },
        access,
      );
      const [event] = typeof body === "string" ? newestSchema.parse(JSON.parse(body)).data : [];
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
    const access = await this.#access(request);
    const message = readOf(request, `/v1/messages/${id}`);
    const found = await this.#api.respondTo({ ...exchange, request: message }, access);
    const { account_id } = access.scope;
    const file = await this.#media.fetch(account_id, found, Number(index), request.signal);
    return { ...file, headers: { ...headers, ...file.headers } };
  }

  /**
   * @throws TidingsError `missing_session`, `not_signed_in`, `overloaded`
   * @throws the errors of `authorize`
   */
  async #access(request: ApiRequest): Promise<OperatorAccess> {
    const access = await this.#ask(request);
    if (access !== null) {
      refuseOtherPerson(request, access);
      return access;
    }
    if (this.#local === undefined) {
      throw new TidingsError(
        "not_signed_in",
        "Sign in to the application that this page belongs to, then open the page again. If you " +
          "are signed in already, you have no access to this page.",
      );
    }
    throw new TidingsError(
      "missing_session",
      "Enter the token that the server printed when it started. To let people in by the sign-in " +
        `of your application, set authorize: ${this.#kind.subject}(engine, { authorize }).`,
    );
  }

  async #ask(request: ApiRequest): Promise<OperatorAccess | null> {
    const { authorize } = this.#settings;
    const given =
      authorize === undefined
        ? (this.#local?.accessOf(request) ?? null)
        : await this.#askHost(authorize, request);
    if (given === null) return null;
    const { account_id, mode, operator, may } = given;
    return { scope: { account_id, mode }, operator, may, renew: () => this.#ask(request) };
  }

  async #askHost(authorize: Authorize, request: ApiRequest): Promise<CheckedAccess | null> {
    const { method, url, headers, remoteAddress, original } = request;
    const asked: PageRequest = {
      method,
      url,
      headers: headersByName(headers),
      remoteAddress,
      original,
    };
    const { clock } = this.#api.ports;
    const work = async (): Promise<PageAccess | null> => authorize(asked);
    const access = await withDeadline(clock, maxAuthorizeMs, work, authorizesTooSlowly);
    return access === null ? null : parseAccess(this.#kind.subject, access);
  }
}

function authorizesTooSlowly(): never {
  throw new TidingsError(
    "overloaded",
    `authorize did not answer within ${maxAuthorizeMs / 1_000} seconds.`,
    { detail: "The application took too long to find out who you are. Try again." },
  );
}

/** A read that the mount makes itself, for a request of the page. */
function readOf(
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

const maxQuotedPath = 200;

function noSuchPath({ url }: ApiRequest): TidingsError {
  const [asked = ""] = url.split("?");
  const quoted = asked.slice(0, maxQuotedPath);
  const text = `This page has no path ${quoted}. The address of the page itself ends with a slash.`;
  return new TidingsError("not_found", text);
}
