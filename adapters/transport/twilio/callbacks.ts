import { createHmac, timingSafeEqual } from "node:crypto";
import { parse, stringify } from "node:querystring";
import { TidingsError } from "../../../src/kernel/index.ts";
import type {
  CallbackRequest,
  CallbackResult,
  CarrierError,
  InboundMessage,
  Receipt,
} from "../../../src/ports/index.ts";
import {
  carrierKeyword,
  maxMedia,
  mediaOf,
  receiptSubject,
  refuseTooLarge,
} from "../carrier-callbacks.ts";
import { carrierError, errorCodeMap } from "../carrier-errors.ts";

/**
 * Whether Twilio signed a form that was posted to a URL. The signature is an HMAC-SHA1 over the URL
 * and the sorted names and values of the fields (https://www.twilio.com/docs/usage/security).
 * Twilio signs the URL with or without its port, and with or without some of its query
 * percent-encoded. Each form that Twilio's own library accepts is accepted here.
 */
export function isSigned(
  authToken: string,
  signature: string,
  url: string,
  form: URLSearchParams,
): boolean {
  // Grouped in one pass: a look-up of each name would cost quadratic time before the check.
  const byName = [...Map.groupBy(form, ([name]) => name)].toSorted(([a], [b]) => byCodeUnits(a, b));
  const fields = byName.map(([name, pairs]) => {
    const values = [...new Set(pairs.map(([, value]) => value))].toSorted(byCodeUnits);
    return values.map((value) => name + value).join("");
  });
  const given = Buffer.from(signature);
  return [...signedUrls(url)].some((signedUrl) => {
    const expected = createHmac("sha1", authToken)
      .update(signedUrl)
      .update(fields.join(""))
      .digest("base64");
    return given.length === expected.length && timingSafeEqual(given, Buffer.from(expected));
  });
}

const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Returns the forms of the URL that Twilio may have signed, at most six. */
function signedUrls(url: string): Set<string> {
  const normalized = URL.parse(url)?.toString() ?? url;
  const both = (each: string): string[] => [withoutPort(each), withPort(each)];
  return new Set([...both(url), ...both(normalized), ...both(normalized).map(reencoded)]);
}

/**
 * Scheme, credentials, host, port, and the rest. A pattern keeps them exactly as written, while
 * `new URL` would encode some characters.
 */
