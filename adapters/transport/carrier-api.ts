/** HTTP requests to carriers, and what their responses mean for a message. */
import {
  type CarrierError,
  type CarrierErrorCode,
  destinations,
  type Destinations,
  hostOf,
  type HttpClient,
  type HttpOutcome,
  type HttpResponse,
  permanentReasons,
  publicOnly,
  type SendAnswer,
} from "../../src/ports/index.ts";
import type * as z from "zod";
import { dayMs, option, portOption, toUri } from "../../src/kernel/index.ts";

/**
 * The message of each error code. Carriers' own messages are not passed on, because they quote
 * phone numbers and message texts.
 */
export const carrierErrorMessages: Readonly<Record<CarrierErrorCode, string>> = {
  invalid_destination: "The destination is not a reachable number.",
  landline: "The destination is a landline.",
  unreachable: "The handset cannot be reached.",
  filtered: "The carrier filtered the message.",
  opted_out: "The recipient opted out at the carrier.",
  unsupported_channel: "The destination does not support this kind of message.",
  unsupported_media: "The destination does not support this kind of media.",
  invalid_sender: "The carrier does not know the sender.",
  content_rejected: "The carrier refused the content.",
  throttled: "The carrier asks to slow down.",
  carrier_unavailable: "The carrier is not available.",
  unauthorized: "The carrier refused the credentials.",
  answer_lost: "The carrier's answer was lost.",
  unknown: "The carrier gave no reason.",
};

/** Maps a carrier's error codes to the engine's. */
export type ErrorCodeMap = ReadonlyMap<string, CarrierErrorCode>;

/** Builds a map from a table that lists the carrier's codes for each of the engine's. */
export function errorCodeMap(
  table: Partial<Record<CarrierErrorCode, readonly number[]>>,
): ErrorCodeMap {
  const rows = Object.entries(table) as [CarrierErrorCode, readonly number[]][];
  return new Map(
    rows.flatMap(([code, providerCodes]) =>
      providerCodes.map((each) => [String(each), code] as const),
    ),
  );
}

/** Returns an error with one of the engine's codes. `provider_code` is the carrier's own. */
export function carrierError(
  code: CarrierErrorCode,
  provider_code: string | undefined,
): CarrierError {
  const message = carrierErrorMessages[code];
  return provider_code === undefined ? { code, message } : { code, message, provider_code };
}

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

/** Options that carriers have in common. */
export const carrierOptions = {
  http: portOption<HttpClient>(
    'an HTTP client, such as httpClient() of "tidings/http-client"',
    "send",
  ),
  callbackUrl: option<string>(
    "an http or https URL without query and fragment",
    (url) => isHttpUrl(url) && !/[?#]/.test(String(url)),
    { isQuoted: true },
  ),
  apiUrl: option<string>("an http or https URL", isHttpUrl, { isQuoted: true }),
} as const;

function isHttpUrl(url: unknown): boolean {
  return typeof url === "string" && /^https?:$/.test(URL.parse(url)?.protocol ?? "");
}

/** A text that errors do not quote. */
export function secretOption(expected: string): z.ZodCustom<string, string> {
  return option<string>(expected, (given) => typeof given === "string" && given !== "");
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
export function sendAnswer(outcome: HttpOutcome, { idOf, errorOf }: ResponseReader): SendAnswer {
  const response = outcome.outcome === "answered" ? outcome : outcome.partial;
  if (response === null) {
    const code = outcome.outcome === "failed" ? outcome.code : undefined;
    if (outcome.outcome === "failed" && outcome.sent) return ambiguous(code);
    return {
      outcome: "rejected",
      error: carrierError("carrier_unavailable", code),
      permanent: false,
    };
  }
  const { status } = response;
  const body = jsonOf(outcome);
  if (status >= 200 && status < 300) {
    const provider_message_id = idOf(body);
    return provider_message_id === undefined
      ? ambiguous(`http_${status}`)
      : { outcome: "accepted", provider_message_id };
  }
  if (status < 400 || status >= 500 || status === 408) return ambiguous(`http_${status}`);
  const error = errorForStatus(status, errorOf(body));
  const retry_after_ms = retryAfter(response);
  // An unexplained refusal would be repeated. Wrong credentials, on the other hand, are not the
  // message's fault.
  const permanent = permanentReasons.has(error.code) || error.code === "unknown";
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
