/** What carriers that call back have in common: a URL that names the attempt, and bounds. */
import { TidingsError } from "../../src/kernel/errors.ts";
import { type AttemptId, isId } from "../../src/kernel/ids.ts";
import type { Media, ReceiptSubject } from "../../src/ports/transport.ts";
import { wrongOption } from "./carrier-api.ts";

/** In the query of the URL that a carrier calls back. */
const attemptField = "attempt";

/**
 * The URL of an engine's callbacks, as the carrier reaches it; `undefined` where there is none.
 * @throws TidingsError `invalid_option`: not an http or https URL, or one with a query or fragment
 */
export function checkedCallbackUrl(callbackUrl: string | undefined): string | undefined {
  if (callbackUrl === undefined) return undefined;
  const url = URL.parse(callbackUrl);
  const isFit = url !== null && /^https?:$/.test(url.protocol) && !/[?#]/.test(callbackUrl);
  if (!isFit) throw wrongOption("callbackUrl", "an http or https URL without a query");
  return callbackUrl;
}

/** Where the carrier is to tell of an attempt: so it echoes the attempt's id, also when its answer was lost. */
export function callbackUrlOf(callbackUrl: string, attempt_id: AttemptId): string {
  return `${callbackUrl}?${attemptField}=${attempt_id}`;
}

/** Of what a carrier tells at a URL that it was given for an attempt, or for all that has none. */
export function subjectOf(url: string, provider_message_id: string): ReceiptSubject {
  const start = url.indexOf("?");
  const id = start === -1 ? "" : (new URLSearchParams(url.slice(start)).get(attemptField) ?? "");
  return isId("att", id) ? { attempt_id: id, provider_message_id } : { provider_message_id };
}

/** Carriers' are of a few kilobytes; nobody without their signature makes us read more. */
const mostCallbackBytes = 131_072;
/** Of an inbound message. */
export const mostMedia = 10;

/** What there is to be fetched of a picture. */
export function mediaOf({
  url,
  content_type,
}: {
  url: string;
  content_type?: string | null | undefined;
}): Media[] {
  const isFit = url.length <= 2_048 && /^https?:/.test(url) && URL.canParse(url);
  return isFit ? [{ url, content_type: content_type ?? undefined }] : [];
}

/** @throws TidingsError `body_too_large` */
export function refuseTooLarge(body: Uint8Array): void {
  if (body.length <= mostCallbackBytes) return;
  throw new TidingsError(
    "body_too_large",
    `A callback's body is larger than ${mostCallbackBytes} bytes.`,
  );
}
