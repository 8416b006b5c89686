/**
 * Requests to the outside: webhooks, carriers, agents' actions. One call is one request on the wire: nothing is followed, retried or
 * decompressed, and what comes back is data, never a throw.
 */
import type { Destinations, Refusal } from "./destinations.ts";

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  /** Where it may go. Checked for the URL and for the very address that is connected to. */
  readonly to: Destinations;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  /** From the look-up of the name to the last byte of the response, in milliseconds. */
  readonly deadline_ms: number;
  /** How much of the response's body is kept, in bytes; what is longer is cut and the rest not read. */
  readonly most_body_bytes: number;
  /** Ends the exchange as `aborted`. */
  readonly signal?: AbortSignal;
}

/** Bytes of names and values of a response's headers, as they came; more of them is a failure. */
export const mostHeaderBytes = 16_384;

export interface HttpResponse {
  /** Of three digits, whatever they mean. */
  readonly status: number;
  /** Names in lower case; what came several times is joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Whether there was more of the body. */
  readonly truncated: boolean;
}

/** What an exchange is at, and waits for. */
export type HttpPhase = "dns" | "connect" | "tls" | "request" | "response" | "body";

export type HttpFailureCode =
  | Refusal["code"]
  /** The request can't be written, such as for a line break in a header. */
  | "request_invalid"
  /** The deadline passed: looking up, connecting, shaking hands, uploading, before the response's head, before its end. */
  | `${HttpPhase}_timeout`
  | "dns_not_found"
  | "dns_failed"
  | "connect_refused"
  | "connect_unreachable"
  | "connect_failed"
  /** The far side broke the connection off (reset), or ended it early (closed). */
  | `${Exclude<HttpPhase, "dns">}_${"reset" | "closed"}`
  /** A connection that was kept from an earlier exchange broke before the response: the far side may have heard the request or not. */
  | "kept_connection_lost"
  | "tls_expired"
  | "tls_not_yet_valid"
  | "tls_self_signed"
  | "tls_untrusted"
  | "tls_wrong_name"
  | "tls_failed"
  | "response_malformed"
  | "response_headers_too_large"
  /** Far more bytes than a response of that size needs: interim responses, chunks' overhead, blank lines without end. */
  | "response_too_long"
  | "protocol_switched"
  | "aborted";

export interface HttpAnswer extends HttpResponse {
  readonly outcome: "answered";
  /** The IP address that the socket was connected to. */
  readonly address: string;
}

export interface HttpFailure {
  readonly outcome: "failed";
  readonly code: HttpFailureCode;
  /** A sentence for people; no secrets, no addresses. */
  readonly message: string;
  /** False only when surely not a byte of the request left. */
  readonly sent: boolean;
  readonly address: string | null;
  /** What had come of the response by then; null before its head was whole. */
  readonly partial: HttpResponse | null;
}

export type HttpOutcome = HttpAnswer | HttpFailure;

export interface HttpClient {
  /** Resolves within the deadline; never rejects. */
  send(request: HttpRequest): Promise<HttpOutcome>;
  /** Closes the connections. A later `send` opens new ones. */
  close(): void;
}
