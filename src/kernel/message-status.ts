/** The statuses of messages. Conversations show that of their last message. */
import * as z from "zod";

export const messageStatuses = [
  "scheduled",
  "queued",
  "sending",
  "canceled",
  "expired",
  "failed",
  "ambiguous",
  "sent",
  "unconfirmed",
  "undelivered",
  "delivered",
  "read",
  "received",
] as const;

/**
 * The status of a message. Before the hand-over to the carrier, an outbound message is `scheduled`,
 * `queued` or `sending`, and can end as `canceled`, `expired` or `failed`. `ambiguous` means that
 * the carrier was called and its answer was lost. After the hand-over, the message is `sent`,
 * `unconfirmed` (no receipt arrived in time), `undelivered`, `delivered` or `read`. An inbound
 * message is always `received`.
 */
export type MessageStatus = (typeof messageStatuses)[number];

export const messageStatusSchema = z.enum(messageStatuses).meta({ id: "MessageStatus" });
