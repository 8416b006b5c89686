import type { RequestId } from "../kernel/index.ts";

/**
 * An HTTP request as a plain value, so that any HTTP server can mount the handler cheaply. The
 * adapters of Express, Koa, Node and fetch make it.
 */
export interface ApiRequest {
  /** The HTTP method, in upper case. */
  readonly method: string;
  /** The path and query of the client's request, including the mount point. */
  readonly url: string;
  /** The path below the mount point, still percent-encoded, without the query: `/v1/messages`. */
  readonly path: string;
  /** The text after the `?`, or an empty string. */
  readonly query: string;
  /**
   * The base path that the HTTP adapter was configured with. Undefined if the framework passes on
   * only requests below the mount point.
   */
  readonly basePath?: string | undefined;
  /** Alternating names and values, with repeated headers, like Node's `rawHeaders`. */
  readonly headers: readonly string[];
  /**
   * The IP address at the other end of the connection: the client's, or that of the last proxy.
   * Undefined if the server does not know it. Headers never change it.
   */
  readonly remoteAddress?: string | undefined;
  /**
   * The request of the framework: Express's request, Koa's context, Node's message or the `Request`
   * of `fetch`.
   */
  readonly original?: unknown;
  /**
   * Reads the body. Call it once. If a body parser ran before, returns its result.
   * @throws TidingsError `body_too_large` past `limit` bytes; `malformed_request` when the client
   *   disconnects early; `invalid_option` when a body parser consumed the body and kept nothing
   */
  body(limit: number): Promise<ApiBody>;
  /**
   * Streams the body's bytes, as an alternative to `body`. A caller that stops early leaves the
   * rest unread.
   * @throws TidingsError as `body` does, except `body_too_large`
   */
  chunks(): AsyncIterable<Uint8Array>;
  /** Aborts when the client disconnects. Created at first use. */
  readonly signal: AbortSignal;
}

/** The body of a request: its bytes, or the result of an earlier body parser. */
export type ApiBody =
  | {
      /** `bytes`: nothing parsed the body before. */
      readonly kind: "bytes";
      /** The bytes of the body. Empty if there is no body. */
      readonly bytes: Uint8Array;
    }
  | {
      /** `parsed`: a body parser parsed the body before. */
      readonly kind: "parsed";
      /** The result of the parser: an object, a string or bytes. */
      readonly value: unknown;
      /** The bytes of the body. Undefined if the parser did not keep them. */
      readonly bytes: Uint8Array | undefined;
    };

/** An HTTP response as a plain value. */
export interface ApiResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The headers by name. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The body. Null for none. A stream's next chunk is pulled only after the client has taken the
   * last. The response to HEAD has the body of the GET, and the server omits it.
   */
  readonly body: string | Uint8Array | AsyncIterable<string> | null;
  /** Aborts when the connection must be closed because the client takes a stream too slowly. */
  readonly cutOff?: AbortSignal;
}

/** A request and the beginnings of its response. */
export interface Exchange {
  readonly request: ApiRequest;
  readonly request_id: RequestId;
  /** The response's headers. Each step adds its own, so an error response has those so far. */
  readonly headers: Record<string, string>;
}

/** Handles all requests of `/v1`. */
export interface ApiHandler {
  /** Handles one request. Never rejects: every error becomes a response. */
  handle(request: ApiRequest): Promise<ApiResponse>;
}

/** What the HTTP adapters mount: an engine, or a page over an engine. */
export interface Mountable {
  /** Handles the requests. */
  readonly api: ApiHandler;
  /**
   * The paths below the mount point that `api` handles: `v1` those of the REST API, `all` every
   * path. Express and Koa get the other requests.
   * @default "v1"
   */
  readonly paths?: "v1" | "all";
}

/** Tells proxies and compressing middleware not to collect what is sent, which would delay it. */
export const unbuffered = {
  "Cache-Control": "no-store, no-transform",
  "X-Accel-Buffering": "no",
} as const;

/**
 * Returns the value of a header. Values of a repeated header are joined by commas (RFC 9110,
 * section 5.3). A header that allows one value then fails its check on every server. `name` is in
 * lower case.
 */
export function headerOf(headers: readonly string[], name: string): string | undefined {
  let joined: string | undefined;
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const each = headers[i];
    if (each?.length !== name.length || each.toLowerCase() !== name) continue;
    const value = headers[i + 1] ?? "";
    joined = joined === undefined ? value : `${joined}, ${value}`;
  }
  return joined;
}

/** Rounds up to whole seconds, so that a client that waits this long is not too early. */
export const seconds = (ms: number): number => Math.max(0, Math.ceil(ms / 1000));
