/** What visitors' mailboxes contain: the messages to a visitor, and the redactions of messages. */
import {
  contactById,
  identities,
  identitiesOfContact,
  identityByAddress,
  maxIdentities,
  type IdentityRow,
} from "../contacts/index.ts";
import type { MessageId } from "../kernel/index.ts";
import { messageById, type MessageRow } from "../messages/index.ts";
import type { OutboundMessage, Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { mail, mailboxByAddress, mailboxes, mailOfMessage } from "./rows.ts";

/**
 * Puts a message in the mailbox of each webchat address of the contact. A merged contact has
 * several, and each browser must show the message. Repeated calls have no further effect.
 */
export async function deliverWebchatMessage(
  tx: Tx,
  { message_id, to }: OutboundMessage,
): Promise<void> {
  const message = await tx.get(messageById, [message_id]);
  if (message === undefined) return;
  for (const identity of await identitiesOfOwner(tx, to)) {
    if ((await tx.get(mailOfMessage, [message_id, identity.address])) !== undefined) continue;
    await append(tx, message.id, identity);
  }
}

/**
 * Lets the browsers that may show a redacted message remove its text. The message moves to the end
 * of its mailboxes, so streams send it again, without the text. A visitor's own message was in no
 * mailbox and is added.
 */
export async function mailRedaction(
  tx: Tx,
  { id, channel, direction, from, to }: MessageRow,
): Promise<void> {
  if (channel !== "webchat") return;
  const entries = await tx.list(mailOfMessage, [id], maxIdentities);
  // No browser has a message that was never delivered. It must not be added to a mailbox now, since
  // a look-up would conclude that it was sent.
  if (direction === "outbound" && entries.length === 0) return;
  for (const entry of entries) tx.remove(mail, entry);
  const address = direction === "inbound" ? from : to;
  for (const identity of await identitiesOfOwner(tx, address)) await append(tx, id, identity);
}

/** Removes a message from the mailboxes of its contact. */
export async function removeMail(tx: Tx, message_id: MessageId): Promise<void> {
  const entries = await tx.list(mailOfMessage, [message_id], maxIdentities);
  for (const entry of entries) tx.remove(mail, entry);
}

/**
 * Returns all webchat identities of the contact that has an address. Returns none if the contact
 * was erased meanwhile. An erasure removes the address first, so an entry that came later would
 * never be removed.
 */
async function identitiesOfOwner(tx: Tx, address: string): Promise<readonly Seen<IdentityRow>[]> {
  const identity = await tx.get(identityByAddress, ["webchat", address], { hold: true });
  if (identity === undefined) return [];
  // A merge that adds addresses writes the contact. So the contact is held before its addresses are
  // read.
  await tx.get(contactById, [identity.contact_id], { hold: true });
  return tx.list(identitiesOfContact, [identity.contact_id, "webchat"], maxIdentities);
}

/**
 * Adds a message to a mailbox. This also writes the mailbox's row, so concurrent writers conflict
 * and no number is used twice.
 */
async function append(tx: Tx, message_id: MessageId, identity: Seen<IdentityRow>): Promise<void> {
  const { address } = identity;
  const known = await tx.get(mailboxByAddress, [address]);
  // An erasure removes this row. It must find the new mailbox.
  if (known === undefined) tx.touch(identities, identity);
  const mailbox = known ?? tx.insert(mailboxes, { address, last_number: 0 });
  const number = mailbox.last_number + 1;
  tx.update(mailboxes, mailbox, { last_number: number });
  // The storage assigns the position at commit.
  tx.insert(mail, { address, number, message_id, position: 0 });
}
