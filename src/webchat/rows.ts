import type { MessageId, SenderId, WebchatSessionId } from "../kernel/index.ts";
import { integer, json, nullable, type RowOf, scoped, text, time } from "../ports/index.ts";

/**
 * A browser that may write and listen for a while. It speaks for an address, and whose that is the address's identity says: a merge takes
 * the session along. Who removes an identity of webchat removes its sessions and its mailbox (`commands/steps/forget-visitor.ts`).
 */
export const webchatSessions = scoped("webchat_sessions", {
  id: text<WebchatSessionId>(),
  address: text(),
  /** The inbox that it writes to. */
  sender_id: text<SenderId>(),
  /** The mailbox's last number when it began. */
  begins_after: integer(),
  /** Up to where its browser has shown that it has what it was sent. Null before it came again with a number. */
  proven_number: nullable(integer()),
  /** When its last messages came, as many as its pace needs. */
  recent: json<readonly number[]>(),
  expires_at: time(),
  created_at: time(),
});
export interface WebchatSessionRow extends RowOf<typeof webchatSessions> {}

export const webchatSessionById = webchatSessions.key("id");
export const webchatSessionsOfAddress = webchatSessions.index("by_address", ["address"]);
export const webchatSessionsByExpiry = webchatSessions.acrossScopes.index("by_expiry", [
  "expires_at",
]);

/** What an address has been sent: 1, 2, 3 … without gaps, so that a browser can say how far it has read. */
export const mailboxes = scoped("webchat_mailboxes", {
  address: text(),
  last_number: integer(),
});
export interface MailboxRow extends RowOf<typeof mailboxes> {}

export const mailboxByAddress = mailboxes.key("address");

/** A message's place in a mailbox. Its words are in the message alone: what is redacted there is shown by none. */
export const mail = scoped("webchat_mail", {
  address: text(),
  number: integer(),
  message_id: text<MessageId>(),
});
export interface MailRow extends RowOf<typeof mail> {}

export const mailByNumber = mail.key("address", "number");
/** A message is in a mailbox once, however often it is handed over. */
export const mailOfMessage = mail.byId.unique("by_message", ["message_id", "address"]);

/** What a mailbox's streams wait under. */
export function mailboxName(row: Pick<MailboxRow, "account_id" | "mode" | "address">): string {
  return `${row.account_id} ${row.mode} ${row.address}`;
}
