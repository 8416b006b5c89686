import { identitiesOfContact, identityByAddress } from "../domain/contacts/rows.ts";
import { messageById, type MessageRow } from "../domain/messages/rows.ts";
import { mail, mailboxByAddress, mailboxes, mailOfMessage } from "../domain/webchat/rows.ts";
import type { OutboundMessage } from "../ports/transport.ts";
import type { Tx } from "../transactions/transaction.ts";

/** Addresses of one contact; it has several where contacts were merged. */
const mostAddresses = 20;

/**
 * Puts a message in the mailbox of its address, and of the contact's other ones: whichever browser the contact sits at shows it. Done
 * twice, it is there once.
 */
export async function deliverWebchatMessage(
  tx: Tx,
  { account_id, mode, message_id, to }: OutboundMessage,
): Promise<void> {
  const message = await tx.get(messageById, [account_id, mode, message_id]);
  // Erased on its way.
  if (message === undefined) return;
  const identity = await tx.get(identityByAddress, [account_id, mode, "webchat", to], { hold: true });
  const others =
    identity === undefined ? [] : await tx.list(identitiesOfContact, [identity.contact_id, "webchat"], mostAddresses);
  for (const address of new Set([to, ...others.map((other) => other.address)])) {
    await append(tx, message, address);
  }
}

/** The mailbox's row is written with each entry, so its numbers have no gaps, whatever races. */
async function append(tx: Tx, { account_id, mode, id: message_id }: MessageRow, address: string): Promise<void> {
  if ((await tx.get(mailOfMessage, [message_id, address])) !== undefined) return;
  const mailbox =
    (await tx.get(mailboxByAddress, [account_id, mode, address])) ??
    tx.insert(mailboxes, { account_id, mode, address, last_number: 0, delivered_number: 0 });
  const number = mailbox.last_number + 1;
  tx.update(mailboxes, mailbox, { last_number: number });
  tx.insert(mail, { account_id, mode, address, number, message_id });
}
