/** The latest requests of the page. The console shows them to people who call the API. */
import { signal } from "@preact/signals";

/** A request that the page made. */
export interface RecordedRequest {
  readonly method: string;
  /** The path and query below the mount: `/v1/messages?limit=20`. */
  readonly path: string;
  /** The JSON body. Null for none. */
  readonly body: unknown;
  /** The status of the response. A request without a response is not recorded. */
  readonly status: number;
  /** When the response came, in ms since 1970 by the browser's clock. */
  readonly at: number;
}

const maxRecorded = 100;

/** The latest requests, newest first. */
export const recentRequests = signal<readonly RecordedRequest[]>([]);

/** Adds a request to `recentRequests`. */
export function recordRequest(method: string, address: URL, body: unknown, status: number): void {
  const base = new URL(".", document.baseURI).pathname;
  const path = `/${address.pathname.slice(base.length)}${address.search}`;
  const entry = { method, path, body: body ?? null, status, at: Date.now() };
  recentRequests.value = [entry, ...recentRequests.value.slice(0, maxRecorded - 1)];
}
