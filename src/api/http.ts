/**
 * HTTP as the handler sees it: plain values, so that any server can be mounted over it without building objects that
 * nobody reads.
 */
export interface ApiRequest {
  readonly method: string;
  /** Path and query as the client called it, above the mount point too. */
  readonly url: string;
  /** Below the mount point, percent-encoded as it came, without the query: `/v1/messages`. */
  readonly path: string;
  /** What follows the `?`; empty when nothing does. */
  readonly query: string;
  /** Names and values in turn, repeated ones included, like node's `rawHeaders`. */
  readonly headers: readonly string[];
  /**
   * Reads the body, once. What a body parser left is taken as it is.
   * @throws TidingsError `body_too_large` past `limit` bytes; `malformed_request` when the client leaves half-way;
   *   `invalid_option` when somebody read the body and kept nothing
   */
  body(limit: number): Promise<ApiBody>;
  /**
   * The body's bytes as they come, once, instead of `body`. Whoever stops early leaves the rest unread.
   * @throws TidingsError as `body` does, `body_too_large` excepted
   */
  chunks(): AsyncIterable<Uint8Array>;
  /** Aborts when the client has left. Made when first asked for. */
  readonly signal: AbortSignal;
}

/** `parsed` is what a body parser before us made of it; its bytes are there only where it kept them. */
export type ApiBody =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "parsed"; readonly value: unknown; readonly bytes: Uint8Array | undefined };

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Of a stream, the next chunk is pulled only when the client has taken the last. A HEAD request's answer has the body
   * of its GET, which the server leaves out.
   */
  readonly body: string | Uint8Array | AsyncIterable<string> | null;
}

/** The whole `/v1` surface as one function. */
export interface ApiHandler {
  /** Never rejects: every failure is an answer. */
  handle(request: ApiRequest): Promise<ApiResponse>;
}

/** What the adapters mount: an engine, as far as they see it. */
export interface Mountable {
  readonly api: ApiHandler;
}

/**
 * The value of a header; of a repeated one all values joined by a comma (RFC 9110, section 5.3), which a header that
 * allows one value then refuses, whatever server it came through. `name` is in lower case.
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

/** All headers by name in lower case, repeated ones joined. */
export function headersByName(headers: readonly string[]): Record<string, string> {
  const names = new Set(headers.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase()));
  return Object.fromEntries([...names].map((name) => [name, headerOf(headers, name) ?? ""]));
}
