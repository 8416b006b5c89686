/** Real transports over a fake HTTP client, and signed callbacks of their carriers. */
import { generateKeyPairSync, sign } from "node:crypto";
import { getExpectedTwilioSignature } from "twilio/lib/webhooks/webhooks.js";
import { telnyx, type TelnyxOptions } from "../../../adapters/transport/telnyx/index.ts";
import { twilio, type TwilioOptions } from "../../../adapters/transport/twilio/index.ts";
import type { HttpClient, HttpOutcome, HttpRequest } from "../../../src/ports/http-client.ts";
import type { CallbackRequest, OutboundMessage, Transport } from "../../../src/ports/transport.ts";

export const accountSid = `AC${"0123456789abcdef".repeat(2)}`;
export const authToken = "0123456789abcdef0123456789abcdef";
export const sid = (n: number): string => `SM${n.toString(16).padStart(32, "0")}`;
export const uuid = (n: number): string =>
  `7ee4241c-f127-47e5-9c34-${n.toString(16).padStart(12, "0")}`;

/** A messaging service of Twilio and a messaging profile of Telnyx. */
export const service = `MG${"ab".repeat(16)}`;
export const profile = "0f512bda-ae1e-4597-8e11-e5f5686b97d3";

const keys = generateKeyPairSync("ed25519");
export const publicKey = Buffer.from(
  keys.publicKey.export({ format: "jwk" }).x ?? "",
  "base64url",
).toString("base64");

export const twilioCallbacks = "https://shop.example/api/v1/transports/twilio/callbacks";
export const telnyxCallbacks = "https://shop.example/api/v1/transports/telnyx/callbacks";

export type Answer = (request: HttpRequest, nth: number) => HttpOutcome | Promise<HttpOutcome>;

/** An HTTP client that the test answers, and that records its requests. */
export function line(answer: Answer): HttpClient & { readonly requests: HttpRequest[] } {
  const requests: HttpRequest[] = [];
  return {
    requests,
    async send(request) {
      requests.push(request);
      return answer(request, requests.length);
    },
    close() {},
  };
}

export function answered(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): HttpOutcome {
  const bytes = typeof body === "string" ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
  return {
    outcome: "answered",
    status,
    headers,
    body: bytes,
    truncated: false,
    address: "192.0.2.1",
  };
}

export function broke(
  sent: boolean,
  code: "response_timeout" | "connect_refused" = "response_timeout",
): HttpOutcome {
  return { outcome: "failed", code, message: "It broke.", sent, address: null, partial: null };
}

export const overTwilio = (http: HttpClient, over: Partial<TwilioOptions> = {}): Transport =>
  twilio({ accountSid, authToken, http, callbackUrl: twilioCallbacks, ...over });

export const overTelnyx = (http: HttpClient, over: Partial<TelnyxOptions> = {}): Transport =>
  telnyx({
    apiKey: "KEY0123",
    publicKey,
    http,
    callbackUrl: telnyxCallbacks,
    messagingProfileId: profile,
    ...over,
  });

export const message: OutboundMessage = {
  message_id: "msg_01JZ0000000000000000000000",
  account_id: "acct_01JZ0000000000000000000000",
  mode: "live",
  channel: "sms",
  from: "+15005550006",
  to: "+15005550001",
  body: "Hello",
  media: [],
};

export const attempt = {
  attempt_id: "att_01JZ0000000000000000000000",
  number: 1,
  started_at: Date.parse("2026-03-01T09:00:00Z"),
  signal: new AbortController().signal,
} as const;

const path = (callbacks: string): string => new URL(callbacks).pathname;

export type Fields = readonly (readonly [name: string, value: string])[];

/** A callback of Twilio, signed by its own library. */
export function fromTwilio(
  fields: Fields,
  query = "",
  received_at = attempt.started_at,
): CallbackRequest {
  const signature = getExpectedTwilioSignature(
    authToken,
    twilioCallbacks + query,
    Object.fromEntries(fields),
  );
  return {
    method: "POST",
    url: path(twilioCallbacks) + query,
    headers: {
      "x-twilio-signature": signature,
      "content-type": "application/x-www-form-urlencoded; charset=UTF-8",
    },
    body: Buffer.from(
      new URLSearchParams(
        fields.map(([name, value]): [string, string] => [name, value]),
      ).toString(),
    ),
    received_at,
  };
}

/** A callback of Telnyx. */
export function fromTelnyx(
  event: unknown,
  received_at: number = attempt.started_at,
  query = "",
): CallbackRequest {
  const body = Buffer.from(typeof event === "string" ? event : JSON.stringify(event));
  const timestamp = String(Math.floor(received_at / 1_000));
  const signature = sign(
    null,
    Buffer.concat([Buffer.from(`${timestamp}|`), body]),
    keys.privateKey,
  ).toString("base64");
  return {
    method: "POST",
    url: path(telnyxCallbacks) + query,
    headers: {
      "content-type": "application/json",
      "telnyx-timestamp": timestamp,
      "telnyx-signature-ed25519": signature,
    },
    body,
    received_at,
  };
}
