import { TidingsError } from "../../../src/kernel/errors.ts";
import type {
  CallbackRequest,
  CallbackResult,
  InboundMessage,
  Receipt,
} from "../../../src/ports/transport.ts";
import { mediaOf, mostMedia, refuseTooLarge, subjectOf } from "../callbacks.ts";
import { carrierError } from "../reasons.ts";
import { reasonOf } from "./reasons.ts";
import { isSigned } from "./signature.ts";

/** What Twilio calls a message. */
export const sidPattern = /^(?:SM|MM)[0-9a-fA-F]{32}$/;

/** Twilio reads an answer to a message as instructions: none. */
const noInstructions = {
  status: 200,
  content_type: "text/xml",
  body: "<Response></Response>",
} as const;

/** @throws TidingsError `invalid_signature`, `body_too_large` */
export function readCallback(
  authToken: string,
  callbackUrl: string,
  request: CallbackRequest,
): CallbackResult {
  const { url, headers, body, received_at } = request;
  refuseTooLarge(body);
  const form = new URLSearchParams(new TextDecoder().decode(body));
  const start = url.indexOf("?");
  // A proxy may have changed scheme, host and path; the query it leaves alone.
  const called = callbackUrl + (start === -1 ? "" : url.slice(start));
  if (!isSigned(authToken, headers["x-twilio-signature"] ?? "", called, form)) {
    throw new TidingsError("invalid_signature", "The signature is not Twilio's.");
  }
  const provider_message_id = form.get("MessageSid") ?? "";
  const status = form.get("MessageStatus");
  const nothing: CallbackResult = { receipts: [], inbound: [], response: { status: 204 } };
  if (!sidPattern.test(provider_message_id)) return nothing;
  if (status !== null) {
    const receipt = receiptOf(status, form.get("ErrorCode"), received_at);
    const subject = subjectOf(url, provider_message_id);
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
 * What one of Twilio's thirteen statuses proves; undefined: nothing of an outbound message. Whatever comes before the hand-over to a
 * network proves that Twilio has it, which is `sent` here.
 */
export function receiptOf(status: string, errorCode: unknown, at: number): Receipt | undefined {
  switch (status) {
    case "accepted":
    case "scheduled":
    case "queued":
    case "sending":
    case "sent":
    // Of several recipients; ours may be any.
    case "partially_delivered":
      return { status: "sent", at };
    case "delivered":
    case "read":
      return { status, at };
    case "undelivered":
    case "failed":
      return { status: "undelivered", at, error: reasonOf(errorCode) };
    case "canceled":
      return { status: "undelivered", at, error: carrierError("unknown", "canceled") };
    case "receiving":
    case "received":
    default:
      return undefined;
  }
}

/** Undefined where it is nothing that a phone sent: other channels' addresses say which (`whatsapp:+1…`). */
function inboundOf(
  form: URLSearchParams,
  provider_message_id: string,
  at: number,
): InboundMessage | undefined {
  const [from, to] = [form.get("From") ?? "", form.get("To") ?? ""];
  if (!isAddress(from) || !isAddress(to)) return undefined;
  const count = Math.min(Number(form.get("NumMedia")) || 0, mostMedia);
  const media = Array.from({ length: count }, (_, i) => ({
    url: form.get(`MediaUrl${i}`) ?? "",
    content_type: form.get(`MediaContentType${i}`),
  })).flatMap(mediaOf);
  const channel = media.length > 0 ? "mms" : "sms";
  return { provider_message_id, channel, from, to, body: form.get("Body") ?? "", media, at };
}

const isAddress = (text: string): boolean => /^[+\w][\w .-]{0,63}$/.test(text);
