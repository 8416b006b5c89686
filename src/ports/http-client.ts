/**
 * Outgoing HTTP requests: webhooks and carriers. One call sends one request: the client does not
 * follow redirects, retry or decompress. It returns failures and never throws.
 */
import type { DestinationRefusal, Destinations } from "./destinations.ts";

/** A request to send. */
export interface HttpRequest {
  /** The HTTP method. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The absolute http or https URL. */
  readonly url: string;
  /** The allowed destinations. The client checks the URL and the address that it connects to. */
  readonly to: Destinations;
  /** The headers by name. The client adds `Host`, `Content-Length` and `Accept-Encoding`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the body. Null for none. */
  readonly body: Uint8Array | null;
  /** Time from the DNS lookup to the last byte of the response, in milliseconds. */
  readonly deadline_ms: number;
  /** Maximum length of the response body, in bytes. A longer body is truncated and not read on. */
  readonly max_body_bytes: number;
  /** Whether the request gets a connection of its own. By default, the client may reuse one. */
  readonly own_connection?: boolean | undefined;
  /** Fails the exchange with `aborted` when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** Maximum bytes of the names and values of a response's headers. More of them is a failure. */
export const maxHeaderBytes = 16_384;

/** The response to a request. A redirect is a response too. */
export interface HttpResponse {
  /** The HTTP status: three digits. */
  readonly status: number;
  /** The headers by lower-case name. Repeated headers are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the body, at most `max_body_bytes` of the request. */
  readonly body: Uint8Array;
  /** Whether the body was longer than the maximum. */
  readonly truncated: boolean;
}

/** The phase of an exchange. */
export type HttpPhase = "dns" | "connect" | "tls" | "request" | "response" | "body";

/** Why an exchange failed. A code names the phase in which it happened. */
export type HttpFailureCode =
  | DestinationRefusal["code"]
  /** The request cannot be written, for example because a header contains a line break. */
  | "request_invalid"
  /** The deadline passed in this phase. `response` waits for the head, `body` for the end. */
  | `${HttpPhase}_timeout`
  | "dns_not_found"
  | "dns_failed"
  | "connect_refused"
  | "connect_unreachable"
  | "connect_failed"
  /** The remote reset the connection, or closed it early. */
  | `${Exclude<HttpPhase, "dns">}_${"reset" | "closed"}`
  /**
   * A connection kept from an earlier exchange broke before the response. The remote may or may not
   * have received the request.
   */
  | "kept_connection_lost"
  | "tls_expired"
  | "tls_not_yet_valid"
  | "tls_self_signed"
  | "tls_untrusted"
  | "tls_wrong_name"
  | "tls_failed"
  | "response_malformed"
  | "response_headers_too_large"
  /**
   * The response used far more bytes than its size needs: interim responses, chunk overhead or
   * blank lines.
   */
  | "response_too_long"
  | "protocol_switched"
  | "aborted";

/** The remote responded, with any status. */
export interface HttpAnswer extends HttpResponse {
  /** `answered`: there is a response. */
  readonly outcome: "answered";
  /** The IP address of the remote. */
  readonly address: string;
}

/** The exchange failed before the end of the response. */
export interface HttpFailure {
  /** `failed`: there is no complete response. */
  readonly outcome: "failed";
  /** Why the exchange failed. */
  readonly code: HttpFailureCode;
  /** A message for people, without secrets or addresses. */
  readonly message: string;
  /** False only if certainly no byte of the request was sent. */
  readonly sent: boolean;
  /** The IP address of the remote. Null if no connection was made. */
  readonly address: string | null;
  /** The part of the response received so far. Null before its head is complete. */
  readonly partial: HttpResponse | null;
}

/** The outcome of an exchange: a response or a failure. */
export type HttpOutcome = HttpAnswer | HttpFailure;

/**
 * Sends the requests of webhooks and of carriers' adapters. `httpClient()` of `tidings/http-client`
 * makes one.
 */
export interface HttpClient {
  /** Sends one request. Resolves within the deadline; never rejects. */
  send(request: HttpRequest): Promise<HttpOutcome>;
  /** Closes all connections. A later `send` opens new ones. */
  close(): void;
}
