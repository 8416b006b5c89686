/** The HTTP calls between the carrier and the transport in the killed process. */
import { createHmac } from "node:crypto";
import type { Receipt, ReceiptSubject } from "../../src/ports/transport.ts";

export interface SendCall {
  readonly attempt_id: string;
  readonly number: number;
  readonly message_id: string;
  readonly to: string;
}

export interface LookupCall {
  readonly attempt_id: string;
}

/** The body of a callback. */
export interface CallbackBody {
  readonly subject: ReceiptSubject;
  readonly receipt: Receipt;
}

export const transportName = "outside";
export const sharedSecret = "between the carrier and its transport";
export const signatureHeader = "x-carrier-signature";

export function signatureOf(body: string | Uint8Array): string {
  return createHmac("sha256", sharedSecret).update(body).digest("hex");
}
