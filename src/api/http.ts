import type { RequestId } from "../kernel/index.ts";

/**
 * Requests and responses as plain values, so that any HTTP server can mount the handler cheaply.
 */
export interface ApiRequest {
  readonly method: string;
  /** The path and query of the client's request, including the mount point. */
  readonly url: string;
  /** The path below the mount point, still percent-encoded, without the query: `/v1/messages`. */
  readonly path: string;
  /** The text after the `?`, or an empty string. */
  readonly query: string;
  /** Alternating names and values, with repeated headers, like Node's `rawHeaders`. */
  readonly headers: readonly string[];
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

/**
 * `parsed` is the result of an earlier body parser. Its bytes are present only if that parser kept
 * them.
 */
export type ApiBody =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "parsed"; readonly value: unknown; readonly bytes: Uint8Array | undefined };

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * A stream's next chunk is pulled only after the client has taken the last. The response to HEAD
   * has the body of the GET, and the server omits it.
   */
  readonly body: string | Uint8Array | AsyncIterable<string> | null;
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
  /** Never rejects. Every error becomes a response. */
  handle(request: ApiRequest): Promise<ApiResponse>;
}

/** The part of an engine that the HTTP adapters mount. */
export interface Mountable {
  readonly api: ApiHandler;
}

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

/** All headers by lower-case name, with repeated values joined. */
export function headersByName(headers: readonly string[]): Record<string, string> {
  const names = new Set(headers.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase()));
  return Object.fromEntries([...names].map((name) => [name, headerOf(headers, name) ?? ""]));
}
