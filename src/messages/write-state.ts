import { contactById, contactReference, type ContactRow } from "../contacts/index.ts";
import { firstNumber, isOutsideThread, placeLast, waitingPlace } from "../conversations/index.ts";
import { appendEvent } from "../events/index.ts";
import { iso, type MessageStatus } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import { arm } from "../queue/index.ts";
import type { Tx } from "../store/index.ts";
import { countMessage } from "./count-message.ts";
import { messageFailed, messageSent, messageUpdated } from "./events.ts";
import { sendJob } from "./job-orders.ts";
import { messages, timeline, type MessageRow } from "./rows.ts";
import { endEventOf, endOf, type NewState } from "./rules.ts";
import { stateColumns } from "./stored-state.ts";
import type { TimelineEntry } from "./timeline/timeline-types.ts";

/**
 * Writes a message's new state, and its place in the thread if that changes. `patch` has other
 * columns to write. If the status changed, counts the message under it and publishes events.
 */
export async function writeState(
  tx: Tx,
  message: Seen<MessageRow>,
  state: NewState,
  patch: Partial<MessageRow> = {},
): Promise<Seen<MessageRow>> {
  const place =
    message.status === "scheduled" || state.status === "scheduled"
      ? await placeAfter(tx, message, state.status)
      : undefined;
  const updated = tx.update(messages, message, {
    ...patch,
    ...place,
    ...stateColumns(state),
    ended_as: endOf(state.status, endOf(message.status, message.ended_as)),
    updated_at: tx.now,
  });
  if (updated.status !== message.status) countMessage(tx, updated, message);
  // A message that waits for a retry holds up its conversation. This one no longer waits, so the
  // messages behind it may be due.
  if (message.retry_at !== null && updated.retry_at === null && updated.status !== "sending") {
    await arm(tx, sendJob(updated, tx.now));
  }
  const { id: message_id, contact_id, conversation_id, to, channel, status, error } = updated;
  if (status === message.status) return updated;
  const facts = { message_id, contact_id, conversation_id, to, channel, status, error };
  appendEvent(tx, messageUpdated, { ...facts, previous_status: message.status }, updated);
  const end = endEventOf(message.status, status, message.ended_as);
  if (end === "message.failed") appendEvent(tx, messageFailed, facts, updated);
  if (end === "message.sent") appendSent(tx, updated, await tx.get(contactById, [contact_id]));
  return updated;
}

/**
 * Returns the place in the thread of a message that becomes `scheduled`, or that was. A deferred
 * message leaves its place, and takes the last one when it is queued again or canceled.
 */
async function placeAfter(
  tx: Tx,
  message: MessageRow,
  status: MessageStatus,
): Promise<Partial<MessageRow> | undefined> {
  const first_sequence = firstNumber(message);
  if (status === "scheduled") {
    return isOutsideThread(message) ? undefined : waitingPlace(first_sequence);
  }
  const place = await placeLast(tx, message, { isSent: status !== "canceled" });
  return place && { ...place, first_sequence };
}

function appendSent(tx: Tx, message: Seen<MessageRow>, contact: ContactRow | undefined): void {
  const { id: message_id, contact_id, conversation_id, to, channel, status } = message;
  if (status !== "delivered" && status !== "read") {
    throw new TypeError(`message ${message_id} is ${status} and has not arrived`);
  }
  const data = {
    message_id,
    contact: contactReference(contact_id, contact, to),
    to,
    channel,
    status,
    conversation_id,
    delivered_at: iso(message.delivered_at ?? tx.now),
  };
  appendEvent(tx, messageSent, data, message);
}

/** Writes a message's new state and adds the change of status to its timeline. */
export async function writeStateAndTimeline(
  tx: Tx,
  message: Seen<MessageRow>,
  state: NewState,
): Promise<Seen<MessageRow>> {
  const updated = await writeState(tx, message, state);
  writeTimeline(tx, message, updated, null);
  return updated;
}

/** Writes a timeline entry. If the entry is null, it records only the change of status. */
export function writeTimeline(
  tx: Tx,
  before: MessageRow,
  after: Seen<MessageRow>,
  entry: TimelineEntry | null,
): void {
  const led_to = after.status === before.status ? null : after.status;
  tx.insert(timeline, {
    message_id: after.id,
    id: tx.drawId("ent"),
    at: tx.now,
    led_to,
    message_version: after.version,
    entry,
  });
}
