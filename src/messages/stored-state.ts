/** How the row of a message stores its state. */
import type { MessageRow } from "./rows.ts";
import { isWithCarrier, type MessageState } from "./rules.ts";
import type { MessageError } from "./types.ts";

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
export function stateColumns(state: MessageState): Partial<MessageRow> {
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
