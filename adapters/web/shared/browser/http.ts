/** Requests to the mount. All paths are below the page's own address. */
import { signal } from "@preact/signals";
import type { Problem } from "../../../../src/index.ts";
import { noteServerTime } from "./clock.ts";
import {
  announceReconnect,
  current,
  offlineUntil,
  type Session,
  session,
  type SessionState,
} from "./connection.ts";
import { setLanguage } from "./language.ts";
import { ApiError, OfflineError } from "./problem.ts";
import { text } from "./shared-texts.ts";

/** A part of a request's query. Undefined values are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Settings of one request. */
export interface RequestOptions {
  /**
   * The idempotency key of a write. Give it when a person may repeat the write. A write that was
   * refused is repeated under another key.
   */
  readonly key?: string;
  /** Ends the request. */
  readonly signal?: AbortSignal | undefined;
}

/** A request that the page made. */
export interface RecordedRequest {
  readonly method: string;
  /** The path and query below the mount: `/v1/messages?limit=20`. */
  readonly path: string;
  /** The JSON body. Null for none. */
  readonly body: unknown;
  /** The status of the response. A request without a response is not recorded. */
  readonly status: number;
  readonly at: number;
}

const maxRecorded = 100;
const timeoutMs = 20_000;
/** A request that is limited for longer fails, so that the person decides. */
const maxPatienceMs = 3000;
const maxRepetitions = 2;

/** The latest requests, newest first. */
export const recentRequests = signal<readonly RecordedRequest[]>([]);

/** A new idempotency key. */
export const newKey = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
};

const maxRenewed = 100;
/** By the key that a caller gives, the one under which its request is sent now. */
const renewed = new Map<string, string>();

/**
 * Sends the next request of this key under a new one. The server would answer under the old one
 * with the stored refusal, even if its reason is gone.
 */
function renew(key: string): void {
  renewed.set(key, newKey());
  const [oldest] = renewed.keys();
  if (renewed.size > maxRenewed && oldest !== undefined) renewed.delete(oldest);
}

/** Returns the key under which the next request of a key is sent. */
export const currentKey = (key: string): string => renewed.get(key) ?? key;

/** Whether the server did nothing. With 410 it says that it did, and that the result is erased. */
const isRefusal = (status: number): boolean => status >= 400 && status < 500 && status !== 410;

/** The address of a path below the mount point. */
export const addressOf = (path: string, query: Query = {}): URL => {
  const address = new URL(path.replace(/^\//, ""), new URL(".", document.baseURI));
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) address.searchParams.set(name, String(value));
  }
  address.hash = "";
  return address;
};

/**
 * Requests to `/v1` and the session. Each rejects with `ApiError`, `OfflineError`, or the reason of
 * its own signal.
 */
export const api = {
  get: <Result>(path: string, query?: Query, options?: RequestOptions): Promise<Result> =>
    bodyOf<Result>("GET", path, undefined, { ...options, ...(query && { query }) }),
  post: <Result>(path: string, body: unknown = {}, options?: RequestOptions): Promise<Result> =>
    bodyOf<Result>("POST", path, body, options),
  put: <Result>(path: string, body: unknown, options?: RequestOptions): Promise<Result> =>
    bodyOf<Result>("PUT", path, body, options),
  patch: <Result>(path: string, body: unknown, options?: RequestOptions): Promise<Result> =>
    bodyOf<Result>("PATCH", path, body, options),
  delete: <Result>(path: string, options?: RequestOptions): Promise<Result> =>
    bodyOf<Result>("DELETE", path, undefined, options),
};

const bodyOf = async <Result>(...of: Parameters<typeof request>): Promise<Result> =>
  (await request(...of)).body as Result;

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
  { key = newKey(), signal: given, query }: RequestOptions & { readonly query?: Query } = {},
): Promise<Received> {
  const address = addressOf(path, query);
  const headers = new Headers(path === "session" ? pageHeaders : personHeaders());
  if (method !== "GET") headers.set("Idempotency-Key", currentKey(key));
  if (body !== undefined) headers.set("Content-Type", "application/json");
  const attempt = async (): Promise<Response> => {
    const response = await reach(address, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      credentials: "same-origin",
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(given ? [given] : [])]),
    });
    noteServerTime(response.headers.get("Date"));
    record(method, address, body, response.status);
    return response;
  };
  try {
    const response = await repeated(attempt);
    return { status: response.status, body: await readJson(response) };
  } catch (error) {
    if (method !== "GET" && error instanceof ApiError && isRefusal(error.status)) renew(key);
    throw error;
  }
}

/** Loads a file through the mount. Rejects as `api` does. */
export async function loadFile(path: string, signal: AbortSignal): Promise<Blob> {
  const init = { headers: personHeaders(), credentials: "same-origin", signal } as const;
  const response = await repeated(() => reach(addressOf(path), init));
  return complete(response.blob());
}

