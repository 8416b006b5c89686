/** The parts of callback handling that all carriers share. */
import { isId, mediaTypeOf, TidingsError, type AttemptId } from "../../src/kernel/index.ts";
import {
  maxCallbackBytes,
  type InboundKeyword,
  type Media,
  type ReceiptSubject,
} from "../../src/ports/index.ts";

/** The query parameter of a callback URL that holds the attempt's id. */
const attemptParameter = "attempt";

/**
 * Returns the callback URL for one attempt. The carrier calls it with the attempt's id, so a
 * receipt finds its attempt even when the carrier's answer was lost.
 */
export function attemptCallbackUrl(callbackUrl: string, attempt_id: AttemptId): string {
  return `${callbackUrl}?${attemptParameter}=${attempt_id}`;
}

/**
 * Returns the subject of a receipt that came to `url`, with the attempt's id if the URL has one.
 */
export function receiptSubject(url: string, provider_message_id: string): ReceiptSubject {
  const start = url.indexOf("?");
  const id =
    start === -1 ? "" : (new URLSearchParams(url.slice(start)).get(attemptParameter) ?? "");
  return isId("att", id) ? { attempt_id: id, provider_message_id } : { provider_message_id };
}

/** How many media of an inbound message are kept. */
export const maxMedia = 10;

/**
 * Returns a media entry for a carrier's URL, or none if it is not an http or https URL. An invalid
 * media type is left out.
 */
export function mediaOf({
  url,
  content_type,
}: {
  url: string;
  content_type?: string | null | undefined;
}): Media[] {
  // Databases reject lone surrogates and NUL, and no URL that works has a control character.
  const isText = url.isWellFormed() && !/[\0-\x20\x7f]/.test(url);
  const isValid = isText && url.length <= 2_048 && /^https?:/.test(url) && URL.canParse(url);
  return isValid ? [{ url, content_type: mediaTypeOf(content_type ?? "") }] : [];
}

const keywords: ReadonlyMap<unknown, InboundKeyword> = new Map([
  ["STOP", "opt_out"],
  ["START", "opt_in"],
  ["HELP", "help"],
]);

/** Returns what Twilio or Telnyx took an inbound message for. Both name it in the same way. */
export function carrierKeyword(type: unknown): { readonly keyword?: InboundKeyword } {
  const keyword = keywords.get(type);
  return keyword === undefined ? {} : { keyword };
}

/**
 * Refuses a callback before its signature is checked, so that unsigned requests cannot make the
 * engine hash large bodies.
 * @throws TidingsError `body_too_large`
 */
export function refuseTooLarge(body: Uint8Array): void {
  if (body.length <= maxCallbackBytes) return;
  throw new TidingsError(
    "body_too_large",
    `The callback's body is larger than ${maxCallbackBytes} bytes.`,
  );
}
