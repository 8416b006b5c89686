import type { CarrierError, CarrierErrorCode } from "../../src/ports/transport.ts";

/** What each reason says to people. Carriers' own sentences are not passed on: they quote numbers and texts. */
export const sentences: Readonly<Record<CarrierErrorCode, string>> = {
  invalid_destination: "The destination is not a number that can be reached.",
  landline: "The destination is a landline.",
  unreachable: "The handset can't be reached.",
  filtered: "The carrier filtered the message.",
  opted_out: "The recipient opted out at the carrier.",
  unsupported_channel: "The destination doesn't take this kind of message.",
  unsupported_media: "The destination doesn't take this kind of media.",
  invalid_sender: "The sender is not one that the carrier knows.",
  content_rejected: "The carrier refused the content.",
  throttled: "The carrier asks to slow down.",
  carrier_unavailable: "The carrier is not available.",
  unauthorized: "The carrier refused the credentials.",
  answer_lost: "The carrier's answer was lost.",
  unknown: "The carrier gave no reason.",
};

/** A carrier's codes in the engine's terms. */
export type Reasons = ReadonlyMap<string, CarrierErrorCode>;

export function reasons(table: Partial<Record<CarrierErrorCode, readonly number[]>>): Reasons {
  const rows = Object.entries(table) as [CarrierErrorCode, readonly number[]][];
  return new Map(
    rows.flatMap(([code, theirs]) => theirs.map((each) => [String(each), code] as const)),
  );
}

/** An error of the engine's that keeps the carrier's code beside its own. */
export function carrierError(
  code: CarrierErrorCode,
  provider_code: string | undefined,
): CarrierError {
  const message = sentences[code];
  return provider_code === undefined ? { code, message } : { code, message, provider_code };
}
