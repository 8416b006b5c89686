import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { z } from "zod";
import { TidingsError } from "../../../src/kernel/errors.ts";
import type { HttpClient } from "../../../src/ports/http-client.ts";
import type {
  CallbackRequest,
  CallbackResult,
  OutboundMessage,
  Receipt,
  Transport,
} from "../../../src/ports/transport.ts";
import {
  callbackUrlOf,
  checkedCallbackUrl,
  mediaOf,
  mostMedia,
  refuseTooLarge,
  subjectOf,
} from "../callbacks.ts";
import {
  carrierApi,
  type Dialect,
  hour,
  jsonOf,
  minute,
  parsed,
  sendAnswer,
  wrongOption,
} from "../carrier-api.ts";
import { uriOf } from "../uri.ts";
import { reasonOf } from "./reasons.ts";

export interface TelnyxOptions {
  readonly apiKey: string;
  /** The account's public key, 32 bytes in base64: Telnyx signs what it calls. */
  readonly publicKey: string;
  /** Such as `httpClient()` of "tidings/http-client". Yours to close. */
  readonly http: HttpClient;
  /** Where Telnyx reaches `/v1/transports/telnyx/callbacks`. Give the messaging profile the same one, for inbound messages. */
  readonly callbackUrl: string;
  /** The messaging profile that messages go out by whose sender is a name: Telnyx takes those with one only. */
  readonly messagingProfileId?: string;
  /** A stand-in's; by default `https://api.telnyx.com`. */
  readonly apiUrl?: string;
}

/** As long as a signature is good, either way: Telnyx's own libraries take the same. */
const toleranceMs = 5 * minute;

const idSchema = z.string().regex(/^[\w-]{1,100}$/);
const errorSchema = z.object({ code: z.string(), title: z.string().optional() });
const addresseeSchema = z.object({ phone_number: z.string(), status: z.string() });
const takenSchema = z.object({ data: z.object({ id: idSchema }) });
const refusedSchema = z.object({ errors: z.array(errorSchema).min(1) });
const outboundSchema = z.object({
  id: idSchema,
  to: z.array(addresseeSchema).min(1),
  errors: z.array(errorSchema).nullish(),
  completed_at: z.string().nullish(),
  webhook_url: z.string().nullish(),
});
const inboundSchema = z.object({
  id: idSchema,
  type: z.enum(["SMS", "MMS"]),
  from: z.object({ phone_number: z.string() }),
  to: z.array(addresseeSchema).min(1),
  text: z.string().nullish(),
  // One that can't be read doesn't keep the message out.
  media: z
    .array(z.object({ url: z.string(), content_type: z.string().nullish() }).catch({ url: "" }))
    .nullish(),
  received_at: z.string().nullish(),
});
const foundSchema = z.object({ data: outboundSchema });
const eventSchema = z.object({
  data: z.object({
    event_type: z.string(),
    occurred_at: z.string().nullish(),
    payload: z.unknown(),
  }),
});

const dialect: Dialect = {
  idOf: (body) => takenSchema.safeParse(body).data?.data.id,
  reasonOf: (body) => reasonOf(refusedSchema.safeParse(body).data?.errors[0]),
};

/**
 * SMS and MMS over Telnyx (https://developers.telnyx.com/api-reference/messages/send-a-message). A sender's address is a number, a short
 * code, a name, or a messaging profile's id, which chooses among its numbers. Telnyx answers STOP, START and HELP itself.
 * @throws TidingsError `invalid_option`
 */
export function telnyx(options: TelnyxOptions): Transport {
  const { apiKey, publicKey, http, callbackUrl, messagingProfileId, apiUrl } = options;
  if (apiKey === "") throw wrongOption("apiKey", "a key");
  const key = ed25519(publicKey);
  checkedCallbackUrl(callbackUrl);
  const isFit = messagingProfileId === undefined || isProfile(messagingProfileId);
  if (!isFit) throw wrongOption("messagingProfileId", "a messaging profile's id");
  const authorization = `Bearer ${apiKey}`;
  const api = carrierApi({ http, apiUrl, standardUrl: "https://api.telnyx.com", authorization });

  return {
    name: "telnyx",
    capabilities: {
      channels: ["sms", "mms"],
      modes: ["live"],
      receipts: { timeout_ms: 72 * hour, lookups_ms: [10 * minute, hour, 12 * hour] },
      confirms_opt_outs: true,
    },

    async send(message, { attempt_id, signal }) {
      const webhook_url = callbackUrlOf(callbackUrl, attempt_id);
      const body = JSON.stringify({ ...request(message, messagingProfileId), webhook_url });
      const call = {
        method: "POST",
        path: "/v2/messages",
        contentType: "application/json",
        body,
        signal,
      } as const;
      return sendAnswer(await api(call), dialect);
    },

    /** Messages can be asked for by their ids alone, and not listed. */
    async lookup(_message, { provider_message_id }) {
      if (provider_message_id === null || !idSchema.safeParse(provider_message_id).success) {
        return { outcome: "unknown" };
      }
      const found = foundSchema.safeParse(
        jsonOf(await api({ method: "GET", path: `/v2/messages/${provider_message_id}` })),
      );
      if (!found.success || found.data.data.id !== provider_message_id) {
        return { outcome: "unknown" };
      }
      const { data } = found.data;
      const receipt = receiptOf(data, Date.parse(data.completed_at ?? ""));
      return {
        outcome: "sent",
        provider_message_id,
        receipts: receipt === undefined ? [] : [receipt],
      };
    },

    async parseCallback(callback) {
      verifySignature(key, callback);
      return readEvent(callback);
    },
  };
}

