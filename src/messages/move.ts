import { messageFailed, messageSent, messageUpdated } from "./events.ts";
import { type GenerateId, iso } from "../kernel/index.ts";
import { contactById, contactReference, type ContactRow } from "../contacts/index.ts";
import { arm } from "../queue/index.ts";
import { type MessageRow, messages, timeline } from "./rows.ts";
import { endOf, eventsFor, type MessageState, isWithCarrier } from "./rules.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { appendEvent } from "../events/index.ts";
import { sendJob } from "./send-jobs.ts";
import type { MessageError } from "./types.ts";
import type { TimelineEntry } from "./timeline-types.ts";
import { countHourly, type CountedChange, usage } from "../accounts/index.ts";

/** Writes a message's new state. If the status changed, counts it and publishes events. */
export async function moveMessage(
  tx: Tx,
  drawId: GenerateId,
  message: Seen<MessageRow>,
  state: MessageState,
  patch: Partial<MessageRow> = {},
): Promise<Seen<MessageRow>> {
  const updated = tx.update(messages, message, {
    ...patch,
    ...patchOf(state),
    ended_as: endOf(state.status, endOf(message.status, message.ended_as)),
    updated_at: tx.now,
  });
  if (updated.status !== message.status) countMessage(tx, updated, message);
  // A message that waits for a retry blocks its conversation. This one no longer waits, so later
  // messages may go.
  if (message.retry_at !== null && updated.retry_at === null && updated.status !== "sending") {
    await arm(tx, sendJob(updated, tx.now));
  }
  const { id: message_id, contact_id, conversation_id, to, channel, status, error } = updated;
  const facts = { message_id, contact_id, conversation_id, to, channel, status, error };
  for (const type of eventsFor(message.status, status, message.ended_as)) {
    if (type === "message.updated") {
      const data = { ...facts, previous_status: message.status };
      appendEvent(tx, drawId, messageUpdated, data, updated);
    } else if (type === "message.failed") {
      appendEvent(tx, drawId, messageFailed, facts, updated);
    } else if (type === "message.sent") {
      appendSent(tx, drawId, updated, await tx.get(contactById, [contact_id]));
    }
  }
  return updated;
}

function appendSent(
  tx: Tx,
  drawId: GenerateId,
  message: Seen<MessageRow>,
  contact: ContactRow | undefined,
): void {
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
  appendEvent(tx, drawId, messageSent, data, message);
}

/** Writes a message's new state and adds the change of status to its timeline. */
export async function moveAndRecord(
  tx: Tx,
  drawId: GenerateId,
  message: Seen<MessageRow>,
  state: MessageState,
): Promise<Seen<MessageRow>> {
  const updated = await moveMessage(tx, drawId, message, state);
  writeTimeline(tx, drawId, message, updated, null);
  return updated;
}

/** Returns the state of an outbound message from its row. */
export function stateOf(row: MessageRow): MessageState {
  if (row.carrier_state !== null) return row.carrier_state;
  const { status, attempts } = row;
  const expires_at = row.expires_at ?? Infinity;
  const error = row.error ?? unknownError;
  switch (status) {
    case "scheduled":
      return { status, send_at: row.send_at ?? row.created_at, expires_at, attempts };
    case "queued":
      return { status, due_at: row.retry_at ?? 0, expires_at, attempts };
    case "sending":
      return { status, expires_at, attempts };
    case "ambiguous":
      return { status, expires_at, attempts, error };
    case "canceled":
      return { status };
    case "expired":
    case "failed":
      return { status, error };
    case "sent":
    case "unconfirmed":
    case "undelivered":
    case "delivered":
    case "read":
    case "received":
      throw new TypeError(`message ${row.id} is ${status} and has no carrier state`);
  }
}

const unknownError: MessageError = {
  code: "unknown",
  message: "No reason is known.",
  permanent: false,
  stage: "carrier",
  provider_code: null,
};

/** Returns the columns that store a state. */
export function patchOf(state: MessageState): Partial<MessageRow> {
  if (isWithCarrier(state)) {
    const { status, error, sent_at, delivered_at, read_at } = state;
    return { status, error, sent_at, delivered_at, read_at, carrier_state: state, retry_at: null };
  }
  const { status } = state;
  switch (status) {
    case "scheduled":
      return { status, send_at: state.send_at, expires_at: state.expires_at, retry_at: null };
    case "queued":
      return {
        status,
        error: null,
        retry_at: state.attempts === 0 ? null : state.due_at,
        attempts: state.attempts,
      };
    case "sending":
      return { status, error: null, retry_at: null, attempts: state.attempts };
    case "ambiguous":
    case "expired":
    case "failed":
      return { status, error: state.error, retry_at: null };
    case "canceled":
      return { status, retry_at: null };
  }
}

/** Writes a timeline entry. If the entry is null, it records only the change of status. */
export function writeTimeline(
  tx: Tx,
  drawId: GenerateId,
  before: MessageRow,
  after: Seen<MessageRow>,
  entry: TimelineEntry | null,
): void {
  const led_to = after.status === before.status ? null : after.status;
  tx.insert(timeline, {
    message_id: after.id,
    id: drawId("ent"),
    at: tx.now,
    led_to,
    message_version: after.version,
    entry,
  });
}

/**
 * Counts the message in the usage of today, under its status, and what happened in this hour.
 * `before` is the message before the change. Null means that the message is new.
 */
export function countMessage(tx: Tx, message: MessageRow, before: MessageRow | null): void {
  const { channel, status, segments } = message;
  const day = iso(tx.now).slice(0, 10);
  tx.add(usage, { day, channel, status, messages: 1, segments: segments ?? 0 });
  const change = countedChange(message, before, tx.now);
  if (change !== undefined) countHourly(tx, channel, change);
}

function countedChange(
  { direction, status, created_at, send_at, delivered_at, from, error }: MessageRow,
  before: MessageRow | null,
  now: number,
): CountedChange | undefined {
  if (before === null) return direction === "inbound" ? received : accepted;
  // Most changes of status are neither a delivery nor a failure.
  if (status === "sending" || status === "sent") return undefined;
  const published = eventsFor(before.status, status, before.ended_as);
  if (published.includes("message.sent")) {
    const since = Math.max(created_at, send_at ?? 0);
    return { what: "delivered", afterMs: (delivered_at ?? now) - since };
  }
  if (!published.includes("message.failed")) return undefined;
  return { what: "failed", sender: from, code: error?.code ?? "unknown" };
}

const accepted: CountedChange = { what: "accepted" };
const received: CountedChange = { what: "received" };
