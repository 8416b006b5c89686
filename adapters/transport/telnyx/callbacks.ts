import { createPublicKey, verify, type KeyObject } from "node:crypto";
import * as z from "zod";
import { minuteMs, TidingsError } from "../../../src/kernel/index.ts";
import type {
  CallbackRequest,
  CallbackResult,
  CarrierError,
  Receipt,
} from "../../../src/ports/index.ts";
import { parseJson } from "../carrier-api.ts";
import {
  carrierKeyword,
  maxMedia,
  mediaOf,
  receiptSubject,
  refuseTooLarge,
} from "../carrier-callbacks.ts";
import { carrierError, errorCodeMap } from "../carrier-errors.ts";

/**
 * How far a signature's timestamp may be from the current time, either way. Telnyx's own libraries
 * use the same limit.
 */
const maxSignatureAgeMs = 5 * minuteMs;

/** The form of Telnyx's message ids. */
export const messageId = z.string().regex(/^[\w-]{1,100}$/);
/** An error in a response or callback. */
export const errorSchema = z.object({ code: z.string(), title: z.string().optional() });
const recipientSchema = z.object({ phone_number: z.string(), status: z.string() });
/** An outbound message, as Telnyx reports it in a callback or a look-up. */
export const outboundSchema = z.object({
  id: messageId,
  to: z.array(recipientSchema).min(1),
  errors: z.array(errorSchema).nullish(),
  completed_at: z.string().nullish(),
  webhook_url: z.string().nullish(),
});
const inboundSchema = z.object({
  id: messageId,
  type: z.enum(["SMS", "MMS"]),
  from: z.object({ phone_number: z.string() }),
  to: z.array(recipientSchema).min(1),
  text: z.string().nullish(),
  // Media that cannot be read are skipped rather than the whole message.
  media: z
    .array(z.object({ url: z.string(), content_type: z.string().nullish() }).catch({ url: "" }))
    .nullish(),
  received_at: z.string().nullish(),
  autoresponse_type: z.unknown().optional(),
});
const eventSchema = z.object({
  data: z.object({
    event_type: z.string(),
    occurred_at: z.string().nullish(),
    payload: z.unknown(),
  }),
});

/** Converts the account's public key, which is 32 bytes in base64. */
export function publicKeyOf(publicKey: string): KeyObject {
  const bytes = Buffer.from(publicKey, "base64");
  return createPublicKey({
    format: "jwk",
    key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") },
  });
}

/**
 * Checks the Ed25519 signature over `timestamp|body`
 * (https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks).
 * @throws TidingsError `invalid_signature`, `body_too_large`
 */
export function verifySignature(
  key: KeyObject,
  { headers, body, received_at }: CallbackRequest,
): void {
  refuseTooLarge(body);
  const timestamp = headers["telnyx-timestamp"] ?? "";
  const signature = headers["telnyx-signature-ed25519"] ?? "";
  const isRecent =
    /^\d{1,12}$/.test(timestamp) &&
    Math.abs(received_at - Number(timestamp) * 1_000) <= maxSignatureAgeMs;
  const isWellFormed = /^[A-Za-z0-9+/]{86}==$/.test(signature);
  const signed = Buffer.concat([Buffer.from(`${timestamp}|`), body]);
  if (!isRecent || !isWellFormed || !verify(null, signed, key, Buffer.from(signature, "base64"))) {
    throw new TidingsError(
      "invalid_signature",
      "The telnyx-signature-ed25519 header does not match the callback, or its timestamp is " +
        "more than 5 minutes off.",
    );
  }
}

