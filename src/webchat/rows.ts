import type { AccountId, MessageId, SenderId, WebchatSessionId } from "../kernel/ids.ts";
import { collection, integer, json, nullable, text, time } from "../ports/collection.ts";
import type { Mode } from "../kernel/scope.ts";

/**
 * A browser that may write and listen for a while. It speaks for an address, and whose that is the address's identity says: a merge takes
 * the session along. Who removes an identity of webchat removes its sessions and its mailbox (`commands/steps/forget-visitor.ts`).
 */
export interface WebchatSessionRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly id: WebchatSessionId;
  readonly address: string;
  /** The inbox that it writes to. */
  readonly sender_id: SenderId;
  /** The mailbox's last number when it began. */
  readonly begins_after: number;
  /** Up to where its browser has shown that it has what it was sent. Null before it came again with a number. */
  readonly proven_number: number | null;
  /** When its last messages came, as many as its pace needs. */
  readonly recent: readonly number[];
  readonly expires_at: number;
  readonly created_at: number;
}

export const webchatSessions = collection<WebchatSessionRow>("webchat_sessions", {
  account_id: text,
  mode: text,
  id: text,
  address: text,
  sender_id: text,
  begins_after: integer,
  proven_number: nullable(integer),
  recent: json,
  expires_at: time,
  created_at: time,
});
export const webchatSessionById = webchatSessions.key("account_id", "mode", "id");
export const webchatSessionsOfAddress = webchatSessions.index("by_address", [
  "account_id",
  "mode",
  "address",
]);
export const webchatSessionsByExpiry = webchatSessions.index("by_expiry", ["expires_at"]);

/** What an address has been sent: 1, 2, 3 … without gaps, so that a browser can say how far it has read. */
export interface MailboxRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly address: string;
  readonly last_number: number;
}

export const mailboxes = collection<MailboxRow>("webchat_mailboxes", {
  account_id: text,
  mode: text,
  address: text,
  last_number: integer,
});
export const mailboxByAddress = mailboxes.key("account_id", "mode", "address");

/** A message's place in a mailbox. Its words are in the message alone: what is redacted there is shown by none. */
export interface MailRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly address: string;
  readonly number: number;
  readonly message_id: MessageId;
}

export const mail = collection<MailRow>("webchat_mail", {
  account_id: text,
  mode: text,
  address: text,
  number: integer,
  message_id: text,
});
export const mailByNumber = mail.key("account_id", "mode", "address", "number");
/** A message is in a mailbox once, however often it is handed over. */
export const mailOfMessage = mail.unique("by_message", ["message_id", "address"]);

/** What a mailbox's streams wait under. */
export function mailboxName(row: Pick<MailboxRow, "account_id" | "mode" | "address">): string {
  return `${row.account_id} ${row.mode} ${row.address}`;
}