/**
 * Returns a 2xx response. Repeats an attempt that was limited for a short time, or that an earlier
 * session made and the person has signed in since.
 * @throws ApiError for every other response
 */
async function repeated(attempt: () => Promise<Response>): Promise<Response> {
  for (let repetition = 0; ; repetition += 1) {
    const before = session.peek();
    const response = await attempt();
    if (response.ok) return response;
    const error = await errorOf(response, before);
    if (repetition >= maxRepetitions) throw error;
    const isSignedInSince = session.peek() !== before && session.peek().status === "ready";
    if (error.status === 401 && isSignedInSince) continue;
    const wait = error.retryAfterMs ?? Infinity;
    if (error.status !== 429 || wait > maxPatienceMs) throw error;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/** What every request of a page carries, so that other sites cannot make it. */
const pageHeaders = { "Tidings-Page": "1", Accept: "application/json" };

/** The headers of every request but that for the session. They name the person of this page. */
export function personHeaders(): Readonly<Record<string, string>> {
  const known = current.peek();
  return known === undefined ? pageHeaders : { ...pageHeaders, "Tidings-Person": personOf(known) };
}

async function reach(address: URL, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(address, init);
    if (!isGateway(response)) noteReached();
    return response;
  } catch (error) {
    throw brokenOff(error);
  }
}

/** Returns the error of a request whose response did not come, or not completely. */
function brokenOff(cause: unknown): unknown {
  if (cause instanceof DOMException && cause.name === "AbortError") return cause;
  const isTimeout = cause instanceof DOMException && cause.name === "TimeoutError";
  noteUnreached();
  return new OfflineError(text(isTimeout ? "errorTimeout" : "errorOffline"), { cause });
}

/** A proxy answers so when the server behind it is gone. The server itself sends problems. */
const isGateway = ({ status, headers }: Response): boolean =>
  (status === 502 || status === 504) &&
  headers.get("Content-Type")?.startsWith("application/problem+json") !== true;

/** Returns the body of a response, which may break off. */
const complete = <Body>(body: Promise<Body>): Promise<Body> =>
  body.catch((error: unknown) => {
    throw brokenOff(error);
  });

async function readJson(response: Response): Promise<unknown> {
  const body = await complete(response.text());
  return body === "" ? undefined : (JSON.parse(body) as unknown);
}

/**
 * Turns a response into an error. A 401 also shows the sign-in page, unless the session is no
 * longer the one `before` the request.
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
  if (status === 401 && session.peek() === before) signedOut(problem);
  if (isGateway(response)) noteUnreached();
  const seconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
  return new ApiError(
    { ...problem, status },
    Number.isFinite(seconds) ? seconds * 1000 : undefined,
  );
}

function signedOut({ code, detail }: Partial<Problem>): void {
  session.value = {
    status: "signed_out",
    last: current.value,
    detail: detail ?? text("signedOutBody"),
    takesToken: String(code) === "missing_session",
  };
}

function record(method: string, address: URL, body: unknown, status: number): void {
  const base = new URL(".", document.baseURI).pathname;
  const path = `/${address.pathname.slice(base.length)}${address.search}`;
  const entry = { method, path, body: body ?? null, status, at: Date.now() };
  recentRequests.value = [entry, ...recentRequests.value.slice(0, maxRecorded - 1)];
}

const firstProbeMs = 1000;
const maxProbeMs = 30_000;
let probes = 0;
let probing: ReturnType<typeof setTimeout> | undefined;

/** Begins to ask whether the server is back, unless that is under way. */
export function noteUnreached(): void {
  if (probing !== undefined) return;
  const wait = Math.min(maxProbeMs, firstProbeMs * 2 ** probes);
  probes += 1;
  offlineUntil.value = Date.now() + wait;
  probing = setTimeout(probe, wait);
}

/** Asks at once whether the server is back. */
export function probe(): void {
  clearTimeout(probing);
  probing = undefined;
  void loadSession().catch(() => {});
}

function noteReached(): void {
  clearTimeout(probing);
  probing = undefined;
  probes = 0;
  if (offlineUntil.value === null) return;
  offlineUntil.value = null;
  announceReconnect("server");
}

/** Reads who is signed in. */
export async function loadSession(): Promise<void> {
  try {
    const found = await api.get<Session>("session");
    const known = current.peek();
    if (known !== undefined && personOf(known) !== personOf(found)) {
      // The page has data and drafts of the other person.
      location.reload();
      return;
    }
    const isSignedInAgain = known !== undefined && session.peek().status === "signed_out";
    setLanguage(found);
    session.value = { status: "ready", session: found };
    if (isSignedInAgain) announceReconnect("session");
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return;
    if (current.value === undefined) session.value = { status: "failed", error };
  }
}

const personOf = ({ account_id, mode, operator }: Session): string =>
  encodeURIComponent(JSON.stringify([account_id, mode, operator.id]));

/** Opens a session with the token that the server printed. */
export async function signIn(token: string): Promise<void> {
  await api.post<undefined>("session", { token });
  await loadSession();
}