const urlParts =
  /^([a-z][a-z0-9+.-]*:\/\/)((?:[^/?#]*@)?)(\[[^\]/?#]*\]|[^/?#:]*)((?::[^/?#]*)?)([^]*)$/i;

function withoutPort(url: string): string {
  return url.replace(urlParts, "$1$2$3$5");
}

function withPort(url: string): string {
  return url.replace(
    urlParts,
    (_, scheme: string, credentials: string, host: string, port: string, rest: string) => {
      const standard = scheme.toLowerCase() === "https://" ? ":443" : ":80";
      return scheme + credentials + host + (port === "" ? standard : port) + rest;
    },
  );
}

/** Encodes the query as older versions of Node did. */
function reencoded(url: string): string {
  const start = url.indexOf("?");
  return start === -1 || start === url.length - 1
    ? url
    : `${url.slice(0, start)}?${stringify(parse(url.slice(start + 1)))}`;
}

/** The form of Twilio's message ids. */
export const messageSid = /^(?:SM|MM)[0-9a-fA-F]{32}$/;

/** Twilio reads the response to an inbound message as instructions (TwiML). This one has none. */
const noInstructions = {
  status: 200,
  content_type: "text/xml",
  body: "<Response></Response>",
} as const;

/**
 * Verifies a callback's signature and reads the receipt or the inbound message in it.
 * @throws TidingsError `invalid_signature`, `body_too_large`
 */
export function readCallback(
  authToken: string,
  callbackUrl: string,
  request: CallbackRequest,
): CallbackResult {
  const { url, headers, body, received_at } = request;
  refuseTooLarge(body);
  const form = new URLSearchParams(new TextDecoder().decode(body));
  const start = url.indexOf("?");
  // A proxy may have changed the scheme, the host and the path. It does not change the query.
  const called = callbackUrl + (start === -1 ? "" : url.slice(start));
  if (!isSigned(authToken, headers["x-twilio-signature"] ?? "", called, form)) {
    throw new TidingsError(
      "invalid_signature",
      "The X-Twilio-Signature header does not match the callback. Check the auth token and " +
        "callbackUrl.",
    );
  }
  const provider_message_id = form.get("MessageSid") ?? "";
  const status = form.get("MessageStatus");
  const nothing: CallbackResult = { receipts: [], inbound: [], response: { status: 204 } };
  if (!messageSid.test(provider_message_id)) return nothing;
  if (status !== null) {
    const receipt = receiptOf(status, form.get("ErrorCode"), received_at);
    const subject = receiptSubject(url, provider_message_id);
    return receipt === undefined ? nothing : { ...nothing, receipts: [{ subject, receipt }] };
  }
  const message = inboundOf(form, provider_message_id, received_at);
  return {
    receipts: [],
    inbound: message === undefined ? [] : [message],
    response: noInstructions,
  };
}

/**
 * Returns the receipt that one of Twilio's 13 message statuses stands for. Undefined when the
 * status says nothing about an outbound message. Every status before the hand-over to a network
 * proves that Twilio has the message, which is `sent` here.
 */
export function receiptOf(status: string, errorCode: unknown, at: number): Receipt | undefined {
  switch (status) {
    case "accepted":
    case "scheduled":
    case "queued":
    case "sending":
    case "sent":
    // The message reached some of several recipients, possibly not this one.
    case "partially_delivered":
      return { status: "sent", at };
    case "delivered":
    case "read":
      return { status, at };
    case "undelivered":
    case "failed":
      return { status: "undelivered", at, error: carrierErrorOf(errorCode) };
    case "canceled":
      return { status: "undelivered", at, error: carrierError("unknown", "canceled") };
    case "receiving":
    case "received":
    default:
      return undefined;
  }
}

/**
 * Returns the inbound message, or undefined if it did not come from a phone. Addresses of other
 * channels have a prefix (`whatsapp:+1…`).
 */
function inboundOf(
  form: URLSearchParams,
  provider_message_id: string,
  at: number,
): InboundMessage | undefined {
  const [from, to] = [form.get("From") ?? "", form.get("To") ?? ""];
  if (!isAddress(from) || !isAddress(to)) return undefined;
  const count = Math.min(Number(form.get("NumMedia")) || 0, maxMedia);
  const media = Array.from({ length: count }, (_, i) => ({
    url: form.get(`MediaUrl${i}`) ?? "",
    content_type: form.get(`MediaContentType${i}`),
  })).flatMap(mediaOf);
  const channel = media.length > 0 ? "mms" : "sms";
  const body = form.get("Body") ?? "";
  // Twilio sends this field with Advanced Opt-Out, where customers set keywords of their own.
  const keyword = carrierKeyword(form.get("OptOutType"));
  return { provider_message_id, channel, from, to, body, media, at, ...keyword };
}

const isAddress = (text: string): boolean => /^[+\w][\w .-]{0,63}$/.test(text);

/**
 * Twilio's error codes (https://www.twilio.com/docs/api/errors). A code that is not listed becomes
 * `unknown`.
 */
const twilioErrorCodes = errorCodeMap({
  // Not a number, a short code, the sender itself, not verified (trial account), a country that is
  // not enabled, an unassigned number.
  invalid_destination: [21211, 21217, 21265, 21266, 21408, 21608, 21612, 30005],
  landline: [21614, 21635, 30006],
  unreachable: [30003],
  // Blocked, filtered by a carrier, a one-time password, a message loop, taken for fraud.
  filtered: [30004, 30007, 30038, 30039, 30450, 30453],
  opted_out: [21610],
  unsupported_channel: [21622, 30011],
  unsupported_media: [11200, 12300, 21620, 21623],
  // Not owned, not capable of SMS or MMS, not registered (10DLC, toll-free, sender id), a messaging
  // service without numbers.
  invalid_sender: [
    21212, 21603, 21606, 21659, 21660, 21661, 21701, 21703, 21704, 30018, 30024, 30032, 30033,
    30034, 30035,
  ],
  content_rejected: [21602, 21605, 21617, 21618, 21619, 30019],
  // Full queues, and the carriers' limits per second and per day.
  throttled: [14107, 20429, 21611, 30001, 30022, 30023, 30027],
  carrier_unavailable: [30017, 30036, 30410, 30500],
  unauthorized: [10001, 20003, 20005, 20404, 30002],
});

/**
 * Returns the engine's error for a Twilio error code, which is a number or its text. The carrier's
 * code is kept in `provider_code`.
 */
export function carrierErrorOf(code: unknown): CarrierError {
  const providerCode = typeof code === "number" ? String(code) : code;
  if (
    typeof providerCode !== "string" ||
    !/^\d{1,8}$/.test(providerCode) ||
    Number(providerCode) === 0
  ) {
    return carrierError("unknown");
  }
  return carrierError(twilioErrorCodes.get(providerCode) ?? "unknown", providerCode);
}