function request(
  { channel, from, to, body, media }: OutboundMessage,
  profile: string | undefined,
): object {
  return {
    to,
    ...senderOf(from, profile),
    type: channel === "mms" ? "MMS" : "SMS",
    ...(body === "" ? {} : { text: body }),
    ...(media.length === 0 ? {} : { media_urls: media.map(({ url }) => uriOf(url)) }),
  };
}

const isProfile = (text: string): boolean => z.uuid().safeParse(text).success;

function senderOf(from: string, profile: string | undefined): object {
  if (isProfile(from)) return { messaging_profile_id: from };
  return /[a-z]/i.test(from) ? { from, messaging_profile_id: profile } : { from };
}

function ed25519(publicKey: string): KeyObject {
  const bytes = Buffer.from(publicKey, "base64");
  if (bytes.length !== 32) throw wrongOption("publicKey", "32 bytes in base64");
  return createPublicKey({
    format: "jwk",
    key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") },
  });
}

/** Ed25519 over `timestamp|body` (https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks). */
function verifySignature(key: KeyObject, { headers, body, received_at }: CallbackRequest): void {
  refuseTooLarge(body);
  const timestamp = headers["telnyx-timestamp"] ?? "";
  const signature = headers["telnyx-signature-ed25519"] ?? "";
  const isTimely =
    /^\d{1,12}$/.test(timestamp) &&
    Math.abs(received_at - Number(timestamp) * 1_000) <= toleranceMs;
  const isWhole = /^[A-Za-z0-9+/]{86}==$/.test(signature);
  const signed = Buffer.concat([Buffer.from(`${timestamp}|`), body]);
  if (!isTimely || !isWhole || !verify(null, signed, key, Buffer.from(signature, "base64"))) {
    throw new TidingsError("invalid_signature", "The signature is not Telnyx's, or is too old.");
  }
}

function readEvent({ body, received_at }: CallbackRequest): CallbackResult {
  const nothing: CallbackResult = { receipts: [], inbound: [], response: { status: 200 } };
  const event = eventSchema.safeParse(parsed(body));
  if (!event.success) return nothing;
  const { event_type, occurred_at, payload } = event.data.data;
  const at = timeOf(occurred_at) ?? received_at;
  if (event_type === "message.received") {
    const inbound = inboundOf(payload, at);
    return inbound === undefined ? nothing : { ...nothing, inbound: [inbound] };
  }
  const outbound = outboundSchema.safeParse(payload);
  if (!/^message\.(?:sent|finalized|read)$/.test(event_type) || !outbound.success) return nothing;
  // As the signed body has it: the URL that was called is not signed.
  const subject = subjectOf(outbound.data.webhook_url ?? "", outbound.data.id);
  const receipt = receiptOf(outbound.data, at);
  return receipt === undefined ? nothing : { ...nothing, receipts: [{ subject, receipt }] };
}

/** What became of it at its recipient: messages have one each here. */
function receiptOf(
  { to, errors }: z.infer<typeof outboundSchema>,
  at: number,
): Receipt | undefined {
  const [recipient] = to;
  switch (recipient?.status) {
    case "scheduled":
    case "queued":
    case "sending":
    case "sent":
    // Its network tells nothing more.
    case "delivery_unconfirmed":
      return { status: "sent", at };
    case "delivered":
    case "read":
      return { status: recipient.status, at };
    case "sending_failed":
    case "delivery_failed":
    case "expired":
    case "cancelled":
      return { status: "undelivered", at, error: reasonOf(errors?.[0]) };
    default:
      return undefined;
  }
}

function inboundOf(payload: unknown, at: number): CallbackResult["inbound"][number] | undefined {
  const { data } = inboundSchema.safeParse(payload);
  // In a group, the number that it came to is the one of ours.
  const to = data?.to.find(({ status }) => status === "webhook_delivered") ?? data?.to[0];
  if (data === undefined || to === undefined) return undefined;
  return {
    provider_message_id: data.id,
    channel: data.type === "MMS" ? "mms" : "sms",
    from: data.from.phone_number,
    to: to.phone_number,
    body: data.text ?? "",
    media: (data.media ?? []).slice(0, mostMedia).flatMap(mediaOf),
    at: timeOf(data.received_at) ?? at,
  };
}

function timeOf(text: string | null | undefined): number | undefined {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? undefined : time;
}
