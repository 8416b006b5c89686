import type { ApiRequest } from "../../src/api/http.ts";

export interface Asking {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly token: string;
  readonly headers?: readonly string[];
  readonly body?: object;
  readonly signal?: AbortSignal;
}

/** A browser's request, as an adapter would bring it. */
export function webRequest({
  method,
  path,
  token,
  headers = [],
  body,
  signal,
}: Asking): ApiRequest {
  const bytes = new TextEncoder().encode(body === undefined ? "" : JSON.stringify(body));
  return {
    method,
    url: path,
    path,
    query: "",
    headers: ["authorization", `Bearer ${token}`, "content-type", "application/json", ...headers],
    body: async () => ({ kind: "bytes", bytes }),
    async *chunks() {
      yield bytes;
    },
    signal: signal ?? new AbortController().signal,
  };
}