/** Reads the receipt or the inbound message in a callback whose signature is valid. */
export function readEvent({ body, received_at }: CallbackRequest): CallbackResult {
  const nothing: CallbackResult = { receipts: [], inbound: [], response: { status: 200 } };
  const event = eventSchema.safeParse(parseJson(body));
  if (!event.success) return nothing;
  const { event_type, occurred_at, payload } = event.data.data;
  const at = timeOf(occurred_at) ?? received_at;
  if (event_type === "message.received") {
    const inbound = inboundOf(payload, at);
    return inbound === undefined ? nothing : { ...nothing, inbound: [inbound] };
  }
  const outbound = outboundSchema.safeParse(payload);
  if (!/^message\.(?:sent|finalized|read)$/.test(event_type) || !outbound.success) return nothing;
  // Taken from the body, because the URL that was called is not signed.
  const subject = receiptSubject(outbound.data.webhook_url ?? "", outbound.data.id);
  const receipt = receiptOf(outbound.data, at);
  return receipt === undefined ? nothing : { ...nothing, receipts: [{ subject, receipt }] };
}

/** Returns what a status proves. A message has one recipient here. */
export function receiptOf(
  { to, errors }: z.infer<typeof outboundSchema>,
  at: number,
): Receipt | undefined {
  const [recipient] = to;
  switch (recipient?.status) {
    case "scheduled":
    case "queued":
    case "sending":
    case "sent":
    // The recipient's network sends no delivery receipts.
    case "delivery_unconfirmed":
      return { status: "sent", at };
    case "delivered":
    case "read":
      return { status: recipient.status, at };
    case "sending_failed":
    case "delivery_failed":
    case "expired":
    case "cancelled":
      return { status: "undelivered", at, error: carrierErrorOf(errors?.[0]) };
    default:
      return undefined;
  }
}

function inboundOf(payload: unknown, at: number): CallbackResult["inbound"][number] | undefined {
  const { data } = inboundSchema.safeParse(payload);
  // In a group message, this status marks the number that belongs to the account.
  const to = data?.to.find(({ status }) => status === "webhook_delivered") ?? data?.to[0];
  if (data === undefined || to === undefined) return undefined;
  return {
    provider_message_id: data.id,
    channel: data.type === "MMS" ? "mms" : "sms",
    from: data.from.phone_number,
    to: to.phone_number,
    body: data.text ?? "",
    media: (data.media ?? []).slice(0, maxMedia).flatMap(mediaOf),
    at: timeOf(data.received_at) ?? at,
    ...carrierKeyword(data.autoresponse_type),
  };
}

function timeOf(text: string | null | undefined): number | undefined {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? undefined : time;
}

/**
 * Telnyx's error codes (https://developers.telnyx.com/docs/messaging/messages/error-codes). A code
 * that is not listed becomes `unknown`.
 */
const telnyxErrorCodes = errorCodeMap({
  invalid_destination: [10002, 10016, 40012, 40309, 40310, 40331],
  landline: [40001],
  unreachable: [40006, 40008],
  filtered: [40002, 40003, 40004, 40007, 40015, 40017, 40322],
  unsupported_channel: [40301, 40308, 40319],
  unsupported_media: [40317],
  // Not owned, not enabled, not registered (10DLC, toll-free, sender id), unhealthy, a number pool
  // without numbers.
  invalid_sender: [
    10001, 40010, 40013, 40100, 40150, 40151, 40305, 40306, 40307, 40312, 40315, 40320, 40321,
    40329, 40330,
  ],
  content_rejected: [40009, 40302, 40304, 40316, 40328],
  throttled: [10011, 40011, 40016, 40018, 40318],
  carrier_unavailable: [10007, 40005, 40014],
  unauthorized: [
    10009, 10010, 20002, 20006, 20012, 20013, 20014, 20015, 20016, 20017, 20100, 40314,
  ],
});

/**
 * With this code, a refusal whose title says STOP is an opt-out. In a receipt the code can mean an
 * unreachable handset.
 */
const optOutOrUnreachableCode = "40300";

/** Returns the engine's error for a Telnyx error. The carrier's code is kept in `provider_code`. */
export function carrierErrorOf(
  error: { readonly code: string; readonly title?: string | undefined } | undefined,
): CarrierError {
  const { code = "", title = "" } = error ?? {};
  if (!/^\d{1,8}$/.test(code)) return carrierError("unknown");
  if (code === optOutOrUnreachableCode) {
    return carrierError(/\bstop\b/i.test(title) ? "opted_out" : "unreachable", code);
  }
  return carrierError(telnyxErrorCodes.get(code) ?? "unknown", code);
}
