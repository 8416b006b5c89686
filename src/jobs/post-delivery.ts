import { withDeadline } from "../dispatch/deadline.ts";
import type { DeliveryRow, WebhookRow } from "../domain/webhooks/rows.ts";
import { signatureHeaders } from "../domain/webhooks/signature.ts";
import type { HttpSettings } from "../options.ts";
import type { Clock } from "../ports/clock.ts";
import type { HttpOutcome } from "../ports/http-client.ts";
import type { Mode } from "../scope.ts";

export interface Sending {
  readonly http: HttpSettings;
  readonly clock: Clock;
  readonly mode: Mode;
  readonly at: number;
  /** From the look-up of the name to the last byte of the answer, in milliseconds. */
  readonly deadlineMs: number;
  /** The engine stops in haste. */
  readonly abort: AbortSignal;
}

/** Of a response, in bytes. */
const mostBodyBytes = 16_384;
/** What a client that doesn't keep its deadline gets besides. */
const graceMs = 1_000;

/** One request. Undefined when it was cut off here: nobody knows whether it arrived, so it is made again. */
export async function postDelivery(
  webhook: WebhookRow,
  { event_id, body: text }: DeliveryRow,
  { http, clock, mode, at, deadlineMs, abort }: Sending,
): Promise<HttpOutcome | undefined> {
  const body = Buffer.from(text ?? "");
  const own = {
    "content-type": "application/json",
    ...signatureHeaders({ id: event_id, at, body }, secretsAt(webhook, at)),
  };
  const request = {
    method: "POST",
    url: webhook.url,
    to: http.destinations[mode],
    headers: { "user-agent": "tidings", ...webhook.headers, ...own },
    body,
    deadline_ms: deadlineMs,
    most_body_bytes: mostBodyBytes,
  } as const;
  const send = (signal: AbortSignal): Promise<HttpOutcome> => http.client.send({ ...request, signal });
  const late = (): HttpOutcome => failed("response_timeout", "The client did not come back in time.");
  try {
    const outcome = await withDeadline(clock, deadlineMs + graceMs, abort, send, late);
    return abort.aborted ? undefined : outcome;
  } catch {
    return abort.aborted ? undefined : failed("connect_failed", "The client failed without an answer.");
  }
}

function secretsAt({ secret, previous_secret, previous_expires_at }: WebhookRow, at: number): string[] {
  return previous_secret !== null && (previous_expires_at ?? 0) > at ? [secret, previous_secret] : [secret];
}

function failed(code: "response_timeout" | "connect_failed", message: string): HttpOutcome {
  return { outcome: "failed", code, message, sent: true, address: null, partial: null };
}
