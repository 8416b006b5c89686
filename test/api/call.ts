/** Calls the API handler without a server. */
import { buffer } from "node:stream/consumers";
import type { ApiHandler, ApiRequest, ApiResponse } from "../../src/api/http.ts";

export interface TestRequest {
  readonly method?: string;
  readonly path: string;
  readonly key?: string;
  readonly headers?: readonly string[];
  readonly body?: unknown;
  /** The text or bytes of a body, instead of `body`. */
  readonly raw?: string | Uint8Array;
  /** The bytes of a body as they arrive, instead of `body`. Its type must be in `headers`. */
  readonly arriving?: AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal;
}

export function call(
  api: ApiHandler,
  { method = "GET", path, key, headers = [], body, raw, arriving, signal = never }: TestRequest,
): Promise<ApiResponse> {
  const [target = "", query = ""] = path.split("?");
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const bytes = typeof text === "string" ? Buffer.from(text) : (text ?? new Uint8Array());
  const request: ApiRequest = {
    method,
    url: path,
    path: target,
    query,
    headers: [
      ...(key === undefined ? [] : ["Authorization", `Bearer ${key}`]),
      ...(text === undefined ? [] : ["Content-Type", "application/json"]),
      ...headers,
    ],
    body: async () => ({
      kind: "bytes",
      bytes: arriving === undefined ? bytes : await buffer(arriving),
    }),
    async *chunks() {
      if (arriving === undefined) yield await Promise.resolve(bytes);
      else yield* arriving;
    },
    signal,
  };
  return api.handle(request);
}

const never = new AbortController().signal;

/** The body as text. Empty if there is none, or if it is a stream. */
export function textOf({ body }: Pick<ApiResponse, "body">): string {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  return typeof body === "string" ? body : "";
}

export function jsonOf(answer: ApiResponse): Record<string, unknown> {
  const text = textOf(answer);
  return JSON.parse(text === "" ? "null" : text) as Record<string, unknown>;
}
