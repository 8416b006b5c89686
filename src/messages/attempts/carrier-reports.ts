/** How the engine stores what a carrier answers and reports. The functions are pure. */
import { storable } from "../../kernel/index.ts";
import type { FactsByTransport } from "../../operations/index.ts";
import {
  carrierErrorCodes,
  permanentErrorCodes,
  type CarrierError,
  type Receipt,
} from "../../ports/index.ts";
import { isTransportError } from "../routes/route-rules.ts";
import type { AttemptRow } from "../rows.ts";
import type { MessageError } from "../types.ts";
import { isMessageRefused } from "./attempts.ts";
import { join, type Evidence } from "./evidence.ts";

/** The columns of an attempt that a carrier's answer or report changes. */
export type Reported = Partial<
  Pick<
    AttemptRow,
    "outcome" | "evidence" | "provider_message_id" | "error" | "reported_error" | "not_before"
  >
>;

/** Returns the status that acceptance proves: `sent`, or `delivered` without receipts. */
export function acceptedStatus(
  factsByTransport: FactsByTransport,
  { transport }: Pick<AttemptRow, "transport">,
): "sent" | "delivered" {
  return factsByTransport.get(transport)?.receipts === "none" ? "delivered" : "sent";
}

/** Returns the columns of an attempt after proof that the carrier had the message. */
export function provenColumns(attempt: Pick<AttemptRow, "evidence">, evidence: Evidence): Reported {
  const state = join(attempt.evidence, evidence).state;
  return { evidence: state, outcome: state.status === "undelivered" ? "undelivered" : "accepted" };
}

/** Returns the columns of an attempt after its carrier gave it up because of `error`. */
export function givenUpColumns(attempt: AttemptRow, error: MessageError): Reported {
  // Once a carrier has refused the message itself, a later report of another reason does not change
  // that: no other transport may get the message.
  const known = isMessageRefused(attempt) ? (attempt.reported_error ?? attempt.error) : null;
  return {
    // The timeline keeps the error of the answer. Only an opt-out replaces it, because this column
    // also marks that the opt-out is recorded (`recordCarrierOptOut`).
    error: attempt.error === null || isOptOut(error) ? error : attempt.error,
    reported_error: known !== null && isTransportError(error.code) ? known : error,
  };
}

/** Whether a carrier refused a message because the recipient has opted out there. */
export function isOptOut(error: MessageError | null): boolean {
  return error?.code === "opted_out" && error.permanent;
}

/** The error of an attempt whose answer is lost. */
export const answerLost: MessageError = {
  code: "answer_lost",
  message: "The carrier's answer was lost; the message may have been sent.",
  permanent: false,
  stage: "carrier",
  provider_code: null,
};

/** Returns the evidence that a receipt gives. */
export function evidenceOf({ status, at, error }: Receipt): Evidence {
  if (status !== "undelivered") return { status, at, error: null };
  const reason = error ?? { code: "unknown", message: "The carrier gave no reason." };
  return { status, at, error: carrierError(reason, permanentErrorCodes.has(reason.code)) };
}

/** Replaces a receipt time that no date can represent with the current time. */
export function withValidTime(receipt: Receipt, now: number): Receipt {
  const { at } = receipt;
  return { ...receipt, at: at >= 0 && at <= lastTime ? Math.round(at) : now };
}

/** The end of the year 9999. */
const lastTime = 253_402_300_799_999;

/**
 * Returns the earliest time at which the carrier wants to be called, in milliseconds since the
 * epoch. Null if `retryAfter`, in milliseconds, is absent, negative or infinite.
 */
export function notBeforeOf(retryAfter: number | null | undefined, now: number): number | null {
  const isDelay = typeof retryAfter === "number" && retryAfter >= 0 && retryAfter < Infinity;
  return isDelay ? Math.min(now + Math.ceil(retryAfter), lastTime) : null;
}

// The maximum lengths of a carrier's texts. The message, its attempt, its timeline and its events
// repeat them, and a carrier may answer with a whole page.
const maxErrorMessage = 1_000;
const maxProviderCode = 200;

/**
 * Returns a carrier's error as the error of a message. A code that the engine does not know becomes
 * `unknown`, and is kept as `provider_code` unless the carrier set one.
 */
export function carrierError(error: CarrierError, permanent: boolean): MessageError {
  const { code, message, provider_code } = error;
  const known = carrierErrorCodes.includes(code);
  const ownCode = provider_code ?? (known ? null : code);
  return {
    code: known ? code : "unknown",
    message: storable(message, maxErrorMessage),
    permanent,
    stage: code === "unreachable" ? "handset" : "carrier",
    provider_code: ownCode === null ? null : storable(ownCode, maxProviderCode),
  };
}
