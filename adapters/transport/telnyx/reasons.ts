import type { CarrierError } from "../../../src/ports/transport.ts";
import { carrierError, reasons } from "../reasons.ts";

/** https://developers.telnyx.com/docs/messaging/messages/error-codes. What isn't listed is `unknown`, and keeps its code. */
const known = reasons({
  invalid_destination: [10002, 10016, 40012, 40309, 40310, 40331],
  landline: [40001],
  unreachable: [40006, 40008],
  filtered: [40002, 40003, 40004, 40007, 40015, 40017, 40322],
  unsupported_channel: [40301, 40308, 40319],
  unsupported_media: [40317],
  // Not ours, not enabled, not registered (10DLC, toll-free, names), unhealthy, a pool without numbers.
  invalid_sender: [
    10001, 40010, 40013, 40100, 40150, 40151, 40305, 40306, 40307, 40312, 40315, 40320, 40321,
    40329, 40330,
  ],
  content_rejected: [40009, 40302, 40304, 40316, 40328],
  throttled: [10011, 40011, 40016, 40018, 40318],
  carrier_unavailable: [10007, 40005, 40014],
  unauthorized: [
    10009, 10010, 20002, 20006, 20012, 20013, 20014, 20015, 20016, 20017, 20100, 40314,
  ],
});

/** Says STOP where a message is refused; in a receipt it can be an unreachable handset. */
const stopCode = "40300";

export function reasonOf(
  error: { readonly code: string; readonly title?: string | undefined } | undefined,
): CarrierError {
  const { code = "", title = "" } = error ?? {};
  if (!/^\d{1,8}$/.test(code)) return carrierError("unknown", undefined);
  if (code === stopCode) {
    return carrierError(/\bstop\b/i.test(title) ? "opted_out" : "unreachable", code);
  }
  return carrierError(known.get(code) ?? "unknown", code);
}
