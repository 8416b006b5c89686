import type { CarrierError } from "../../../src/ports/transport.ts";
import { carrierError, reasons } from "../reasons.ts";

/** https://www.twilio.com/docs/api/errors. What isn't listed is `unknown`, and keeps its code. */
const known = reasons({
  // Not a number, a short code, itself, not verified (trial), a country that is not enabled, nobody's.
  invalid_destination: [21211, 21217, 21265, 21266, 21408, 21608, 21612, 30005],
  landline: [21614, 21635, 30006],
  unreachable: [30003],
  // Blocked, carriers' filters, a one-time password's, a loop, taken for fraud.
  filtered: [30004, 30007, 30038, 30039, 30450, 30453],
  opted_out: [21610],
  unsupported_channel: [21622, 30011],
  unsupported_media: [11200, 12300, 21620, 21623],
  // Not ours, not capable, not registered (10DLC, toll-free, sender ids), a service without numbers.
  invalid_sender: [
    21212, 21603, 21606, 21659, 21660, 21661, 21701, 21703, 21704, 30018, 30024, 30032, 30033,
    30034, 30035,
  ],
  content_rejected: [21602, 21605, 21617, 21618, 21619, 30019],
  // Queues that are full, and the carriers' limits by second and day.
  throttled: [14107, 20429, 21611, 30001, 30022, 30023, 30027],
  carrier_unavailable: [30017, 30036, 30410, 30500],
  unauthorized: [10001, 20003, 20005, 20404, 30002],
});

/** `code`: a number, or its text. */
export function reasonOf(code: unknown): CarrierError {
  const theirs = typeof code === "number" ? String(code) : code;
  if (typeof theirs !== "string" || !/^\d{1,8}$/.test(theirs) || Number(theirs) === 0) {
    return carrierError("unknown", undefined);
  }
  return carrierError(known.get(theirs) ?? "unknown", theirs);
}
