/** The errors of carriers, by the engine's codes. */
import type { CarrierError, CarrierErrorCode } from "../../src/ports/index.ts";

/**
 * The message of each error code. Carriers' own messages are not passed on, because they quote
 * phone numbers and message texts.
 */
const carrierErrorMessages: Readonly<Record<CarrierErrorCode, string>> = {
  invalid_destination: "The destination is not a reachable number.",
  landline: "The destination is a landline.",
  unreachable: "The handset cannot be reached.",
  filtered: "The carrier filtered the message.",
  opted_out: "The recipient opted out at the carrier.",
  unsupported_channel: "The destination does not support this kind of message.",
  unsupported_media: "The destination does not support this kind of media.",
  invalid_sender: "The carrier does not know the sender.",
  content_rejected: "The carrier refused the content.",
  throttled: "The carrier asks to slow down.",
  carrier_unavailable: "The carrier is not available.",
  unauthorized: "The carrier refused the credentials.",
  answer_lost: "The carrier's answer was lost.",
  unknown: "The carrier gave no reason.",
};

/** Maps a carrier's error codes to the engine's. */
export type ErrorCodeMap = ReadonlyMap<string, CarrierErrorCode>;

/** Builds a map from a table that lists the carrier's codes for each of the engine's. */
export function errorCodeMap(
  table: Partial<Record<CarrierErrorCode, readonly number[]>>,
): ErrorCodeMap {
  const rows = Object.entries(table) as [CarrierErrorCode, readonly number[]][];
  return new Map(
    rows.flatMap(([code, providerCodes]) =>
      providerCodes.map((each) => [String(each), code] as const),
    ),
  );
}

/** Returns an error with one of the engine's codes. `provider_code` is the carrier's own. */
export function carrierError(code: CarrierErrorCode, provider_code?: string): CarrierError {
  const message = carrierErrorMessages[code];
  return provider_code === undefined ? { code, message } : { code, message, provider_code };
}
