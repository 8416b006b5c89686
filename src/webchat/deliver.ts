import {
  identities,
  identitiesOfContact,
  identityByAddress,
  type IdentityRow,
  mostIdentities,
} from "../contacts/index.ts";
import { messageById, type MessageRow } from "../messages/index.ts";
import { mail, mailboxByAddress, mailboxes, mailOfMessage } from "./rows.ts";
import type { OutboundMessage, Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

/**
 * Puts a message in the mailbox of each address that the contact has, more than one where contacts were merged: whichever browser the contact sits at shows it. Done
 * twice, it is there once.
 */
export async function deliverWebchatMessage(
  tx: Tx,
  { message_id, to }: OutboundMessage,
): Promise<void> {
  const message = await tx.get(messageById, [message_id]);
  const identity = await tx.get(identityByAddress, ["webchat", to], {
    hold: true,
  });
  // Erased on its way: the address goes first, and what is put in a mailbox after that would stay there.
  if (message === undefined || identity === undefined) return;
  const own = await tx.list(identitiesOfContact, [identity.contact_id, "webchat"], mostIdentities);
  for (const each of own) await append(tx, message, each);
}

/** The mailbox's row is written with each entry, so its numbers have no gaps, whatever races. */
async function append(
  tx: Tx,
  { id: message_id }: MessageRow,
  identity: Seen<IdentityRow>,
): Promise<void> {
  const { address } = identity;
  if ((await tx.get(mailOfMessage, [message_id, address])) !== undefined) return;
  const known = await tx.get(mailboxByAddress, [address]);
  // An erasure that has seen no mailbox removes this row: one of the two comes to see the other.
  if (known === undefined) tx.update(identities, identity, {});
  const mailbox = known ?? tx.insert(mailboxes, { address, last_number: 0 });
  const number = mailbox.last_number + 1;
  tx.update(mailboxes, mailbox, { last_number: number });
  tx.insert(mail, { address, number, message_id });
}
