/** What carriers that are called over HTTP have in common: bounded requests, and an honest reading of how they came out. */
import {
  type Destinations,
  destinations,
  hostOf,
  publicOnly,
} from "../../src/ports/destinations.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import type { HttpClient, HttpOutcome, HttpResponse } from "../../src/ports/http-client.ts";
import { type CarrierError, permanentReasons, type SendAnswer } from "../../src/ports/transport.ts";
import { carrierError } from "./reasons.ts";

/** In milliseconds. */
export const minute = 60_000;
export const hour = 60 * minute;

/** Less than the engine gives an attempt, so that a carrier that hangs is known to. In milliseconds. */
const deadlineMs = 20_000;
const mostBodyBytes = 262_144;
/** A carrier that asks to wait longer than a day is tried after a day. In seconds. */
const longestRetryAfter = 86_400;

export interface CarrierApiOptions {
  readonly http: HttpClient;
  /** Where the carrier's interface is; undefined: at `standardUrl`, which is public. */
  readonly apiUrl: string | undefined;
  readonly standardUrl: string;
  readonly authorization: string;
}

export interface CarrierRequest {
  readonly method: "GET" | "POST";
  /** Path and query below the interface's URL. */
  readonly path: string;
  readonly contentType?: string;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export type CarrierApi = (request: CarrierRequest) => Promise<HttpOutcome>;

/** @throws TidingsError `invalid_option`: `apiUrl` is not an http or https URL */
export function carrierApi({
  http,
  apiUrl,
  standardUrl,
  authorization,
}: CarrierApiOptions): CarrierApi {
  const base = (apiUrl ?? standardUrl).replace(/\/+$/, "");
  const to = apiUrl === undefined ? publicOnly : hostsOwn(apiUrl);
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
      most_body_bytes: mostBodyBytes,
      ...(signal === undefined ? {} : { signal }),
    });
}

/** Where the host says that the carrier is, it may be, inside too. */
function hostsOwn(apiUrl: string): Destinations {
  const url = URL.parse(apiUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw wrongOption("apiUrl", "an http or https URL");
  }
  return destinations({ http: url.protocol === "http:", allow: [hostOf(url)] });
}

export function wrongOption(name: string, expected: string): TidingsError {
  return new TidingsError("invalid_option", `${name}: expected ${expected}`);
}

/** How to read a carrier's answers. Bodies are JSON, or undefined where they are none, or cut. */
export interface Dialect {
  /** What the carrier calls the message that it took. */
  readonly idOf: (body: unknown) => string | undefined;
  /** Why it refused one, and its own code for that. */
  readonly reasonOf: (body: unknown) => CarrierError;
}

/**
 * What became of a message that was sent by one request. 4xx: surely not sent. Whatever leaves that open is ambiguous: 5xx, redirects,
 * 408, a success that can't be read, a break after the first byte.
 */
export function sendAnswer(outcome: HttpOutcome, { idOf, reasonOf }: Dialect): SendAnswer {
  const head = outcome.outcome === "answered" ? outcome : outcome.partial;
  if (head === null) {
    const code = outcome.outcome === "failed" ? outcome.code : undefined;
    if (outcome.outcome === "failed" && outcome.sent) return lost(code);
    return {
      outcome: "rejected",
      error: carrierError("carrier_unavailable", code),
      permanent: false,
    };
  }
  const { status } = head;
  const body = jsonOf(outcome);
  if (status >= 200 && status < 300) {
    const provider_message_id = idOf(body);
    return provider_message_id === undefined
      ? lost(`http_${status}`)
      : { outcome: "accepted", provider_message_id };
  }
  if (status < 400 || status >= 500 || status === 408) return lost(`http_${status}`);
  const error = refusal(status, reasonOf(body));
  const retry_after_ms = retryAfter(head);
  // What it doesn't explain, it would say again; credentials and the like are not the message's fault.
  const permanent = permanentReasons.has(error.code) || error.code === "unknown";
  return {
    outcome: "rejected",
    error,
    permanent,
    ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
  };
}

function refusal(status: number, error: CarrierError): CarrierError {
  const provider_code = error.provider_code ?? `http_${status}`;
  if (status === 429) return carrierError("throttled", provider_code);
  const isOurs = error.code === "unknown" && (status === 401 || status === 403);
  return isOurs ? carrierError("unauthorized", provider_code) : { ...error, provider_code };
}

function lost(provider_code: string | undefined): SendAnswer {
  // Not `answer_lost`: the call is over, so a look-up need not wait until it is.
  return {
    outcome: "ambiguous",
    error: { ...carrierError("unknown", provider_code), message: "The answer was lost." },
  };
}

/** Only in seconds: a date would be by the carrier's clock. */
function retryAfter({ headers }: HttpResponse): number | undefined {
  const text = headers["retry-after"] ?? "";
  return /^\d{1,9}$/.test(text) ? Math.min(Number(text), longestRetryAfter) * 1_000 : undefined;
}

/** The JSON of a whole answer; undefined where there is none. */
export function jsonOf(outcome: HttpOutcome): unknown {
  if (outcome.outcome === "failed" || outcome.truncated) return undefined;
  return parsed(outcome.body);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

export function parsed(json: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(json));
  } catch {
    return undefined;
  }
}
