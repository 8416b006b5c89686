import { scopeKey, type MessageId, type SenderId, type WebchatSessionId } from "../kernel/index.ts";
import {
  integer,
  json,
  nullable,
  position,
  scoped,
  text,
  time,
  type RowOf,
} from "../ports/index.ts";

/**
 * A session of a visitor's browser. It acts for an address, and the address's identity determines
 * the contact, so a merge moves the session too. Code that removes a webchat identity must also
 * remove its sessions and mailbox (`forgetVisitor`).
 */
export const webchatSessions = scoped("webchat_sessions", {
  id: text<WebchatSessionId>(),
  address: text(),
  /** The inbox that receives the session's messages. */
  sender_id: text<SenderId>(),
  /** The mailbox's last number when the session began. */
  begins_after: integer(),
  /**
   * The last number that the browser has proven to have. Null until it reconnects with a number.
   */
  proven_number: nullable(integer()),
  /** The times of the last messages, as many as the rate limit needs. */
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

/**
 * The messages sent to an address, numbered 1, 2, 3 … A redacted message gets the next number, and
 * its earlier one is left out. A browser reports its position by number.
 */
export const mailboxes = scoped("webchat_mailboxes", {
  address: text(),
  last_number: integer(),
});
interface MailboxRow extends RowOf<typeof mailboxes> {}

export const mailboxByAddress = mailboxes.key("address");

/**
 * A message's place in a mailbox. The body is stored only in the message, so a redaction there
 * applies here too. `position` is the order in which the transactions of all mailboxes committed.
 */
export const mail = scoped("webchat_mail", {
  address: text(),
  number: integer(),
  message_id: text<MessageId>(),
  position: position(),
});
export interface MailRow extends RowOf<typeof mail> {}

export const mailByPosition = mail.acrossScopes.unique("by_position", ["position"]);
export const mailByNumber = mail.key("address", "number");
/** A message is in a mailbox at most once, even when it is sent repeatedly or redacted. */
export const mailOfMessage = mail.byId.unique("by_message", ["message_id", "address"]);

/** The name under which streams wait for this mailbox. */
export function mailboxName(row: Pick<MailboxRow, "account_id" | "mode" | "address">): string {
  return `${scopeKey(row)} ${row.address}`;
}
