/** Requests to the mount. All paths are below the page's own address. */
import type { Problem } from "../../../../../src/index.ts";
import { noteServerTime } from "../clock.ts";
import { text } from "../texts/shared-texts.ts";
import { currentKey, newKey, replaceKey } from "./idempotency-keys.ts";
import { ApiError, OfflineError } from "./problem.ts";
import { noteReached, noteUnreached } from "./reachability.ts";
import { recordRequest } from "./recent-requests.ts";
import {
  currentSession,
  endSession,
  personOf,
  sessionState,
  type SessionState,
} from "./session.ts";

/** The parameters of a request's query. Null and undefined values are left out. */
export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Settings of one request. */
export interface RequestOptions {
  readonly query?: Query;
  /**
   * The idempotency key of a write. Give it when a person may repeat the write. A write that was
   * refused is repeated under another key.
   */
  readonly key?: string;
  /** Ends the request. */
  readonly signal?: AbortSignal | undefined;
}

const timeoutMs = 20_000;
/** If the server asks for a longer wait, the request fails, and the person decides. */
const maxRetryAfterMs = 3000;
const maxRepetitions = 2;

/** Whether the server refused a write. A 410 is none: the write was done, its result is erased. */
const isRefusal = (status: number): boolean => status >= 400 && status < 500 && status !== 410;

/** The address of a path below the mount point. */
export const addressOf = (path: string, query: Query = {}): URL => {
  const address = new URL(path.replace(/^\//, ""), new URL(".", document.baseURI));
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) address.searchParams.set(name, String(value));
  }
  address.hash = "";
  return address;
};

/**
 * Requests to `/v1` and the session. Each rejects with `ApiError`, `OfflineError`, or the reason of
 * its own signal.
 */
export const api = {
  get: <Result>(path: string, options?: RequestOptions): Promise<Result> =>
    bodyOf<Result>("GET", path, undefined, options),
  post: <Result>(path: string, body: unknown = {}, options?: RequestOptions): Promise<Result> =>
    bodyOf<Result>("POST", path, body, options),
  put: <Result>(path: string, body: unknown, options?: RequestOptions): Promise<Result> =>
    bodyOf<Result>("PUT", path, body, options),
  patch: <Result>(path: string, body: unknown, options?: RequestOptions): Promise<Result> =>
    bodyOf<Result>("PATCH", path, body, options),
  delete: <Result>(path: string, options?: RequestOptions): Promise<Result> =>
    bodyOf<Result>("DELETE", path, undefined, options),
};

const bodyOf = async <Result>(...args: Parameters<typeof request>): Promise<Result> =>
  (await request(...args)).body as Result;

/** A 2xx response. */
export interface Received {
  readonly status: number;
  /** The parsed JSON. Undefined without a body. */
  readonly body: unknown;
}

/** Sends one request as `api` does. Also returns the status of the response. */
export async function request(
  method: string,
  path: string,
  body: unknown,
  { key = newKey(), signal, query }: RequestOptions = {},
): Promise<Received> {
  const address = addressOf(path, query);
  const headers = new Headers(path === "session" ? pageHeaders : personHeaders());
  if (method !== "GET" && !hasOwnKey(body)) headers.set("Idempotency-Key", currentKey(key));
  if (body !== undefined) headers.set("Content-Type", "application/json");
  const attempt = async (): Promise<Response> => {
    const response = await reach(address, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      credentials: "same-origin",
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    });
    noteServerTime(response.headers.get("Date"));
    recordRequest(method, address, body, response.status);
    return response;
  };
  try {
    const response = await repeated(attempt);
    return { status: response.status, body: await readJson(response) };
  } catch (error) {
    if (method !== "GET" && error instanceof ApiError && isRefusal(error.status)) replaceKey(key);
    throw error;
  }
}

/** Whether a body that a person wrote names its key itself. The server refuses two keys. */
const hasOwnKey = (body: unknown): boolean =>
  typeof body === "object" && body !== null && "idempotency_key" in body;

/** Loads a file through the mount. Rejects as `api` does. */
export async function loadFile(path: string, signal: AbortSignal): Promise<Blob> {
  const init = { headers: personHeaders(), credentials: "same-origin", signal } as const;
  const response = await repeated(() => reach(addressOf(path), init));
  return wholeBody(response.blob());
}

/**
 * Returns a 2xx response. Repeats an attempt that was rate-limited for a short time. Also repeats
 * one that was refused because there was no session, if the person has signed in since.
 * @throws ApiError for every other response
 */
async function repeated(attempt: () => Promise<Response>): Promise<Response> {
  for (let repetition = 0; ; repetition += 1) {
    const before = sessionState.peek();
    const response = await attempt();
    if (response.ok) return response;
    const error = await errorOf(response, before);
    if (repetition >= maxRepetitions) throw error;
    const isSignedInSince =
      sessionState.peek() !== before && sessionState.peek().status === "ready";
    if (error.status === 401 && isSignedInSince) continue;
    const wait = error.retryAfterMs ?? Infinity;
    if (error.status !== 429 || wait > maxRetryAfterMs) throw error;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/** The headers of every request. Another website cannot send the first one. */
const pageHeaders = { "Tidings-Page": "1", Accept: "application/json" };

/** The headers of every request but that for the session. They also name the page's person. */
export function personHeaders(): Readonly<Record<string, string>> {
  const session = currentSession.peek();
  return session === undefined
    ? pageHeaders
    : { ...pageHeaders, "Tidings-Person": personOf(session) };
}

/** Fetches, and notes whether the server answers. */
async function reach(address: URL, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(address, init);
    if (!isGateway(response)) noteReached();
    return response;
  } catch (error) {
    throw failureOf(error);
  }
}

/** Returns the error of a request whose response did not come, or not completely. */
function failureOf(cause: unknown): unknown {
  if (cause instanceof DOMException && cause.name === "AbortError") return cause;
  const isTimeout = cause instanceof DOMException && cause.name === "TimeoutError";
  noteUnreached();
  return new OfflineError(text(isTimeout ? "errorTimeout" : "errorOffline"), { cause });
}

/** Whether a proxy answered because the server behind it is gone. The server sends problems. */
const isGateway = ({ status, headers }: Response): boolean =>
  (status === 502 || status === 504) &&
  headers.get("Content-Type")?.startsWith("application/problem+json") !== true;

/** Waits for the body of a response. The connection may end before it is complete. */
const wholeBody = <Body>(body: Promise<Body>): Promise<Body> =>
  body.catch((error: unknown) => {
    throw failureOf(error);
  });

async function readJson(response: Response): Promise<unknown> {
  const body = await wholeBody(response.text());
  return body === "" ? undefined : (JSON.parse(body) as unknown);
}

/**
 * Turns a response into an error. A 401 also shows the sign-in, unless the session is no longer the
 * one `before` the request.
 */
export async function errorOf(response: Response, before: SessionState): Promise<ApiError> {
  const { status } = response;
  const body = await response.text().catch(() => "");
  let problem: Partial<Problem> = {};
  try {
    problem = JSON.parse(body) as Partial<Problem>;
  } catch {
    // A proxy answered.
  }
  if (status === 401 && sessionState.peek() === before) endSession(problem);
  if (isGateway(response)) noteUnreached();
  const seconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
  return new ApiError(
    { ...problem, status },
    Number.isFinite(seconds) ? seconds * 1000 : undefined,
  );
}
