/**
 * Lets a send read all that it needs in one round trip. Some of the keys are in rows that it must
 * read first. So the process remembers the keys that its last send to the recipient, or on the
 * channel, has used. This changes only the round trips, and no result of a send.
 */
import {
  addressHash,
  consentByAddress,
  identitiesOfContact,
  identityByAddress,
  maxIdentities,
} from "../../contacts/index.ts";
import { currentConversation } from "../../conversations/index.ts";
import { mediumOf, type Channel, type Medium } from "../../kernel/index.ts";
import type { Services } from "../../operations/index.ts";
import { rememberJob } from "../../queue/index.ts";
import {
  defaultSenderByChannel,
  senderByAddress,
  senderById,
  throttleByAddress,
} from "../../senders/index.ts";
import type { Tx } from "../../store/index.ts";
import type { SendMessage } from "../input-types.ts";
import { outbox } from "../rows.ts";
import { channelOf } from "../rules.ts";
import type { Correspondence } from "./accept-message.ts";

/** Prefetches what a send reads, as far as its input and the last sends have the keys. */
export function prefetchSend(tx: Tx, input: SendMessage, { secret }: Services): void {
  const { from, to } = input;
  const channel = channelOf(input);
  const medium = mediumOf(channel);
  if (from === undefined) {
    tx.prefetch(() => [{ index: defaultSenderByChannel, key: [channel] }]);
    tx.prefetchAbout(channelSubject(tx, channel));
  } else {
    tx.prefetch(() => [
      { index: senderByAddress, key: [from] },
      { index: throttleByAddress, key: [from] },
    ]);
  }
  const isNumber = to.startsWith("+");
  // The contact of an id is not prefetched: it must be read after its addresses.
  tx.prefetch(() => [
    isNumber
      ? { index: identityByAddress, key: [medium, to] }
      : { index: identitiesOfContact, key: [to, medium], limit: maxIdentities },
  ]);
  const isKnown = tx.prefetchAbout(recipientSubject(tx, medium, to));
  if (isKnown || !isNumber) return;
  // The number may become that of a new contact.
  tx.prefetch(() => [
    { index: consentByAddress, key: [medium, addressHash(secret, tx.scope, medium, to)] },
  ]);
}

/** Lets later sends to the recipient or on the channel prefetch what this one has used. */
export function rememberSend(
  tx: Tx,
  { to }: SendMessage,
  { channel, identity, sender, conversation }: Correspondence,
): void {
  const { contact_id, medium, address } = identity;
  const { id: conversation_id } = conversation;
  const recipient = recipientSubject(tx, medium, to);
  for (const subject of [recipient, channelSubject(tx, channel)]) {
    tx.remember(subject, () => [
      { index: senderById, key: [sender.id] },
      { index: throttleByAddress, key: [sender.address] },
    ]);
  }
  tx.remember(recipient, () => [
    { index: identityByAddress, key: [medium, address] },
    { index: currentConversation, key: [contact_id, medium] },
    // The new message, and one before it.
    { index: outbox, key: [conversation_id], limit: 2 },
  ]);
  rememberJob(tx, recipient, { kind: "send", key: { conversation_id } });
}

const recipientSubject = ({ scope: { account_id, mode } }: Tx, medium: Medium, to: string) =>
  `recipient ${account_id} ${mode} ${medium} ${to}`;

const channelSubject = ({ scope: { account_id, mode } }: Tx, channel: Channel) =>
  `channel ${account_id} ${mode} ${channel}`;
