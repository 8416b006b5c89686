import type { KeyObject } from "node:crypto";
import type { Mode } from "../../kernel/index.ts";
import type { Clock, HttpOutcome, HttpRequest } from "../../ports/index.ts";
import type { HttpSettings } from "../options.ts";
import type { DeliveryRow, WebhookRow } from "../rows.ts";
import { signatureHeaders, signingKey } from "./signature.ts";

interface DeliveryPosterOptions {
  readonly http: HttpSettings;
  readonly mode: Mode;
  /** From the DNS lookup to the last byte of the response, in milliseconds. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Sends a delivery at time `at`, in milliseconds since the epoch. Never rejects. */
export type PostDelivery = (
  delivery: Pick<DeliveryRow, "event_id" | "body">,
  at: number,
) => Promise<HttpOutcome>;

/** How much of a response body is read, in bytes. */
const maxBodyBytes = 16_384;

/**
 * Returns a function that posts deliveries to a webhook. What all its requests share is computed
 * once.
 */
export function deliveryPoster(
  webhook: WebhookRow,
  { http, mode, deadlineMs, signal, clock }: DeliveryPosterOptions,
): PostDelivery {
  const keysAt = signingKeys(webhook);
  const usual = { "user-agent": "tidings", ...webhook.headers, "content-type": "application/json" };
  const request = {
    method: "POST",
    url: webhook.url,
    to: http.destinations[mode],
    deadline_ms: deadlineMs,
    max_body_bytes: maxBodyBytes,
    signal,
  } as const;
  const send = async (sent: HttpRequest): Promise<HttpOutcome> => {
    try {
      return await http.client.send(sent);
    } catch {
      // The client did not say whether it sent anything, so `sent` is true.
      return failed("connect_failed", "The HTTP client threw an error.");
    }
  };
  return async ({ event_id, body: text }, at) => {
    const body = Buffer.from(text ?? "");
    const headers = { ...usual, ...signatureHeaders({ id: event_id, at, body }, keysAt(at)) };
    const sent = { ...request, headers, body };
    const outcome = await send(sent);
    const leftMs = deadlineMs - Math.max(0, clock.now() - at);
    if (!isKeptConnectionLost(outcome) || leftMs <= 0) return outcome;
    return send({ ...sent, own_connection: true, deadline_ms: leftMs });
  };
}

/**
 * Whether a connection broke that was kept from an earlier request. Servers close such connections
 * at any time, so this says nothing about the receiver. Receivers expect duplicates, so the request
 * may be sent again.
 */
function isKeptConnectionLost(outcome: HttpOutcome): boolean {
  return outcome.outcome === "failed" && outcome.code === "kept_connection_lost";
}

/** The outcome of a request for which the HTTP client does not keep its deadline. */
export const missedDeadline = failed(
  "response_timeout",
  "The HTTP client did not return before the deadline.",
);

/** Returns the keys that sign at a given time: two in a grace period, otherwise one. */
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
