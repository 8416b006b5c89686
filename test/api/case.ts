import type { RawRequest } from "../../adapters/testing/conformance/mount/raw-http.ts";
import { keys } from "./notes-api.ts";
import type { Mounting } from "./servers.ts";

export const auth = (key: string): [string, string] => ["Authorization", `Bearer ${key}`];
export const all = auth(keys.all);
export const json: [string, string] = ["Content-Type", "application/json"];
export const post = (body: string | Uint8Array, ...headers: [string, string][]): RawRequest => ({
  method: "POST",
  path: "/v1/notes",
  headers: [all, json, ...headers],
  body,
});

export const get = (path: string, ...headers: [string, string][]): RawRequest => ({
  path,
  headers: [all, ...headers],
});

export interface Case {
  readonly name: string;
  readonly request: RawRequest;
  readonly status: number;
  readonly code?: string;
  readonly errors?: readonly unknown[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Middleware before the handler that answers or changes this request itself. */
  readonly taken?: readonly Mounting["before"][];
}

/** `answer` is the expected status with the code of the problem, if it is one: `404 not_found`. */
export function row(
  name: string,
  request: RawRequest,
  answer: string,
  others: Omit<Case, "name" | "request" | "status" | "code"> = {},
): Case {
  const [status, code] = answer.split(" ");
  return { name, request, status: Number(status), ...(code !== undefined && { code }), ...others };
}
