/** The engine's error codes. `provider_code` holds the carrier's own code. */
export const carrierErrorCodes = [
  "invalid_destination",
  "landline",
  "unreachable",
  "filtered",
  "opted_out",
  "unsupported_channel",
  "unsupported_media",
  "invalid_sender",
  "content_rejected",
  "throttled",
  "carrier_unavailable",
  "unauthorized",
  "answer_lost",
  "unknown",
] as const;
/** Why a carrier refused or did not deliver a message. */
export type CarrierErrorCode = (typeof carrierErrorCodes)[number];

/** The codes of errors that would recur if the same message were sent again. */
export const permanentErrorCodes: ReadonlySet<CarrierErrorCode> = new Set<CarrierErrorCode>([
  "invalid_destination",
  "landline",
  "filtered",
  "opted_out",
  "unsupported_channel",
  "unsupported_media",
  "invalid_sender",
  "content_rejected",
]);

/** An error of a carrier, in the engine's terms. */
export interface CarrierError {
  /** The engine's code. A code that the carrier's documentation does not explain is `unknown`. */
  readonly code: CarrierErrorCode;
  /**
   * An explanation for people, without secrets and phone numbers. The message's `error` shows it.
   * Do not pass on the carrier's own text, which may quote the number: a receipt that belongs to no
   * known message is kept for up to 72 hours, also after an erasure. Only the first 1,000
   * characters are shown.
   */
  readonly message: string;
  /** The carrier's own code. Only its first 200 characters are shown. */
  readonly provider_code?: string | undefined;
}
