import { onTestFinished } from "vitest";
import { httpClient, type HttpClientOptions } from "../../../adapters/http-client/index.ts";
import { destinations, type DestinationOptions } from "../../../src/ports/destinations.ts";
import type { HttpClient, HttpOutcome, HttpRequest } from "../../../src/ports/http-client.ts";

/** A client that is closed at the end of the test. */
export function client(options?: HttpClientOptions): HttpClient {
  const made = httpClient(options);
  onTestFinished(() => {
    made.close();
  });
  return made;
}

/** Destinations that include the tests' receivers, besides the public Internet. */
export const nearby = (more: DestinationOptions = {}) =>
  destinations({ http: true, ...more, allow: ["127.0.0.0/8", ...(more.allow ?? [])] });

/** Long enough for every exchange that ends by itself. */
export const ampleMs = 20_000;
/**
 * The deadline of exchanges that would never end. What each of them waits for must happen before,
 * also on a busy machine.
 */
export const shortMs = 1_000;

/** A POST request as a webhook sends it. */
export function post(url: string, over: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: "POST",
    url,
    to: nearby(),
    headers: { "content-type": "application/json" },
    body: new TextEncoder().encode('{"type":"message.sent"}'),
    deadline_ms: ampleMs,
    max_body_bytes: 16_384,
    ...over,
  };
}

/** The outcome with its body as text, to compare in one step. */
export function seen(outcome: HttpOutcome): object {
  if (outcome.outcome === "failed") {
    const { code, sent, partial } = outcome;
    return { code, sent, status: partial?.status };
  }
  const { status, body, truncated } = outcome;
  return { status, body: new TextDecoder().decode(body), truncated };
}
