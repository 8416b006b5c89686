/** Calls the API handler without a server. */
import type { ApiHandler, ApiRequest, ApiResponse } from "../../src/api/http.ts";

export interface TestRequest {
  readonly method?: string;
  readonly path: string;
  readonly key?: string;
  readonly headers?: readonly string[];
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export function call(
  api: ApiHandler,
  { method = "GET", path, key, headers = [], body, signal = never }: TestRequest,
): Promise<ApiResponse> {
  const [target = "", query = ""] = path.split("?");
  const bytes = body === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(body));
  const request: ApiRequest = {
    method,
    url: path,
    path: target,
    query,
    headers: [
      ...(key === undefined ? [] : ["Authorization", `Bearer ${key}`]),
      ...(body === undefined ? [] : ["Content-Type", "application/json"]),
      ...headers,
    ],
    body: () => Promise.resolve({ kind: "bytes", bytes }),
    async *chunks() {
      yield await Promise.resolve(bytes);
    },
    signal,
  };
  return api.handle(request);
}

const never = new AbortController().signal;

export function jsonOf({ body }: ApiResponse): Record<string, unknown> {
  const text = body instanceof Uint8Array ? Buffer.from(body).toString() : body;
  return JSON.parse(typeof text === "string" ? text : "null") as Record<string, unknown>;
}
