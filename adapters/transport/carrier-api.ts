/** HTTP requests to carriers, and what their responses mean for a message. */
import { dayMs, toUri } from "../../src/kernel/index.ts";
import {
  destinations,
  hostOf,
  permanentErrorCodes,
  publicOnly,
  type CarrierError,
  type Destinations,
  type HttpClient,
  type HttpOutcome,
  type HttpResponse,
  type SendAnswer,
} from "../../src/ports/index.ts";
import { carrierError } from "./carrier-errors.ts";

/**
 * The deadline of a request, in milliseconds. It is shorter than the engine's deadline for an
 * attempt, so that a slow carrier gives a failed request rather than an attempt that timed out.
 */
const deadlineMs = 20_000;
const maxBodyBytes = 262_144;
/** The longest retry-after that is applied. */
const maxRetryAfterMs = dayMs;

/** Options of `carrierApi()`. */
export interface CarrierApiOptions {
  readonly http: HttpClient;
  /** The URL of the carrier's API. Undefined means `defaultUrl`, which is public. */
  readonly apiUrl: string | undefined;
  readonly defaultUrl: string;
  readonly authorization: string;
}

/** One request to a carrier. */
export interface CarrierRequest {
  readonly method: "GET" | "POST";
  /** Path and query below the API's URL. */
  readonly path: string;
  readonly contentType?: string;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** Sends a request to a carrier. */
export type CarrierApi = (request: CarrierRequest) => Promise<HttpOutcome>;

/** Returns a function that sends requests to a carrier's API. */
export function carrierApi({
  http,
  apiUrl,
  defaultUrl,
  authorization,
}: CarrierApiOptions): CarrierApi {
  const base = (apiUrl ?? defaultUrl).replace(/\/+$/, "");
  const to = apiUrl === undefined ? publicOnly : onlyHostOf(apiUrl);
  return ({ method, path, contentType, body, signal }) =>
    http.send({
      method,
      url: `${base}${path}`,
      to,
      headers: {
        authorization,
        accept: "application/json",
        ...(contentType === undefined ? {} : { "content-type": contentType }),
      },
      body: body === undefined ? null : new TextEncoder().encode(body),
      deadline_ms: deadlineMs,
      max_body_bytes: maxBodyBytes,
      ...(signal === undefined ? {} : { signal }),
    });
}

/** Allows the host of a URL that the host application configured, even at a private address. */
function onlyHostOf(apiUrl: string): Destinations {
  const url = new URL(apiUrl);
  return destinations({ http: url.protocol === "http:", allow: [hostOf(url)] });
}

/** Returns a media URL in the form that carriers accept: a normalized URI without a fragment. */
export function strictMediaUrl(url: string): string {
  return toUri(URL.parse(url)?.href ?? url).replace(/#.*/, "");
}

/**
 * How to read the bodies of a carrier's responses. A body is the parsed JSON, or undefined when it
 * is not JSON or is incomplete.
 */
export interface ResponseReader {
  /** Returns the carrier's id of an accepted message. */
  readonly idOf: (body: unknown) => string | undefined;
  /** Returns the carrier's reason for a refusal. */
  readonly errorOf: (body: unknown) => CarrierError;
}

/**
 * Returns what the outcome of a send request means. A 4xx status means that the message was not
 * sent. Everything that leaves this open is ambiguous: 5xx, redirects, 408, a success without a
 * readable id, a connection that broke after the first byte was written.
 */
export function sendAnswer(outcome: HttpOutcome, reader: ResponseReader): SendAnswer {
  if (outcome.outcome === "answered") return answerIn(outcome, jsonOf(outcome), reader);
  const { code, sent, partial } = outcome;
  if (partial !== null) return answerIn(partial, undefined, reader);
  if (sent) return ambiguous(code);
  const error = carrierError("carrier_unavailable", code);
  return { outcome: "rejected", error, permanent: false };
}

function answerIn(
  response: HttpResponse,
  body: unknown,
  { idOf, errorOf }: ResponseReader,
): SendAnswer {
  const { status } = response;
  if (status >= 200 && status < 300) {
    const provider_message_id = idOf(body);
    return provider_message_id === undefined
      ? ambiguous(`http_${status}`)
      : { outcome: "accepted", provider_message_id };
  }
  if (status < 400 || status >= 500 || status === 408) return ambiguous(`http_${status}`);
  const error = errorForStatus(status, errorOf(body));
  const retry_after_ms = retryAfter(response);
  // A carrier that gives no known reason would refuse the message again. Wrong credentials are
  // temporary: they are not the message's fault.
  const permanent = permanentErrorCodes.has(error.code) || error.code === "unknown";
  return {
    outcome: "rejected",
    error,
    permanent,
    ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
  };
}

function errorForStatus(status: number, error: CarrierError): CarrierError {
  const provider_code = error.provider_code ?? `http_${status}`;
  if (status === 429) return carrierError("throttled", provider_code);
  const isUnauthorized = error.code === "unknown" && (status === 401 || status === 403);
  return isUnauthorized ? carrierError("unauthorized", provider_code) : { ...error, provider_code };
}

function ambiguous(provider_code: string | undefined): SendAnswer {
  // Not `answer_lost`: that code makes a look-up wait for the end of the call, and this call is
  // over.
  return {
    outcome: "ambiguous",
    error: { ...carrierError("unknown", provider_code), message: "The carrier's answer was lost." },
  };
}

/** Reads only a number of seconds. A date would be by the carrier's clock. */
function retryAfter({ headers }: HttpResponse): number | undefined {
  const text = headers["retry-after"] ?? "";
  return /^\d{1,9}$/.test(text) ? Math.min(Number(text) * 1_000, maxRetryAfterMs) : undefined;
}

/** Returns the JSON of a complete response, or undefined. */
export function jsonOf(outcome: HttpOutcome): unknown {
  if (outcome.outcome === "failed" || outcome.truncated) return undefined;
  return parseJson(outcome.body);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Returns the value of a JSON text in UTF-8, or undefined if it is not one. */
export function parseJson(json: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(json));
  } catch {
    return undefined;
  }
}
