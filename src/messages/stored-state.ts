/** How the row of a message stores its state. */
import type { MessageRow } from "./rows.ts";
import type { MessageState, NewState } from "./rules.ts";
import type { MessageError } from "./types.ts";

/** Returns the state of an outbound message from its row. */
export function stateOf(row: MessageRow): MessageState {
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
      return { status };
    case "received":
      throw new TypeError(`message ${row.id} is inbound and has no such state`);
  }
}

const unknownError: MessageError = {
  code: "unknown",
  message: "No reason is known.",
  permanent: false,
  stage: "carrier",
  provider_code: null,
};

/** Returns the columns that store a state. Columns that it does not set stay as they are. */
export function stateColumns(state: NewState): Partial<MessageRow> {
  switch (state.status) {
    case "scheduled": {
      const { status, send_at, expires_at } = state;
      return { status, send_at, expires_at, retry_at: null };
    }
    case "queued": {
      const { status, due_at, attempts } = state;
      return { status, error: null, retry_at: attempts === 0 ? null : due_at, attempts };
    }
    case "sending": {
      const { status, attempts } = state;
      return { status, error: null, retry_at: null, attempts };
    }
    case "ambiguous":
    case "expired":
    case "failed": {
      const { status, error } = state;
      return { status, error, retry_at: null };
    }
    case "canceled":
      return { status: state.status, retry_at: null };
    case "sent":
    case "unconfirmed":
    case "undelivered":
    case "delivered":
    case "read": {
      const { status, error, sent_at, delivered_at, read_at } = state;
      return { status, error, sent_at, delivered_at, read_at, retry_at: null };
    }
  }
}
