import type { KeyObject } from "node:crypto";
import type { DeliveryRow, WebhookRow } from "./rows.ts";
import { signatureHeaders, signingKey } from "./signature.ts";
import type { HttpSettings } from "./options.ts";
import type { HttpOutcome } from "../ports/http-client.ts";
import type { Mode } from "../kernel/scope.ts";

export interface PostingOptions {
  readonly http: HttpSettings;
  readonly mode: Mode;
  /** From the look-up of the name to the last byte of the answer, in milliseconds. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/** One request. Never rejects. */
export type Post = (
  delivery: Pick<DeliveryRow, "event_id" | "body">,
  at: number,
) => Promise<HttpOutcome>;

/** Of a response, in bytes. */
const mostBodyBytes = 16_384;

/** Sends to a webhook as it is now: what its requests have in common is made once. */
export function posting(
  webhook: WebhookRow,
  { http, mode, deadlineMs, signal }: PostingOptions,
): Post {
  const keysAt = signingKeys(webhook);
  const usual = { "user-agent": "tidings", ...webhook.headers, "content-type": "application/json" };
  const request = {
    method: "POST",
    url: webhook.url,
    to: http.destinations[mode],
    deadline_ms: deadlineMs,
    most_body_bytes: mostBodyBytes,
    signal,
  } as const;
  return async ({ event_id, body: text }, at) => {
    const body = Buffer.from(text ?? "");
    const headers = { ...usual, ...signatureHeaders({ id: event_id, at, body }, keysAt(at)) };
    try {
      return await http.client.send({ ...request, headers, body });
    } catch {
      return failed("connect_failed", "The client failed without an answer.");
    }
  };
}

/** Of a client that keeps no deadline. */
export const late = failed("response_timeout", "The client did not come back in time.");

function signingKeys({
  secret,
  previous_secret,
  previous_expires_at,
}: WebhookRow): (at: number) => readonly KeyObject[] {
  const one = [signingKey(secret)];
  if (previous_secret === null) return () => one;
  const both = [...one, signingKey(previous_secret)];
  return (at) => ((previous_expires_at ?? 0) > at ? both : one);
}

function failed(code: "response_timeout" | "connect_failed", message: string): HttpOutcome {
  return { outcome: "failed", code, message, sent: true, address: null, partial: null };
}
