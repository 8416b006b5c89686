import { messageFailed, messageSent, messageUpdated } from "./events.ts";
import { type DrawId, iso } from "../kernel/index.ts";
import { contactById, contactReference } from "../contacts/index.ts";
import { arm } from "../queue/index.ts";
import { type MessageRow, messages } from "./rows.ts";
import { announced, type MessageState } from "./rules.ts";
import { patchOf } from "./state.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { appendEvent } from "../events/index.ts";
import { countMessage } from "./count.ts";
import { sendJob } from "./send-jobs.ts";

/** Takes a message to a state that a rule decided on, and tells and counts it when its status changed. */
export async function moveMessage(
  tx: Tx,
  drawId: DrawId,
  message: Seen<MessageRow>,
  state: MessageState,
  patch: Partial<MessageRow> = {},
): Promise<Seen<MessageRow>> {
  const moved = tx.update(messages, message, { ...patch, ...patchOf(state), updated_at: tx.now });
  if (moved.status !== message.status) countMessage(tx, moved);
  // While it waited for its next try, it held its conversation back; those behind it need not wait any longer.
  if (message.retry_at !== null && moved.retry_at === null && moved.status !== "sending") {
    await arm(tx, sendJob(moved, tx.now));
  }
  const { id: message_id, contact_id, conversation_id, to, channel, status, error } = moved;
  const facts = { message_id, contact_id, conversation_id, to, channel, status, error };
  for (const type of announced(message.status, status)) {
    if (type === "message.updated") {
      appendEvent(tx, drawId, messageUpdated, { ...facts, previous_status: message.status }, moved);
    } else if (type === "message.failed") {
      appendEvent(tx, drawId, messageFailed, facts, moved);
    } else if (type === "message.sent" && (status === "delivered" || status === "read")) {
      const contact = await tx.get(contactById, [contact_id]);
      const delivered_at = iso(moved.delivered_at ?? tx.now);
      const reference = contactReference(contact_id, contact, to);
      const data = {
        message_id,
        contact: reference,
        to,
        channel,
        status,
        conversation_id,
        delivered_at,
      };
      appendEvent(tx, drawId, messageSent, data, moved);
    }
  }
  return moved;
}
