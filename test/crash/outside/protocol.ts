/**
 * The HTTP calls between the carrier and the transport in the killed process, and the endpoints of
 * its webhooks.
 */
import { createHmac } from "node:crypto";
import type { EventType } from "../../../src/events/types.ts";
import type { Receipt, ReceiptSubject } from "../../../src/ports/transport.ts";

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

export interface Endpoint {
  readonly name: string;
  readonly events: readonly EventType[];
  readonly ordering: "none" | "fifo";
}

/** The subscriptions. They are chosen so that most events go to one endpoint. */
export const endpoints: readonly Endpoint[] = [
  { name: "messages", events: ["message.sent", "message.failed"], ordering: "none" },
  { name: "contacts", events: ["contact.created"], ordering: "none" },
  { name: "conversations", events: ["conversation.created"], ordering: "fifo" },
];
